// SPDX-License-Identifier: Apache-2.0
#include "kernbench/platform/models/model_machine.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "kernbench/kernel_api/registry.h"
#include "kernbench/phase2/op/errors.h"
#include "kernbench/platform/elaborate/machine.h"
#include "kernbench/platform/host/tensor.h"
#include "kernbench/platform/launch/launch_preparation.h"
#include "kernbench/platform/models/model_program.h"

namespace kernbench::models {
namespace {

/// Kernels of the plan whose launches have their own rings.
std::vector<std::string> kernels_with_rings(const ModelSpec& m, const Plan& plan) {
  const auto has_prompt = [](const Phase& p) { return p.has_prompt(); };
  std::vector<std::string> names;
  if (std::any_of(plan.phases.begin(), plan.phases.end(), has_prompt)) names.emplace_back("gemm_2d");
  if (plan.whole() || m.experts > 0 || !std::all_of(plan.phases.begin(), plan.phases.end(), has_prompt))
    names.emplace_back("decode_linear");
  if (plan.whole()) names.emplace_back("argmax_of_columns");
  return names;
}

using Given = std::vector<std::pair<std::string, std::string>>;

/// Ring bytes of the launch with the largest rings, in a stage's PE that has most.
uint64_t bytes_of_rings(Machine& machine, const host::ProgramPes& pes, const ModelSpec& m, const Plan& plan) {
  std::vector<size_t> stage;
  for (size_t i = 0; i < pes.pes.size(); ++i) {
    if (pes.rank[i] < plan.ranks) stage.push_back(pes.pes[i]);
  }
  const auto shape = launch_shape(machine, stage);
  uint64_t most = 0;
  for (const std::string& name : kernels_with_rings(m, plan)) {
    const KernelSpec& kernel = KernelRegistry::instance().at(name);
    std::vector<uint64_t> bytes(stage.size());
    // Whether ranks sum products in these launches, which then need the rings for it.
    const bool adds_up = name == "gemm_2d" && std::any_of(plan.phases.begin(), plan.phases.end(), [&](const Phase& p) {
                           return p.has_prompt() && is_shared_by_columns(sizes_of(m, plan, p), Way(), pes.place);
                         });
    const Params own = kernel_params(kernel, adds_up ? Given{{"split", "k"}} : Given{});
    const Params params = prepare_launch(machine, kernel, own, stage, shape).params;
    for (const QueueConnection& c : kernel.queues(params, *shape)) {
      for (const int64_t end : {c.a, c.b}) bytes[static_cast<size_t>(end)] += *c.slots * *c.slot_bytes;
    }
    most = std::max(most, *std::max_element(bytes.begin(), bytes.end()));
  }
  return most;
}

/// The options whose product is the number of ranks.
const char* options_of_ranks(const Plan& plan) {
  if (plan.expert_groups > 1) return plan.stages > 1 ? "--tp times --ep times --pp" : "--tp times --ep";
  return plan.stages > 1 ? "--tp times --pp" : "--tp";
}

Room room_of(Machine& machine, const host::ProgramPes& pes, const ModelSpec& m, const Plan& plan) {
  const topology::Graph& graph = machine.graph();
  const MachineCosts costs(machine, pes.pes);
  Room room;
  room.places = pes.place;
  room.grids = pes.grids;
  room.tcm_bytes = ~uint64_t{0};
  std::map<size_t, uint32_t> numbers;
  for (size_t i = 0; i < pes.pes.size(); ++i) {
    const size_t memory = machine.pes().local_memory(pes.pes[i]);
    const auto [it, is_new] = numbers.emplace(memory, static_cast<uint32_t>(numbers.size()));
    room.slice.push_back(it->second);
    room.tcm_bytes = std::min(room.tcm_bytes, costs.tcm_bytes(static_cast<int64_t>(i)));
    if (!is_new) continue;
    room.slice_ids.push_back(graph.nodes[graph.memories[memory].node].id);
    room.slice_bytes.push_back(graph.memories[memory].size);
  }
  room.ring_bytes = bytes_of_rings(machine, pes, m, plan);
  return room;
}

Peaks peaks_of(Machine& machine, const std::vector<size_t>& pes, DType dtype) {
  constexpr int64_t kSide = 256;
  const MachineCosts costs(machine, pes);
  const double ns = costs.gemm_ns(0, {kSide, kSide, kSide}, dtype);
  return {2.0 * kSide * kSide * kSide / ns * static_cast<double>(pes.size()), costs.hbm_gbs()};
}

}  // namespace

CubesOfRank cubes_for(Platform& platform, const PeChoice& choice) {
  const host::ProgramPes pes(machine_of(platform), choose_pes(machine_of(platform), choice));
  std::map<uint32_t, int64_t> of_cube;
  for (size_t i = 0; i < pes.pes.size(); ++i) {
    if (pes.rank[i] == 0) ++of_cube[pes.place[i].cube];
  }
  const int64_t count = of_cube.begin()->second;
  const bool alike =
      std::all_of(of_cube.begin(), of_cube.end(), [&](const auto& cube) { return cube.second == count; });
  return alike ? CubesOfRank{static_cast<int64_t>(of_cube.size()), count} : CubesOfRank{};
}

Peaks peaks_for(Platform& platform, const PeChoice& choice, DType dtype) {
  return peaks_of(machine_of(platform),
                  host::ProgramPes(machine_of(platform), choose_pes(machine_of(platform), choice)).pes, dtype);
}

ModelMachine machine_for(Platform& platform, const ModelSpec& m, const Plan& plan, PeChoice* choice) {
  Machine& machine = machine_of(platform);
  const host::ProgramPes all(machine, choose_pes(machine, *choice));
  if (all.ranks < static_cast<uint64_t>(plan.all_ranks()))
    throw InputError(fmt::format("{}: found {}, the machine has {} {} to split layers over", options_of_ranks(plan),
                                 plan.all_ranks(), all.ranks, all.ranks == 1 ? "SIP" : "SIPs"));
  choice->ranks = std::to_string(plan.all_ranks());
  const host::ProgramPes pes(machine, choose_pes(machine, *choice));
  return {room_of(machine, pes, m, plan), peaks_of(machine, pes.pes, plan.dtype),
          static_cast<int64_t>(pes.pes.size()) / plan.all_ranks()};
}

}  // namespace kernbench::models
