// SPDX-License-Identifier: Apache-2.0
// Moves inside a rank for a change of layout over ranks. copy_part: each PE keeps its part of a tensor that it has
// completely, or pads its columns to the number that others have. join_columns: puts columns side by side that were
// received as consecutive blocks.
#include <algorithm>
#include <limits>

#include "kernbench/kernel_api/kernels/common.h"
#include "kernbench/kernel_api/pe_backend.h"

namespace kernbench::kernels::regions_kernel {
namespace {

constexpr int64_t kElements = 65536;  // moved at once

/// Fills a block of memory in pieces that fit TCM. make(row, column, rows, columns) returns each piece.
template <class Make>
void fill(tl::Context& tl, const tl::Block& to, const Make& make) {
  const int64_t rows = to.shape()[0], cols = to.shape()[1];
  for (int64_t j = 0; j < cols; j += kElements) {
    const int64_t width = std::min(kElements, cols - j);
    const int64_t step = std::max<int64_t>(1, kElements / width);
    for (int64_t i = 0; i < rows; i += step) {
      const int64_t count = std::min(step, rows - i);
      tl.store_async(to.tile(i, j, count, width), make(i, j, count, width));
    }
  }
}

/// Copies a block of memory to another one of the same shape.
void copy(tl::Context& tl, const tl::Block& from, const tl::Block& to) {
  fill(tl, to, [&](int64_t i, int64_t j, int64_t rows, int64_t cols) { return tl.load(from.tile(i, j, rows, cols)); });
}

void copy_part(tl::Context& tl, const tl::Args& args) {
  const tl::View &x = args["x"], &y = args["y"];
  if (y.empty()) return;
  const int64_t rows = y.shape[0], cols = y.shape[1];
  const int64_t of_x = std::clamp<int64_t>(args.integer("cols") - y.offset[1], 0, cols);  // followed by zeros
  const int64_t row = y.offset[0] - x.offset[0], col = y.offset[1] - x.offset[1];
  if (of_x > 0) {
    if (row < 0 || row + rows > x.shape[0] || col < 0 || col + of_x > x.shape[1])
      throw KernelFault("copy_part: the PE's part of y is not in its part of x");
    copy(tl, x.block().tile(row, col, rows, of_x), y.block().tile(0, 0, rows, of_x));
  }
  if (of_x == cols) return;
  fill(tl, y.block().tile(0, of_x, rows, cols - of_x), [&](int64_t, int64_t, int64_t h, int64_t w) {
    return tl.zeros({h, w}, y.dtype());
  });
}

void join_columns(tl::Context& tl, const tl::Args& args) {
  const tl::View &x = args["x"], &y = args["y"];
  if (y.empty()) return;
  const int64_t rows = x.shape[1], cols = x.shape[2];
  if (rows != y.shape[0] || x.shape[0] * cols < y.shape[1])
    throw KernelFault("join_columns: parts of x " + x.shape.to_string() + " and y " + y.shape.to_string() +
                      " do not fit");
  for (int64_t at = 0; at < y.shape[1]; at += cols) {
    const int64_t width = std::min(cols, y.shape[1] - at);
    const tl::Block part = (x.ptr + at * rows).block({rows, cols});
    copy(tl, part.tile(0, 0, rows, width), y.block().tile(0, at, rows, width));
  }
}

/// Columns of y; `otherwise` if the parameter is not set.
int64_t columns_of_y(const Params& p, int64_t otherwise) {
  return p.integer("n") == 0 ? otherwise : p.integer("n");
}

KernelSpec of_regions(const std::string& name, const std::string& help, const std::string& n, KernelFunction function) {
  KernelSpec s;
  s.name = name;
  s.help = help;
  s.params = {ParamSpec::size("rows", 64, "rows, split over the PEs"), ParamSpec::size("cols", 64, "columns of x"),
              ParamSpec::size("n", 0, "columns of y; 0: " + n),
              ParamSpec::dtypes({DType::f32, DType::f16, DType::bf16, DType::i8, DType::i16, DType::i32, DType::u8})};
  s.params[2].min = 0;
  s.function = std::move(function);
  return s;
}

/// Copies the first `width` of the `cols` columns of dense rows into y, from its column `at` on.
void copy_rows(const uint8_t* from, int64_t cols, int64_t width, int64_t at, HostTensor* y) {
  const size_t item = size_of(y->dtype);
  const auto bytes = [item](int64_t elements) { return static_cast<size_t>(elements) * item; };
  for (int64_t r = 0; r < y->shape[0]; ++r)
    std::copy_n(from + bytes(r * cols), bytes(width), y->bytes.data() + bytes(r * y->shape[1] + at));
}

/// BadParam unless y has that many columns.
void check_columns(int64_t n, int64_t least, int64_t most) {
  if (n >= least && n <= most) return;
  throw BadParam("n: found " + std::to_string(n) + ", expected " + std::to_string(least) + " to " +
                 std::to_string(most) + " columns of y");
}

KernelSpec copy_part_spec() {
  KernelSpec s =
      of_regions("copy_part", "y = x padded with columns of zeros; each PE makes its part of y from its part of x",
                 "the columns of x", copy_part);
  s.tensors = {input("x", {"rows", "cols"}, Placement::rows), output("y", {}, Placement::rows)};
  s.tensors[1].shape = [](const Params& p) { return Dims{p.integer("rows"), columns_of_y(p, p.integer("cols"))}; };
  s.prepare = [](Params* p, const LaunchCosts&, LaunchNotes*) {
    check_columns(columns_of_y(*p, p->integer("cols")), p->integer("cols"), std::numeric_limits<int64_t>::max());
  };
  s.reference = [](const Params& p, const TensorMap& in) {
    HostTensor y(p.dtype(), {p.integer("rows"), columns_of_y(p, p.integer("cols"))});
    copy_rows(in.at("x").bytes.data(), p.integer("cols"), p.integer("cols"), 0, &y);
    return std::map<std::string, Expected>{{"y", {std::move(y), {}}}};
  };
  return s;
}

/// Splits the second axis over the PEs.
ShardPlan rows_of_all_parts(const Params& p) {
  ShardPlan plan;
  plan.dtype = p.dtype();
  plan.whole = {p.integer("parts"), p.integer("rows"), p.integer("cols")};
  const auto pes = p.launch() ? static_cast<uint32_t>(p.launch()->pes.size()) : 1;
  for (uint32_t pe = 0; pe < pes; ++pe) {
    Shard s;
    s.owner = pe;
    s.offset = {0, 0, 0};
    s.extent = plan.whole;
    take_block(s, 1, pe, pes);
    plan.shards.push_back(s);
  }
  return plan;
}

int64_t columns_of_parts(const Params& p) {
  return p.integer("parts") * p.integer("cols");
}

KernelSpec join_columns_spec() {
  KernelSpec s = of_regions("join_columns", "y [rows, parts cols] from x [parts, rows, cols], parts side by side",
                            "all parts; fewer: the last columns are omitted", join_columns);
  s.params[1].help = "columns of a part";
  s.params.insert(s.params.begin(), ParamSpec::size("parts", 2, "parts of x"));
  s.tensors = {input("x", {"parts", "rows", "cols"}, Placement::rows), output("y", {}, Placement::rows)};
  s.tensors[0].shards = rows_of_all_parts;
  s.tensors[1].shape = [](const Params& p) { return Dims{p.integer("rows"), columns_of_y(p, columns_of_parts(p))}; };
  s.prepare = [](Params* p, const LaunchCosts&, LaunchNotes*) {
    check_columns(columns_of_y(*p, columns_of_parts(*p)), 1, columns_of_parts(*p));
  };
  s.reference = [](const Params& p, const TensorMap& in) {
    const int64_t rows = p.integer("rows"), cols = p.integer("cols"), n = columns_of_y(p, columns_of_parts(p));
    HostTensor y(p.dtype(), {rows, n});
    for (int64_t at = 0; at < n; at += cols) {
      const size_t part = static_cast<size_t>(at * rows) * size_of(p.dtype());
      copy_rows(in.at("x").bytes.data() + part, cols, std::min(cols, n - at), at, &y);
    }
    return std::map<std::string, Expected>{{"y", {std::move(y), {}}}};
  };
  return s;
}

const RegisterKernel copy_part_registered{copy_part_spec()}, join_columns_registered{join_columns_spec()};

}  // namespace
}  // namespace kernbench::kernels::regions_kernel
