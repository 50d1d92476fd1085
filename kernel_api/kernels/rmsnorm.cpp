// SPDX-License-Identifier: Apache-2.0
// y = x / sqrt(mean(x²) + eps) · w, row by row. Computed in f32 and rounded once at the end.
#include <algorithm>
#include <cmath>

#include <Eigen/Core>

#include "kernbench/kernel_api/kernels/common.h"
#include "kernbench/kernel_api/kernels/peers.h"

namespace kernbench::kernels::rmsnorm_kernel {
namespace {

constexpr int64_t kColumns = 4096;    // per block
constexpr int64_t kElements = 16384;  // per block: 64 KiB of f32 for each live value

constexpr Exchange kSquares{"squares", "rank"};
constexpr uint32_t kSquaresSlots = 2;
constexpr uint64_t kSquaresBytes = 4096;

/// If ranks split the columns, a PE sends its sums of squares to the PEs with its position in the other ranks.
void rmsnorm_over_ranks(tl::Context& tl, const tl::Args& args) {
  const tl::View &x = args["x"], &y = args["y"], &w = args["w"];
  const int64_t ranks = tl.world_size();
  if ((ranks - 1) * tl::Context::cdiv(x.whole[1], ranks) >= x.whole[1])
    throw KernelFault("rmsnorm_over_ranks: a rank has no columns");
  if (x.empty()) return;
  const int64_t rows = x.shape[0], cols = x.shape[1], step = std::max<int64_t>(1, kElements / cols);
  const Peers peers(tl, kSquares);
  struct Part {
    int64_t first, rows;
    tl::Tensor x, squares;
  };
  std::vector<Part> parts;
  for (int64_t i = 0; i < rows; i += step) {
    const int64_t n = std::min(step, rows - i);
    parts.push_back({i, n, tl.load_async(x.block().rows(i, n)), {}});
  }
  const tl::Tensor weights = tl.cast(tl.load(w.ptr + (x.offset[1] - w.offset[0]), {cols}), DType::f32);
  for (Part& p : parts) {
    p.x = tl.cast(p.x, DType::f32);
    p.squares = tl.sum(p.x * p.x, 1, true);
    peers.send_to_all(p.squares);
  }
  for (const Part& p : parts) {
    tl::Tensor squares;
    for (size_t r = 0; r < peers.size(); ++r) {
      const tl::Tensor s = r == peers.me() ? p.squares : peers.recv(r, p.squares.shape(), DType::f32);
      squares = squares.valid() ? squares + s : s;
    }
    const tl::Tensor scale = tl.rsqrt(tl.fma(squares, 1.0 / static_cast<double>(x.whole[1]), args.number("eps")));
    tl.store_async(y.block().rows(p.first, p.rows), tl.cast(p.x * scale * weights, y.dtype()));
  }
}

void rmsnorm(tl::Context& tl, const tl::Args& args) {
  if (args["y"].empty()) return;
  const tl::Block x = args["x"];
  const tl::Block y = args["y"];
  const tl::View& w = args["w"];
  const int64_t rows = x.shape()[0];
  const int64_t cols = x.shape()[1];
  const int64_t width = std::min(cols, kColumns);
  const int64_t step = std::max<int64_t>(1, kElements / width);
  const auto weights = [&](int64_t j, int64_t n) { return tl.cast(tl.load(w.ptr + j, {n}), DType::f32); };
  const bool narrow = cols <= kColumns;
  tl::Tensor all_weights;
  if (narrow) all_weights = weights(0, cols);

  for (int64_t i = 0; i < rows; i += step) {
    const int64_t count = std::min(step, rows - i);
    tl::Tensor part;
    tl::Tensor squares;  // Σx², [count, 1]
    for (int64_t j = 0; j < cols; j += width) {
      part = tl.cast(tl.load(x.tile(i, j, count, std::min(width, cols - j))), DType::f32);
      const tl::Tensor s = tl.sum(part * part, 1, true);
      squares = j == 0 ? s : squares + s;
    }
    const tl::Tensor scale = tl.rsqrt(tl.fma(squares, 1.0 / static_cast<double>(cols), args.number("eps")));
    for (int64_t j = 0; j < cols; j += width) {
      const int64_t n = std::min(width, cols - j);
      if (!narrow) part = tl.cast(tl.load(x.tile(i, j, count, n)), DType::f32);
      const tl::Tensor scaled = part * scale * (narrow ? all_weights : weights(j, n));
      tl.store(y.tile(i, j, count, n), tl.cast(scaled, y.dtype()));
    }
  }
}

std::map<std::string, Expected> reference(const Params& p, const TensorMap& in) {
  using Rows = Eigen::Array<float, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;
  const int64_t rows = p.integer("rows");
  const int64_t cols = p.integer("cols");
  const Floats x = in.at("x").floats();
  const Floats weights = in.at("w").floats();
  const Eigen::ArrayXd w = Eigen::Map<const Eigen::ArrayXf>(weights.data(), cols).cast<double>();
  Floats y(x.size());
  for (int64_t r = 0; r < rows; ++r) {
    const Eigen::ArrayXd row = Eigen::Map<const Rows>(x.data(), rows, cols).row(r).cast<double>();
    const double scale = 1 / std::sqrt(row.square().mean() + p.number("eps"));
    Eigen::Map<Rows>(y.data(), rows, cols).row(r) = (row * scale * w).cast<float>();
  }
  return {{"y", {HostTensor::from(p.dtype(), {rows, cols}, y), {}}}};
}

KernelSpec spec() {
  KernelSpec s;
  s.name = "rmsnorm";
  s.help = "y = x / sqrt(mean(x^2) + eps) * w along every row";
  s.params = {ParamSpec::size_over_pes("rows", 1024, "rows, split over the PEs"),
              ParamSpec::size("cols", 512, "columns"),
              ParamSpec::number("eps", 1e-5, 0, 1e6, "epsilon, added to the mean square"),
              ParamSpec::dtypes({DType::f32, DType::f16, DType::bf16})};
  s.tensors = {input("x", {"rows", "cols"}, Placement::rows), input("w", {"cols"}, Placement::replicate),
               output("y", {"rows", "cols"}, Placement::rows)};
  s.function = rmsnorm;
  s.reference = reference;
  return s;
}

KernelSpec spec_over_ranks() {
  KernelSpec s = spec();
  s.name = "rmsnorm_over_ranks";
  s.help = "rmsnorm of rows whose columns are split over the ranks";
  const host::Layout columns = host::rank_shard(1).cube(host::shard(0)).pe(host::shard(0));
  s.tensors[0] = placed(s.tensors[0], columns);
  s.tensors[2] = placed(s.tensors[2], columns);
  s.function = rmsnorm_over_ranks;
  s.wiring = "all-to-all between PEs at one place of all ranks";
  s.queues = [](const Params&, const LaunchShape& launch) {
    Rings rings(kSquaresSlots, kSquaresBytes, "tcm");
    rings.join(launch, kSquares);
    return rings.all();
  };
  return s;
}

const RegisterKernel registered{spec()}, registered_over_ranks{spec_over_ranks()};

}  // namespace
}  // namespace kernbench::kernels::rmsnorm_kernel
