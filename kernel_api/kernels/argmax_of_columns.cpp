// y[i] = where the greatest element of row i of x is, the first of equals. x has its columns over ranks and cubes and
// its rows over the PEs of each, as decode_linear leaves them: a PE finds the greatest of its own part, and the PEs of
// one place in all cubes tell each other. Each has the result, as y's copies want it.
#include <algorithm>
#include <numeric>

#include "kernbench/kernel_api/collectives/groups.h"
#include "kernbench/kernel_api/collectives/wirings.h"
#include "kernbench/kernel_api/kernels/common.h"
#include "kernbench/kernel_api/layout.h"
#include "kernbench/kernel_api/pe_backend.h"

namespace kernbench::kernels {
namespace {

ccl::Axes of_columns() {
  return ccl::parse_axes("cube+rank");
}

/// Of each row of a PE's part: the greatest element, and its column in the whole.
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
  const ccl::Members& members = ccl::group_with(tl.launch(), of_columns(), tl.index());
  const auto port = [](size_t i) { return "to" + std::to_string(i); };
  const auto me = static_cast<size_t>(ccl::member_of(members, tl.index()));
  const Dims shape{y.shape[0], 1};
  Greatest own, all;
  if (!x.empty()) {
    if (x.offset[0] != y.offset[0] || x.shape[0] != y.shape[0])
      throw KernelFault("argmax_of_columns: the PE's parts of x and y have other rows");
    add_own(tl, x, &own);
    for (size_t i = 1; i < members.size(); ++i) {
      tl.send_async(port((me + i) % members.size()), own.values.front());
      tl.send_async(port((me + i) % members.size()), own.columns.front());
    }
  }
  std::vector<size_t> order(members.size());  // by column: the first of equals stays
  std::iota(order.begin(), order.end(), size_t{0});
  const auto part = [&](size_t i) -> const tl::View& { return args.shard("x", static_cast<uint32_t>(members[i])); };
  std::stable_sort(order.begin(), order.end(), [&](size_t a, size_t b) {
    return !part(a).empty() && (part(b).empty() || part(a).offset[1] < part(b).offset[1]);
  });
  for (const size_t i : order) {
    if (part(i).empty()) continue;
    all.values.push_back(i == me ? own.values.front() : tl.recv(port(i), shape, DType::f32));
    all.columns.push_back(i == me ? own.columns.front() : tl.recv(port(i), shape, DType::i32));
  }
  tl::Tensor columns = all.columns.front();
  if (all.values.size() > 1) {
    const tl::Tensor which = tl.argmax(tl.cat(all.values, 1), 1).reshape(shape);
    columns = tl.gather(tl.cat(all.columns, 1), which, 1);
  }
  tl.store_async(y, columns.reshape({y.shape[0]}));
}

std::vector<QueueConnection> connections(const Params&, const LaunchShape& launch) {
  std::vector<QueueConnection> all;
  for (const ccl::Members& m : ccl::groups_of(launch, of_columns())) {
    for (const ccl::Wire& w : ccl::all_wiring(static_cast<int64_t>(m.size())))
      all.push_back({m[static_cast<size_t>(w.from)], w.port, m[static_cast<size_t>(w.to)], w.peer_port, 4, 64, "tcm"});
  }
  return all;
}

KernelSpec spec() {
  KernelSpec s;
  s.name = "argmax_of_columns";
  s.help = "where the greatest element of every row is, the first of equals; columns of x over ranks and cubes";
  s.params = {ParamSpec::size("rows", 16, "of x, split over the PEs of a cube"),
              ParamSpec::size("cols", 1024, "of x, split over ranks and cubes"),
              ParamSpec::dtypes({DType::f32, DType::f16, DType::bf16})};
  s.tensors = {input("x", {"rows", "cols"}, Placement::rows),
               output("y", {"rows"}, Placement::rows, [](const Params&) { return DType::i32; })};
  for (TensorSpec& t : s.tensors) {
    const host::Layout layout = t.is_output() ? host::Layout() : host::Layout(host::shard(1)).cube(host::shard(1));
    t.shards = [plain = t, layout](const Params& p) {
      return host::plan_shards(layout.pe(host::shard(0)), plain.dtype(p), plain.shape(p), p.launch());
    };
  }
  s.function = argmax_of_columns;
  s.reference = [](const Params& p, const TensorMap& in) {
    const Floats x = in.at("x").floats();
    const int64_t cols = p.integer("cols");
    std::vector<int32_t> y;
    for (int64_t r = 0; r < p.integer("rows"); ++r)
      y.push_back(static_cast<int32_t>(std::max_element(x.data() + r * cols, x.data() + (r + 1) * cols) -
                                       (x.data() + r * cols)));
    return std::map<std::string, Expected>{{"y", {HostTensor::from(DType::i32, {p.integer("rows")}, y), {}}}};
  };
  s.wiring = "everyone with everyone of one place in all cubes of all ranks";
  s.queues = connections;
  return s;
}

const RegisterKernel registered{spec()};

}  // namespace
}  // namespace kernbench::kernels
