// SPDX-License-Identifier: Apache-2.0
// c = a · b over ranks. Each rank has a slice of k, and its PEs split the rows. An all_reduce inside the kernel sums
// the partial products over the ranks (collectives rules §12.8).
#include <algorithm>
#include <set>

#include "kernbench/kernel_api/collectives/groups.h"
#include "kernbench/kernel_api/kernels/collectives.h"
#include "kernbench/kernel_api/kernels/common.h"

namespace kernbench::kernels::tp_gemm_all_reduce_kernel {
namespace {

/// The i-th of `parts` blocks of ⌈n/parts⌉.
struct Block {
  int64_t first, count;
};
Block block_of(int64_t n, int64_t i, int64_t parts) {
  const int64_t size = tl::Context::cdiv(n, parts), first = std::min(n, i * size);
  return {first, std::min(size, n - first)};
}

void tp_gemm_all_reduce(tl::Context& tl, const tl::Args& args) {
  if (args["c"].empty()) return;
  const ccl::Group group = ccl::make_group(tl.launch(), collective_of(ccl::Op::all_reduce, args.params()), tl.index());
  const tl::View& c = args["c"];
  const int64_t n = c.shape[1];
  const auto row_bytes = n * static_cast<int64_t>(size_of(c.dtype()));
  const int64_t step = std::max<int64_t>(1, args.integer("part_bytes") / row_bytes);
  std::vector<tl::Event> stores;
  for (int64_t row = 0; row < c.shape[0]; row += step) {
    const int64_t rows = std::min(step, c.shape[0] - row);
    tl::Tensor partial;
    if (args["a"].empty()) {  // more ranks than k: nothing to add
      partial = tl.zeros({rows, n}, c.dtype());
    } else {
      partial = tl.composite(tl::gemm(args["a"].block().rows(row, rows), args["b"].block()).out_dtype(c.dtype()));
      tl.wait(partial);
    }
    ccl::all_reduce(tl, group, partial, "sum", [&](int64_t first, const tl::Tensor& v) {
      stores.push_back(tl.store_async(c.ptr + row * n + first, v));
    });
  }
  for (const tl::Event& e : stores) tl.wait(e);
}

/// A PE's slice of m (over the PEs of its rank) and of k (over the ranks).
struct Slices {
  Block m, k;
};
std::vector<Slices> slices_of(const Params& p) {
  const int64_t m = p.integer("m"), k = p.integer("k");
  if (p.launch() == nullptr) return {{{0, m}, {0, k}}};
  std::map<int64_t, int64_t> pes_of;  // by rank
  std::vector<std::pair<int64_t, int64_t>> places;
  for (const LaunchShape::Place& at : p.launch()->pes) places.emplace_back(at.rank, pes_of[at.rank]++);
  std::vector<Slices> slices;
  for (const auto& [rank, i] : places)
    slices.push_back({block_of(m, i, pes_of[rank]), block_of(k, rank, static_cast<int64_t>(pes_of.size()))});
  return slices;
}

/// Each PE has its own shards. Every rank has a complete c, and these copies must be equal.
std::function<ShardPlan(const Params&)> shards(Dims (*whole)(const Params&),
                                               Shard (*part)(const Params&, const Slices&)) {
  return [=](const Params& p) {
    ShardPlan plan;
    plan.dtype = p.dtype();
    plan.whole = whole(p);
    for (const Slices& s : slices_of(p)) {
      Shard shard = part(p, s);
      shard.owner = static_cast<uint32_t>(plan.shards.size());
      plan.shards.push_back(shard.empty() ? Shard{shard.owner, {0, 0}, {0, 0}} : shard);
    }
    return plan;
  };
}

/// Slices follow the order of a rank's PEs; sums follow their positions. BadParam if a PE has no peer in some rank.
void check_peers(const LaunchShape& launch) {
  std::set<int64_t> ranks;
  for (const LaunchShape::Place& at : launch.pes) ranks.insert(at.rank);
  for (const ccl::Members& peers : ccl::groups_of(launch, ccl::parse_axes("rank"))) {
    if (peers.size() < ranks.size())
      throw BadParam("over: found PEs at other places in each rank, expected one at the place of " +
                     launch.pes[static_cast<size_t>(peers.front())].id + " in all " + std::to_string(ranks.size()));
  }
}

std::map<std::string, Expected> reference(const Params& p, const TensorMap& in) {
  const int64_t m = p.integer("m"), n = p.integer("n"), k = p.integer("k");
  const Floats a = in.at("a").floats(), b = in.at("b").floats();
  return {{"c", {HostTensor::from(p.dtype(), {m, n}, matmul(a, b, m, n, k)), gemm_error_scale(a, b, m, n, k)}}};
}

KernelSpec spec() {
  KernelSpec s;
  s.name = "tp_gemm_all_reduce";
  s.help = "c = a b: k over the ranks, rows over the PEs of each, c summed over the ranks";
  s.params = {ParamSpec::size("m", 256, "rows of a and c"), ParamSpec::size("n", 256, "columns of b and c"),
              ParamSpec::size("k", 512, "columns of a, rows of b"),
              ParamSpec::dtypes({DType::f32, DType::f16, DType::bf16})};
  add_collective_params(ccl::Op::all_reduce, &s.params);
  for (ParamSpec& p : s.params) {
    if (p.name == "over") p.default_value = std::string("rank");
    if (p.name == "redop") p = ParamSpec::choice("redop", {"sum"}, "reduction of the partial products");
  }
  s.tensors = {input("a", {"m", "k"}, Placement::rows),
               input("b", {"k", "n"}, Placement::rows, Init::weights(value_of("k"))),
               output("c", {"m", "n"}, Placement::rows)};
  s.tensors[0].shards = shards(
      [](const Params& p) {
        return Dims{p.integer("m"), p.integer("k")};
      },
      [](const Params&, const Slices& i) {
        return Shard{0, {i.m.first, i.k.first}, {i.m.count, i.k.count}};
      });
  s.tensors[1].shards = shards(
      [](const Params& p) {
        return Dims{p.integer("k"), p.integer("n")};
      },
      [](const Params& p, const Slices& i) {
        return Shard{0, {i.k.first, 0}, {i.m.count > 0 ? i.k.count : 0, p.integer("n")}};
      });
  s.tensors[2].shards = shards(
      [](const Params& p) {
        return Dims{p.integer("m"), p.integer("n")};
      },
      [](const Params& p, const Slices& i) {
        return Shard{0, {i.m.first, 0}, {i.m.count, p.integer("n")}};
      });
  s.function = tp_gemm_all_reduce;
  s.reference = reference;
  s.prepare = [](Params* p, const LaunchCosts& costs, LaunchNotes* notes) {
    if (p->choice("over") != "rank") throw BadParam("over: found '" + p->choice("over") + "', expected rank");
    if (p->launch() != nullptr) check_peers(*p->launch());
    int64_t rows = 1;
    for (const Slices& i : slices_of(*p)) rows = std::max(rows, i.m.count);
    prepare_collective(ccl::Op::all_reduce, rows * p->integer("n"), p, costs, notes);
  };
  s.wiring = wiring_text(ccl::Op::all_reduce);
  s.queues = [](const Params& p, const LaunchShape& launch) {
    if (p.choice("algorithm") == "in_network")
      throw BadParam("algorithm: in_network is not available: the sums that it reduces lie in TCM");
    return ccl::connections(launch, collective_of(ccl::Op::all_reduce, p));
  };
  return s;
}

const RegisterKernel registered{spec()};

}  // namespace
}  // namespace kernbench::kernels::tp_gemm_all_reduce_kernel
