// SPDX-License-Identifier: Apache-2.0
#include "kernbench/platform/elaborate/foreign_node.h"

#include <algorithm>
#include <utility>

#include "kernbench/phase2/op/errors.h"
#include "kernbench/platform/elaborate/foreign_routes.h"
#include "kernbench/systemc_models/core/registry.h"
#include "kernbench/systemc_models/fabric/control_message.h"
#include "kernbench/systemc_models/fabric/foreign_neighbour.h"
#include "kernbench/systemc_models/fabric/multicast.h"

namespace kernbench::elaborate {

ForeignNode::ForeignNode(sc_core::sc_module_name name, const ComponentConfig& config, const Parameters& parameters)
    : Component(name, config, checked(parameters)),
      end_resp_(end_resp_named(parameters.end_resp)),
      cycle_(parameters.clock_ghz > 0 ? sc_core::sc_time(1 / parameters.clock_ghz, sc_core::SC_NS)
                                      : sc_core::SC_ZERO_TIME),
      multicasts_(parameters.multicast) {}

ImplSpec ForeignNode::spec() {
  return spec_of<Parameters>("builtin.foreign", "foreign", "placeholder for a block that an sc_main binds")
      .transit()
      .passing("");
}

void ForeignNode::add_way(PeBlock& from, PeBlock& to, bool comes, bool goes) {
  ways_.push_back({&from, &to, comes, goes});
}

namespace {

std::string next_of(const FabricTransaction& x, uint32_t node) {
  return node > 0 && node <= x.hop_count ? x.hops[node - 1].in->node().owner().id() : std::string();
}

}  // namespace

std::string heads_for(const tlm::tlm_generic_payload& p) {
  if (const auto* x = p.get_extension<FabricTransaction>()) return next_of(*x, x->node);
  const auto* m = dynamic_cast<const ControlMessage*>(p.get_extension<SocketMessage>());
  return m ? m->next().owner().id() : std::string();
}

std::string heads_for(const tlm::tlm_generic_payload& p, uint64_t destination) {
  std::string next;
  const auto* x = p.get_extension<FabricTransaction>();
  if (!x || !x->multicast) return next;
  x->multicast->for_each([&](const FabricTransaction& m) {
    if (m.address == destination) next = next_of(m, x->node);
  });
  return next;
}

void ForeignNode::no_neighbour(const std::string& id, const char* what) const {
  throw InputError(this->id() + ": found '" + id + "', which is no neighbour that " + what);
}

void ForeignNode::bound_twice(const std::string& what) const {
  throw InputError(id() + ": found a second block bound " + what + ", expected one");
}

void ForeignNode::add_neighbour(FabricPort& port, bool sends, bool takes) {
  port.foreign_neighbour().set_name(id());
  port.foreign_neighbour().set_block(end_resp_, cycle_, multicasts_);
  neighbours_.push_back({&port, sends, takes});
}

FabricPort& ForeignNode::port_from(const std::string& neighbour) {
  for (Neighbour& n : neighbours_) {
    if (!n.sends || n.port->node().owner().id() != neighbour) continue;
    if (std::exchange(n.sends_bound, true)) bound_twice("that takes the requests of " + neighbour);
    return *n.port;
  }
  no_neighbour(neighbour, "sends requests to here");
}

FabricPort& ForeignNode::port_to(const std::string& neighbour) {
  for (Neighbour& n : neighbours_) {
    if (!n.takes || n.port->node().owner().id() != neighbour) continue;
    if (std::exchange(n.takes_bound, true)) bound_twice("that sends requests to " + neighbour);
    return *n.port;
  }
  no_neighbour(neighbour, "takes requests from here");
}

void ForeignNode::take_items(const std::string& from, PeForward& forward, sc_core::sc_port_b<PeBackward>& backward) {
  PePort* port = nullptr;
  for (Way& w : ways_) {
    if (!w.comes || w.from->block().id() != from) continue;
    if (!port) port = &w.from->bind_target(forward, backward);
    w.from->add_way(*port, *w.to);
    w.comes_bound = true;
  }
  if (!port) no_neighbour(from, "hands items on to here");
}

void ForeignNode::send_items(const std::string& to, sc_core::sc_port_b<PeForward>& forward, PeBackward& backward) {
  PePort* port = nullptr;
  for (Way& w : ways_) {
    if (!w.goes || w.to->block().id() != to) continue;
    if (!port) port = &w.to->bind_initiator(forward, backward);
    w.to->called_by(*port, *w.from);
    w.goes_bound = true;
  }
  if (!port) no_neighbour(to, "takes items from here");
}

void ForeignNode::not_bound(const std::string& what) const {
  throw InputError(id() + ": nothing is bound " + what +
                   "; the block in the place of a node of kind foreign is bound by an sc_main (Platform::foreign)");
}

/// Each neighbour that can send has a path to every other one that can receive.
void ForeignNode::before_end_of_elaboration() {
  const auto has_another = [this](const Neighbour& n, bool Neighbour::*role) {
    return std::any_of(neighbours_.begin(), neighbours_.end(), [&](const Neighbour& o) { return &o != &n && o.*role; });
  };
  for (const Neighbour& n : neighbours_) {
    const std::string& neighbour = n.port->node().owner().id();
    if (n.sends && !n.sends_bound && has_another(n, &Neighbour::takes))
      not_bound("that takes the requests of " + neighbour);
    if (n.takes && !n.takes_bound && has_another(n, &Neighbour::sends))
      not_bound("that sends requests to " + neighbour);
  }
  for (const Way& w : ways_) {
    if (w.comes && !w.comes_bound) not_bound("that takes the items of " + w.from->block().id());
    if (w.goes && !w.goes_bound) not_bound("that hands items on to " + w.to->block().id());
  }
}

KERNBENCH_REGISTER_COMPONENT(ForeignNode)

}  // namespace kernbench::elaborate
