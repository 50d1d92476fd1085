// SPDX-License-Identifier: Apache-2.0
// The kernels of gathers, scatters, atomics and flags with all tensors in their cube's SRAM. Each PE copies its own
// parts there, the kernels run, and the results are copied back and verified, in every link mode and with finite
// buffers, without a race. KERNBENCH_RANGES_CASES and KERNBENCH_RANGES_SEED make a campaign.
#include <gtest/gtest.h>

#include <cstdlib>
#include <map>
#include <random>

#include "kernbench/kernel_api/kernels/common.h"
#include "kernbench/kernel_api/registry.h"
#include "kernbench/platform/run/run.h"
#include "system_support.h"

namespace kernbench::testing::tensors_in_sram_serve_kernels_of_ranges {
namespace {

const char* const kGate = "gate";

/// After all writes of all PEs. `element` of the gate counts the PEs that have arrived.
void meet(tl::Context& tl, const tl::Args& args, int64_t element) {
  const tl::Ptr gate = args[kGate].ptr + element;
  tl.red_add(gate.block({1}), 1);
  tl.wait_until(gate, tl::Cmp::ge, tl.size());
}

/// A tensor's shards in SRAM, consecutive from `at` on, in the order of the launch in HBM.
struct Moved {
  std::vector<tl::View> shards;
  tl::View range;
  uint64_t nbytes = 0;
  bool in_order = true;
  bool is_mine = false;  ///< this PE copies its shard
};

Moved moved(const tl::Context& tl, const tl::Args& args, const std::string& name, const tl::Ptr& at) {
  Moved m;
  std::map<uint64_t, uint64_t> places;  // of shards shared by PEs: one place
  for (uint32_t p = 0; p < args.shards(); ++p) {
    tl::View v = args.shard(name, p);
    if (!v.empty()) {
      const auto [place, is_new] = places.emplace(v.ptr.addr, m.nbytes);
      m.is_mine |= is_new && p == tl.index();
      if (is_new) m.nbytes += static_cast<uint64_t>(v.shape.elements()) * size_of(v.dtype());
      v.ptr = tl::Ptr(at.space, at.addr + place->second, v.dtype());
    }
    m.shards.push_back(v);
  }
  try {
    m.range = args.whole(name);
  } catch (const KernelFault&) {
    m.in_order = false;
    m.range = args[name];
  }
  m.range.ptr = tl::Ptr(at.space, at.addr, m.range.dtype());
  return m;
}

void run_in_sram(const KernelSpec& kernel, tl::Context& tl, const tl::Args& args) {
  const auto launch = std::make_shared<tl::LaunchArgs>(args.params());
  std::map<std::string, tl::View> mine;
  uint64_t used = 0;
  for (const TensorSpec& t : kernel.tensors) {
    const Moved m = moved(tl, args, t.name, tl::Ptr(Space::sram, tl.sram().addr + used, DType::u8));
    used += (m.nbytes + 63) / 64 * 64;
    if (m.is_mine) mine[t.name] = m.shards[static_cast<size_t>(tl.index())];
    launch->add(t.name, m.shards, m.range, m.nbytes, m.in_order);
    const tl::View& from = args[t.name];
    if (m.is_mine && t.role != TensorSpec::Role::out) tl.store(mine[t.name].ptr, tl.load(from.ptr, from.shape));
  }
  meet(tl, args, 0);
  kernel.function(tl, tl::Args(launch, static_cast<uint32_t>(tl.index())));
  meet(tl, args, 1);
  for (const TensorSpec& t : kernel.tensors) {
    if (t.role == TensorSpec::Role::in || mine.count(t.name) == 0) continue;
    const tl::View& from = mine[t.name];
    tl.store(args[t.name].ptr, tl.load(from.ptr, from.shape));
  }
}

/// The kernel with the gate in addition to its tensors.
std::string add_in_sram(const std::string& name, int64_t pes) {
  KernelSpec s = *KernelRegistry::instance().find(name);
  const KernelSpec kernel = s;
  s.name += "_in_sram";
  s.tensors.push_back(kernels::zeroed(
      kGate, [](const Params&) { return Dims{2}; }, DType::i32));
  s.function = [kernel](tl::Context& tl, const tl::Args& args) { run_in_sram(kernel, tl, args); };
  s.reference = [kernel, pes](const Params& p, const TensorMap& in) {
    auto right = kernel.reference(p, in);
    const auto all = static_cast<int32_t>(pes);
    right.emplace(kGate, Expected{HostTensor::from(DType::i32, {2}, std::vector<int32_t>{all, all}), {}});
    return right;
  };
  KernelRegistry::instance().add(s);
  return s.name;
}

using Parameters = std::vector<std::pair<std::string, std::vector<std::string>>>;
/// Ranges of each kernel's random parameters: sizes without common divisors with PEs or tiles, one, and larger ones.
const std::vector<std::pair<std::string, Parameters>> kKernels = {
    {"embedding_gather", {{"vocab", {"1", "37", "90"}}, {"dim", {"1", "33"}}, {"tokens", {"1", "3", "41"}}}},
    {"paged_gather",
     {{"pages", {"1", "9"}}, {"page", {"1", "5"}}, {"dim", {"1", "17"}}, {"seqs", {"1", "7"}}, {"blocks", {"1", "4"}}}},
    {"histogram", {{"n", {"1", "301"}}, {"bins", {"1", "19"}}, {"method", {"atomics", "local"}}}},
    {"ticket_lock", {{"rows", {"1", "7"}}, {"cols", {"1", "35"}}}},
    {"gemm_stream_k",
     {{"m", {"1", "33"}},
      {"n", {"1", "18"}},
      {"k", {"1", "70"}},
      {"tile_m", {"16"}},
      {"tile_n", {"16"}},
      {"tile_k", {"32"}}}},
    {"moe_dispatch", {{"tokens", {"1", "23"}}, {"dim", {"1", "21"}}, {"experts", {"2", "5"}}, {"k", {"1", "2"}}}},
    {"moe_combine", {{"tokens", {"1", "23"}}, {"dim", {"1", "21"}}, {"k", {"1", "3"}}, {"slots", {"1", "40"}}}},
    {"dropout", {{"n", {"1", "700"}}}},
    {"cumsum", {{"rows", {"1", "9"}}, {"cols", {"1", "37"}}}},
    {"sort", {{"rows", {"1", "9"}}, {"cols", {"1", "37"}}}},
    {"topk", {{"rows", {"1", "9"}}, {"cols", {"8", "37"}}, {"k", {"1", "8"}}}},
};

struct Mode {
  topology::Links links;
  topology::Response response;
  bool finite;
};
const std::vector<Mode> kModes = {{topology::Links::ideal, topology::Response::ideal, false},
                                  {topology::Links::cut_through, topology::Response::routed, false},
                                  {topology::Links::flit, topology::Response::routed, false},
                                  {topology::Links::flit, topology::Response::routed, true}};

int from_environment(const char* name, int otherwise) {
  const char* text = std::getenv(name);
  return text ? std::atoi(text) : otherwise;
}

std::string run(const std::string& kernel, const Parameters& parameters, const Mode& mode, std::mt19937& draw) {
  topology::Overrides over;
  over.links = mode.links;
  over.response = mode.response;
  if (mode.finite) over.settings = {{"*.buffer_flits", "3"}, {"*.vcs", "2"}};
  over.settings.push_back({"*.pe_dma.outstanding", draw() % 2 ? "1" : "3"});
  const auto platform = platform_from_file(topology_path("small.yaml"), over);
  const auto& pes = platform->graph().pes;
  const size_t many = 1 + draw() % 4;  // of one cube
  RunOptions o;
  o.kernel = add_in_sram(kernel, static_cast<int64_t>(many));
  for (size_t i = 0; i < many; ++i) o.pes = i == 0 ? pes[0].id : o.pes + "," + pes[i].id;
  for (const auto& [name, values] : parameters) o.params.emplace_back(name, values[draw() % values.size()]);
  o.addresses = draw() % 2 ? AddressMode::virtual_ : AddressMode::physical;
  o.seed = draw();
  o.verify = o.check_races = true;
  std::string what = o.kernel + " " + o.pes;
  for (const auto& [name, value] : o.params) what += " " + name + "=" + value;
  const RunReport r = run_kernel(*platform, std::move(o));
  if (!r.races_checked) return what + ": races are not looked for: " + r.races_unknown;
  if (!r.races.empty()) {
    const Race& race = r.races.front();
    return what + ": " + race.first.what + " at " + to_string(race.first.where) + " races with " + race.second.what +
           " at " + to_string(race.second.where);
  }
  for (const TensorReport& t : r.tensors) {
    if (!t.passed) return what + ": " + t.name + ": " + t.reason;
  }
  return r.verified && r.passed ? "right" : what + ": not verified";
}

TEST(TensorsInSram, serve_kernels_of_ranges) {
  const int cases = from_environment("KERNBENCH_RANGES_CASES", 44), seed = from_environment("KERNBENCH_RANGES_SEED", 1);
  for (int i = 0; i < cases; ++i) {
    const auto& [kernel, parameters] = kKernels[static_cast<size_t>(i) % kKernels.size()];
    const Mode& mode = kModes[static_cast<size_t>(i) / kKernels.size() % kModes.size()];
    EXPECT_EQ(in_child([&, &kernel = kernel, &parameters = parameters] {
                std::mt19937 draw(static_cast<unsigned>(seed + i));
                return run(kernel, parameters, mode, draw);
              }),
              "right")
        << i;
  }
}

}  // namespace
}  // namespace kernbench::testing::tensors_in_sram_serve_kernels_of_ranges
