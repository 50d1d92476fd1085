// SPDX-License-Identifier: Apache-2.0
// y[i] = index of the greatest element of row i of x, the first one if several are equal. Columns of x are distributed
// over ranks and cubes, rows over the PEs of each cube, like the result of decode_linear. Each PE finds the greatest
// element of its part. The PEs with the same position in all cubes exchange these, so that each has the result for its
// copy of y.
#include <algorithm>
#include <numeric>

#include "kernbench/kernel_api/kernels/common.h"
#include "kernbench/kernel_api/kernels/order.h"
#include "kernbench/kernel_api/kernels/peers.h"
#include "kernbench/kernel_api/layout.h"
#include "kernbench/kernel_api/pe_backend.h"

namespace kernbench::kernels::argmax_of_columns_kernel {
namespace {

constexpr Exchange kOfColumns{"", "cube+rank"};

/// For each row of a PE's part: the greatest element and its column in the complete tensor.
struct Greatest {
  std::vector<tl::Tensor> values, columns;
};

void add_own(tl::Context& tl, const tl::View& x, Greatest* g) {
  std::vector<tl::Tensor> values, columns;
  for (int64_t i = 0; i < x.shape[0]; ++i) {
    const tl::Tensor row = tl.load(x.block().rows(i, 1));
    values.push_back(tl.cast(tl.max(row, 1, true), DType::f32));
    columns.push_back(tl.argmax(row, 1).reshape({1, 1}) + x.offset[1]);
  }
  g->values.push_back(values.size() == 1 ? values.front() : tl.cat(values, 0));
  g->columns.push_back(columns.size() == 1 ? columns.front() : tl.cat(columns, 0));
}

void argmax_of_columns(tl::Context& tl, const tl::Args& args) {
  const tl::View &x = args["x"], &y = args["y"];
  if (y.empty()) return;
  const Peers peers(tl, kOfColumns);
  const Dims shape{y.shape[0], 1};
  Greatest own, all;
  if (!x.empty()) {
    if (x.offset[0] != y.offset[0] || x.shape[0] != y.shape[0])
      throw KernelFault("argmax_of_columns: the PE's parts of x and y have other rows");
    add_own(tl, x, &own);
    for (size_t i = 1; i < peers.size(); ++i) {
      peers.send(peers.behind(i), own.values.front());
      peers.send(peers.behind(i), own.columns.front());
    }
  }
  std::vector<size_t> order(peers.size());  // by column, so that the first of equal elements wins
  std::iota(order.begin(), order.end(), size_t{0});
  const auto part = [&](size_t i) -> const tl::View& { return args.shard("x", peers[i]); };
  std::stable_sort(order.begin(), order.end(), [&](size_t a, size_t b) {
    return !part(a).empty() && (part(b).empty() || part(a).offset[1] < part(b).offset[1]);
  });
  for (const size_t i : order) {
    if (part(i).empty()) continue;
    all.values.push_back(i == peers.me() ? own.values.front() : peers.recv(i, shape, DType::f32));
    all.columns.push_back(i == peers.me() ? own.columns.front() : peers.recv(i, shape, DType::i32));
  }
  tl::Tensor columns = all.columns.front();
  if (all.values.size() > 1) {
    const tl::Tensor which = tl.argmax(tl.cat(all.values, 1), 1).reshape(shape);
    columns = tl.gather(tl.cat(all.columns, 1), which, 1);
  }
  tl.store_async(y, columns.reshape({y.shape[0]}));
}

std::vector<QueueConnection> connections(const Params&, const LaunchShape& launch) {
  Rings rings(4, 64, "tcm");
  rings.join(launch, kOfColumns);
  return rings.all();
}

KernelSpec spec() {
  KernelSpec s;
  s.name = "argmax_of_columns";
  s.help = "index of the maximum of each row, the first of equal ones; columns of x are split over ranks and cubes";
  s.params = {ParamSpec::size("rows", 16, "rows of x, split over the PEs of a cube"),
              ParamSpec::size("cols", 1024, "columns of x, split over ranks and cubes"),
              ParamSpec::dtypes({DType::f32, DType::f16, DType::bf16})};
  const auto i32 = [](const Params&) { return DType::i32; };
  s.tensors = {placed(input("x", {"rows", "cols"}, Placement::rows),
                      host::Layout(host::shard(1)).cube(host::shard(1)).pe(host::shard(0))),
               placed(output("y", {"rows"}, Placement::rows, i32), host::Layout().pe(host::shard(0)))};
  s.function = argmax_of_columns;
  s.reference = [](const Params& p, const TensorMap& in) {
    const Floats x = in.at("x").floats();
    const int64_t cols = p.integer("cols");
    std::vector<int32_t> y;
    for (int64_t r = 0; r < p.integer("rows"); ++r)
      y.push_back(static_cast<int32_t>(order::argmax(x.data() + r * cols, cols)));
    return std::map<std::string, Expected>{{"y", {HostTensor::from(DType::i32, {p.integer("rows")}, y), {}}}};
  };
  s.wiring = "all-to-all between PEs at one place of all cubes and ranks";
  s.queues = connections;
  return s;
}

const RegisterKernel registered{spec()};

}  // namespace
}  // namespace kernbench::kernels::argmax_of_columns_kernel
