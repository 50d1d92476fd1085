#include "kernbench/platform/launch/launch_preparation.h"

#include <algorithm>

#include "kernbench/phase2/op/errors.h"
#include "kernbench/platform/launch/queue_connections.h"
#include "kernbench/systemc_models/fabric/router.h"

namespace kernbench {
namespace {

/// Overheads, wires and store-and-forward of a message's way, its data at the bottleneck.
double way_ns(const Route& r, uint64_t nbytes) {
  const auto bytes = static_cast<double>(nbytes);
  double ns = r.write_bw > 0 ? bytes / r.write_bw : 0;
  for (size_t i = 0; i < r.hops.size(); ++i) {
    FabricNode& node = r.hops[i].out->node();
    ns += node.owner().overhead_ns() + r.hops[i].out->link.wire_ns;
    const auto* router = dynamic_cast<const Router*>(&node);
    if (i > 0 && router != nullptr && router->stores_and_forwards()) ns += r.hops[i - 1].out->link.transfer_ns(bytes);
  }
  return ns;
}

}  // namespace

double MachineCosts::call_ns(int64_t i) const {
  return pe(i).cpu->command_ns();
}

double MachineCosts::queue_ns(int64_t i) const {
  return queues(i).overhead_ns;
}

const QueueParameters& MachineCosts::queues(int64_t i) const {
  if (pe(i).ipcq == nullptr) throw InputError(pe(i).id + " has no pe_ipcq, which messages need");
  return pe(i).ipcq->queue_parameters();
}

QueueRing MachineCosts::ring(int64_t i, const RingChoice& choice) const {
  const QueueParameters& p = queues(i);
  const std::string tier = choice.tier.value_or(p.tier);
  QueueRing ring;
  ring.slot_bytes = choice.slot_bytes.value_or(p.slot_bytes);
  ring.space = parse_space(tier);
  const size_t index = pes_.at(static_cast<size_t>(i));
  const auto& memories = machine_.graph().memories;
  if (ring.space == Space::hbm) ring.addr = memories.at(machine_.pes().local_memory(index)).base;
  if (ring.space == Space::sram) {
    ring.addr = pe(i).sram_base;
    if (pe(i).sram_bytes == 0) throw InputError("tier sram: " + pe(i).id + " reaches no SRAM of its cube");
  }
  price_ring(machine_, pe(i), tier, &ring);
  return ring;
}

LaunchCosts::Message MachineCosts::message(int64_t from, int64_t to, uint64_t nbytes, const RingChoice& choice) const {
  const QueueRing at = ring(to, choice);
  const uint64_t slot = std::min(nbytes, at.slot_bytes);
  try {
    const Route& route = machine_.routes().message_route(pe(from).dma, pe(to).dma);
    return {way_ns(route, nbytes), at.write.of(slot), at.read.of(slot)};
  } catch (const AccessError& e) {
    throw InputError("no way between " + pe(from).id + " and " + pe(to).id + ": " + e.what());
  }
}

double MachineCosts::math_ns(int64_t i, const std::string& op, int64_t elements, DType dtype) const {
  const Pe& at = pe(i);
  double ns = at.cpu->command_ns();
  if (const auto* scheduler = dynamic_cast<const Component*>(at.scheduler)) ns += scheduler->overhead_ns();
  PeCommand command;
  command.op = op;
  command.elements = elements;
  command.out_bytes = static_cast<uint64_t>(elements) * size_of(dtype);
  command.in_bytes = 2 * command.out_bytes;
  PeItem item;
  item.command = &command;
  for (const Pe::Engine& e : at.engines) {
    const std::vector<StageStatistics> stages = e.role->statistics();
    if (!stages.empty() && stages.front().stage == Stage::math) ns += e.role->service_ns(item);
  }
  return ns;
}

uint64_t MachineCosts::tcm_bytes(int64_t i) const {
  return pe(i).tcm->allocatable_bytes();
}

PreparedLaunch prepare_launch(Machine& machine, const KernelSpec& spec, Params params, const std::vector<size_t>& pes,
                              std::shared_ptr<const LaunchShape> shape) {
  PreparedLaunch launch{std::move(params), {}};
  launch.params.set_launch(std::move(shape));
  if (!spec.prepare) return launch;
  try {
    spec.prepare(&launch.params, MachineCosts(machine, pes), &launch.notes);
    for (const TensorSpec& t : spec.tensors) check_size("kernel " + spec.name, t, launch.params);
  } catch (const BadParam& e) {
    throw BadParam("kernel " + spec.name + ": " + e.what());
  }
  return launch;
}

}  // namespace kernbench
