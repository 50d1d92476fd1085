// SPDX-License-Identifier: Apache-2.0
#include "kernbench/platform/launch/launch_preparation.h"

#include <algorithm>
#include <optional>
#include <set>
#include <unordered_set>

#include "kernbench/kernel_api/kernels/gemm_costs.h"
#include "kernbench/phase2/op/errors.h"
#include "kernbench/platform/launch/queue_connections.h"
#include "kernbench/systemc_models/fabric/memory_target.h"
#include "kernbench/systemc_models/fabric/path.h"
#include "kernbench/systemc_models/pe/pe_block.h"

namespace kernbench::launch {
namespace {

/// The route of messages, and the ring at its end.
struct Way {
  Route route;
  std::vector<double> of_slot_ns;  ///< of a full slot: overhead and wire per hop, then store-and-forward
  QueueRing ring;
  const pe::QueueParameters* sender;  ///< its pe_ipcq's, if that has protocols; else null
  std::string protocol;               ///< empty: by a message's size

  Way(Route r, QueueRing at, const pe::QueueParameters& from, std::string by)
      : route(std::move(r)),
        ring(std::move(at)),
        sender(from.has_protocols() ? &from : nullptr),
        protocol(std::move(by)) {
    for_each_ns(ring.slot_bytes, [&](double hop_ns) { of_slot_ns.push_back(hop_ns); });
  }
  bool operator==(const Way& o) const {
    return route.write_bw == o.route.write_bw && of_slot_ns == o.of_slot_ns && ring.slot_bytes == o.ring.slot_bytes &&
           ring.write == o.ring.write && ring.read == o.ring.read && sender == o.sender && protocol == o.protocol;
  }
  LaunchCosts::Message message(uint64_t nbytes) const {
    const pe::Protocol by = sender ? sender->protocol(protocol, nbytes) : pe::Protocol();
    const double drain_ns =
        std::max(route.write_bw > 0 ? static_cast<double>(nbytes) / route.write_bw : 0, by.paced_ns(nbytes));
    double ns = by.message_ns + drain_ns;
    for_each_ns(nbytes, [&](double hop_ns) { ns += hop_ns; });
    const uint64_t slot = std::min(nbytes, ring.slot_bytes);
    const double write_ns = ring.write.of(slot), read_ns = ring.read.of(slot);
    return {ns + write_ns + read_ns, read_ns, std::max({drain_ns, write_ns, read_ns})};
  }

 private:
  template <class Visit>
  void for_each_ns(uint64_t nbytes, Visit visit) const {
    for (const PathHop& hop : route.path(false)) {
      const NodeCost cost = hop.cost({true, false, 0, nbytes});
      visit(cost.overhead_ns + hop.link->wire_ns);
      visit(cost.store_forward_ns);
    }
  }
};

struct HashOfWay {
  size_t operator()(const Way& w) const {
    size_t hash = w.of_slot_ns.size();
    for (const double ns : w.of_slot_ns) hash = hash * 31 + std::hash<double>()(ns);
    return hash;
  }
};

/// Routes with equal costs are stored once: thousands of PEs have few distinct ones.
class DistinctWays : public LaunchCosts::Ways {
 public:
  void add(Way way) {
    for (const PathHop& hop : way.route.path(false)) {
      if (hop.number > 0) ++(hop.node().multicasts() ? multicast_ : others_);
    }
    ways_.insert(std::move(way));
  }
  LaunchCosts::Message dearest(uint64_t nbytes) const override {
    LaunchCosts::Message most;
    for (const Way& w : ways_) {
      const LaunchCosts::Message m = w.message(nbytes);
      most = {std::max(most.total_ns, m.total_ns), std::max(most.read_ns, m.read_ns),
              std::max(most.next_ns, m.next_ns)};
    }
    return most;
  }
  bool multicasts() const override { return multicast_ > 0 && others_ == 0; }

 private:
  size_t multicast_ = 0, others_ = 0;  ///< blocks that pass messages on, by what they declare
  std::unordered_set<Way, HashOfWay> ways_;
};

}  // namespace

double MachineCosts::call_ns(int64_t i) const {
  return pe(i).cpu->command_ns();
}

double MachineCosts::queue_ns(int64_t i) const {
  require_queues(i);
  return pe(i).ipcq->queue_parameters().overhead_ns;
}

std::vector<std::string> MachineCosts::protocols(int64_t i) const {
  return pe(i).ipcq ? pe(i).ipcq->queue_parameters().protocols() : std::vector<std::string>();
}

double MachineCosts::protocol_start_ns(int64_t i, const std::string& protocol) const {
  return pe(i).ipcq->queue_parameters().protocol(protocol, 0).start_ns;
}

void MachineCosts::require_queues(int64_t i) const {
  if (pe(i).ipcq == nullptr) throw InputError(pe(i).id + " has no pe_ipcq, which messages need");
}

QueueRing MachineCosts::ring(int64_t i, const RingChoice& choice) const {
  require_queues(i);
  QueueRing ring = ring_at(pe(i), choice);
  const size_t index = pes_.at(static_cast<size_t>(i));
  const auto& memories = machine_.graph().memories;
  if (ring.space == Space::hbm) ring.addr = memories.at(machine_.pes().local_memory(index)).base;
  if (ring.space == Space::sram) {
    ring.addr = pe(i).sram_base;
    if (pe(i).sram_bytes == 0) throw InputError("tier sram: " + pe(i).id + " reaches no SRAM of its cube");
  }
  price_ring(pe(i), machine_.routes(), &ring);
  return ring;
}

std::unique_ptr<LaunchCosts::Ways> MachineCosts::ways(std::vector<std::pair<int64_t, int64_t>> pairs,
                                                      const RingChoice& choice) const {
  std::sort(pairs.begin(), pairs.end());  // grouping paths by their start makes the search faster
  std::vector<std::optional<QueueRing>> rings(pes_.size());
  auto distinct = std::make_unique<DistinctWays>();
  for (const auto& [from, to] : pairs) {
    std::optional<QueueRing>& at = rings[static_cast<size_t>(to)];
    if (!at) at = ring(to, choice);
    try {
      distinct->add(Way(machine_.routes().find_message_way(pe(from).dma, pe(to).dma), *at,
                        pe(from).ipcq->queue_parameters(), choice.protocol.value_or("")));
    } catch (const AccessError& e) {
      throw InputError("no way between " + pe(from).id + " and " + pe(to).id + ": " + e.what());
    }
  }
  return distinct;
}

double MachineCosts::math_ns(int64_t i, const std::string& op, int64_t elements, DType dtype) const {
  const Pe& at = pe(i);
  double ns = at.cpu->command_ns();
  if (const auto* scheduler = dynamic_cast<const PeBlock*>(at.scheduler)) ns += scheduler->block_overhead_ns();
  PeCommand command;
  command.op = op;
  command.elements = elements;
  command.out_bytes = static_cast<uint64_t>(elements) * size_of(dtype);
  command.in_bytes = 2 * command.out_bytes;
  return ns + service_ns(i, CommandType::math, &command);
}

double MachineCosts::service_ns(int64_t i, CommandType type, PeCommand* command) const {
  const Pe& at = pe(i);
  PeItem item;
  item.command = command;
  double ns = 0;
  for (const Pe::Engine& e : at.engines) {
    const std::vector<StageStatistics> stages = e.role->statistics();
    if (!stages.empty() && stages.front().stage == at.stage_of(type, command->op))
      ns += e.role->service_ns(item, *at.tcm);
  }
  return ns;
}

double MachineCosts::gemm_ns(int64_t i, const MatrixProduct& product, DType dtype) const {
  PeCommand command;
  command.type = CommandType::gemm;
  command.m = product.m;
  command.n = product.n;
  command.k = product.k;
  command.dtype = std::string(name_of(dtype));
  return service_ns(i, CommandType::gemm, &command);
}

double MachineCosts::hbm_gbs() const {
  const topology::Graph& graph = machine_.graph();
  std::set<uint32_t> memories;
  for (const size_t p : pes_) memories.insert(graph.memories.at(machine_.pes().local_memory(p)).node);
  double sum = 0;
  for (const uint32_t node : memories) {
    double edge = 0;
    for (const uint32_t e : graph.out_edges[node]) edge = std::max(edge, graph.effective_bw(e));
    const auto* memory = dynamic_cast<const MemoryTarget*>(&machine_.blocks().component(node));
    sum += memory ? memory->most_gbs(edge) : edge;
  }
  return sum;
}

std::vector<double> MachineCosts::simulated_ns(const CollectiveTrial& trial) const {
  if (!machine_.trials())
    throw BadParam(
        "algorithm: best needs `kernbench run` with the parameter best or a program with ProgramSpec::chooses_best, or "
        "a CollectiveTrials object made before the simulation");
  return machine_.trials()(trial, pes_);
}

uint64_t MachineCosts::tcm_bytes(int64_t i) const {
  return pe(i).tcm->allocatable_bytes();
}

namespace {

/// The roofline of a kernel's products, each tensor moved once, and the predicted time of gemm_2d. None if the machine
/// has no queues between PEs, because gemm_2d needs them.
void weigh_products(const KernelSpec& spec, const Params& params, const LaunchCosts& costs, LaunchNotes* notes) {
  const auto pes = static_cast<double>(params.launch()->pes.size());
  const double hbm_gbs = costs.hbm_gbs();
  double gemm_ns = 0, instead_ns = 0, bytes = 0;
  try {
    for (const MatrixProduct& p : spec.products(params)) {
      gemm_ns += kernels::gemm_rate_ns(p, params.dtype(), costs) / pes;
      instead_ns += kernels::gemm_2d_ns(p, params.dtype(), *params.launch(), costs);
    }
  } catch (const InputError&) {
    return;
  }
  for (const TensorSpec& t : spec.tensors)
    bytes += static_cast<double>(t.shape(params).elements()) * static_cast<double>(size_of(t.dtype(params)));
  notes->allowed_ns = std::max(gemm_ns, hbm_gbs > 0 ? bytes / hbm_gbs : 0);
  notes->instead_ns = instead_ns;
  notes->instead = "gemm_2d, with a as host::grid_of_rows() and b as host::grid_of_columns()";
}

}  // namespace

PreparedLaunch prepare_launch(Machine& machine, const KernelSpec& spec, Params params, const std::vector<size_t>& pes,
                              std::shared_ptr<const LaunchShape> shape) {
  PreparedLaunch launch{std::move(params), {}};
  launch.params.set_launch(std::move(shape));
  const MachineCosts costs(machine, pes);
  try {
    if (spec.prepare) {
      spec.prepare(&launch.params, costs, &launch.notes);
      for (const TensorSpec& t : spec.tensors) check_size("kernel " + spec.name, t, launch.params);
    }
    if (spec.products) weigh_products(spec, launch.params, costs, &launch.notes);
  } catch (const BadParam& e) {
    throw BadParam("kernel " + spec.name + ": " + e.what());
  }
  return launch;
}

}  // namespace kernbench::launch
