// SPDX-License-Identifier: Apache-2.0
#include "kernbench/systemc_models/fabric/control_legs.h"

#include "kernbench/phase2/op/errors.h"
#include "kernbench/systemc_models/fabric/control_message.h"

namespace kernbench::fabric {

double ControlLeg::ns() const {
  double ns = 0;
  for (const PathHop& hop : path()) ns += ns_at(hop) + hop.link->wire_ns;
  return ns;
}

ControlLegs::~ControlLegs() = default;

FabricNode& ControlLegs::node(uint32_t index) const {
  FabricNode* n = fabric_.node(index);
  if (!n) throw AccessError("block " + std::to_string(index) + " has no side that faces the fabric");
  return *n;
}

const ControlLeg& ControlLegs::leg(uint32_t from, uint32_t to) {
  std::unique_ptr<ControlLeg>& kept = legs_[uint64_t{from} << 32 | to];
  if (kept) return *kept;
  FabricNode& end = node(to);
  auto leg = std::make_unique<ControlLeg>();
  leg->end = &end;
  leg->target = dynamic_cast<ControlTarget*>(&end.owner());
  if (!leg->target)
    throw InputError(end.owner().id() + ": its impl takes no messages of the host: it is no ControlTarget");
  for (FabricPort* out : find(node(from), end)) leg->hops.push_back({out, nullptr});
  kept = std::move(leg);
  return *kept;
}

std::vector<FabricPort*> ControlLegs::find(FabricNode& from, FabricNode& to) {
  std::vector<FabricPort*> ways;
  for (const Hop& hop : fewest_hops(from, to)) ways.push_back(hop.out);
  return ways;
}

}  // namespace kernbench::fabric
