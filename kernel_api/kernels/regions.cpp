// Moves inside a rank where a tensor goes from one layout over ranks into another: each PE keeps its own part of what
// it has whole (copy_part), or puts columns side by side that came one block behind the other (join_columns).
#include <algorithm>

#include "kernbench/kernel_api/kernels/common.h"
#include "kernbench/kernel_api/pe_backend.h"

namespace kernbench::kernels {
namespace {

constexpr int64_t kElements = 65536;  // moved at once

/// A block of memory into another of the same shape, by rows that fit TCM.
void copy(tl::Context& tl, const tl::Block& from, const tl::Block& to) {
  const int64_t rows = from.shape()[0], cols = from.shape()[1];
  for (int64_t j = 0; j < cols; j += kElements) {
    const int64_t width = std::min(kElements, cols - j);
    const int64_t step = std::max<int64_t>(1, kElements / width);
    for (int64_t i = 0; i < rows; i += step) {
      const int64_t count = std::min(step, rows - i);
      tl.store_async(to.tile(i, j, count, width), tl.load(from.tile(i, j, count, width)));
    }
  }
}

void copy_part(tl::Context& tl, const tl::Args& args) {
  const tl::View &x = args["x"], &y = args["y"];
  if (y.empty()) return;
  for (int axis = 0; axis < 2; ++axis) {
    if (y.offset[axis] >= x.offset[axis] && y.offset[axis] + y.shape[axis] <= x.offset[axis] + x.shape[axis]) continue;
    throw KernelFault("copy_part: the PE's part of y is not in its part of x");
  }
  copy(tl, x.block().tile(y.offset[0] - x.offset[0], y.offset[1] - x.offset[1], y.shape[0], y.shape[1]), y);
}

void join_columns(tl::Context& tl, const tl::Args& args) {
  const tl::View &x = args["x"], &y = args["y"];
  if (y.empty()) return;
  const int64_t parts = x.shape[0], rows = x.shape[1], cols = x.shape[2];
  if (rows != y.shape[0] || parts * cols != y.shape[1])
    throw KernelFault("join_columns: parts of x " + x.shape.to_string() + " and y " + y.shape.to_string() +
                      " do not fit");
  for (int64_t p = 0; p < parts; ++p)
    copy(tl, (x.ptr + p * rows * cols).block({rows, cols}), y.block().tile(0, p * cols, rows, cols));
}

KernelSpec of_regions(const std::string& name, const std::string& help, KernelFunction function) {
  KernelSpec s;
  s.name = name;
  s.help = help;
  s.params = {ParamSpec::size("rows", 64, "rows, split over the PEs"), ParamSpec::size("cols", 64, "columns of y"),
              ParamSpec::dtypes({DType::f32, DType::f16, DType::bf16, DType::i8, DType::i16, DType::i32, DType::u8})};
  s.function = std::move(function);
  return s;
}

KernelSpec copy_part_spec() {
  KernelSpec s = of_regions("copy_part", "y = x, each PE its part of y from its part of x", copy_part);
  s.tensors = {input("x", {"rows", "cols"}, Placement::rows), output("y", {"rows", "cols"}, Placement::rows)};
  s.reference = [](const Params&, const TensorMap& in) {
    return std::map<std::string, Expected>{{"y", {in.at("x"), {}}}};
  };
  return s;
}

/// The second axis over the PEs.
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

KernelSpec join_columns_spec() {
  KernelSpec s =
      of_regions("join_columns", "y [rows, parts cols] from x [parts, rows, cols], parts side by side", join_columns);
  s.params[1].help = "columns of a part";
  s.params.insert(s.params.begin(), ParamSpec::size("parts", 2, "of x, one behind the other"));
  s.tensors = {input("x", {"parts", "rows", "cols"}, Placement::rows), output("y", {}, Placement::rows)};
  s.tensors[0].shards = rows_of_all_parts;
  s.tensors[1].shape = [](const Params& p) { return Dims{p.integer("rows"), p.integer("parts") * p.integer("cols")}; };
  s.reference = [](const Params& p, const TensorMap& in) {
    const auto parts = static_cast<size_t>(p.integer("parts")), rows = static_cast<size_t>(p.integer("rows"));
    const size_t run = static_cast<size_t>(p.integer("cols")) * size_of(p.dtype());
    HostTensor y(p.dtype(), {p.integer("rows"), p.integer("parts") * p.integer("cols")});
    const auto* x = in.at("x").bytes.data();
    for (size_t part = 0; part < parts; ++part) {
      for (size_t r = 0; r < rows; ++r)
        std::copy_n(x + (part * rows + r) * run, run, y.bytes.data() + (r * parts + part) * run);
    }
    return std::map<std::string, Expected>{{"y", {std::move(y), {}}}};
  };
  return s;
}

const RegisterKernel copy_part_registered{copy_part_spec()}, join_columns_registered{join_columns_spec()};

}  // namespace
}  // namespace kernbench::kernels
