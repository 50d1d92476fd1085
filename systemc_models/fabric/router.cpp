// SPDX-License-Identifier: Apache-2.0
#include "kernbench/systemc_models/fabric/router.h"

#include <algorithm>
#include <list>
#include <stdexcept>
#include <typeinfo>

#include "kernbench/phase2/op/address_text.h"
#include "kernbench/phase2/op/errors.h"
#include "kernbench/phase2/text/text.h"
#include "kernbench/systemc_models/core/own_class.h"
#include "kernbench/systemc_models/core/registry.h"

namespace kernbench::fabric {

namespace {

/// Null if the block does not reduce.
std::unique_ptr<const ReduceRules> reduce_rules_of(const Component& block, const RouterParameters& p) {
  const auto fault = [&](const std::string& what) { throw InputError(block.id() + ": " + what); };
  if (!p.reduces) return nullptr;
  if (!p.reduce_bw_gbs) fault("reduces: true without reduce_bw_gbs, expected a rate in GB/s");
  if (p.buffer_flits) fault("found reduces and buffer_flits, expected one of them");
  auto rules = std::make_unique<ReduceRules>();
  rules->bw_gbs = *p.reduce_bw_gbs;
  rules->reduce_ns = p.reduce_ns;
  if (p.reduce_dtypes == "all") return rules;
  for (const std::string& name : parts_between(',', p.reduce_dtypes)) {
    const auto dtype = parse_dtype(name);
    if (!dtype)
      fault("reduce_dtypes: found '" + p.reduce_dtypes + "', expected all, or element types joined by commas");
    rules->dtypes.push_back(*dtype);
  }
  return rules;
}

}  // namespace

/// The queue before a link of a user-defined router: ready messages, and whether an arbitration is pending.
struct Router::Queue {
  Router* router = nullptr;
  FabricPort* port = nullptr;
  std::list<WaitingMessage> to_come;  ///< on the timeline until they are ready
  std::vector<WaitingMessage> ready;
  bool asking = false;

  void became_ready(const WaitingMessage& message) {
    const auto it =
        std::find_if(to_come.begin(), to_come.end(), [&](const WaitingMessage& m) { return &m == &message; });
    ready.push_back(*it);
    to_come.erase(it);
    ask_when_free();
  }
  void ask_when_free() {
    if (asking || ready.empty()) return;
    asking = true;
    Timeline& timeline = router->timeline();
    timeline.at(std::max(timeline.now_ns(), port->link.free_ns), Order(Order::kArbitration, router->index(), 0),
                call<&Queue::ask>(*this));
  }
  void ask() {
    asking = false;
    const size_t chosen = router->choose(*port, ready);
    const WaitingMessage m = ready[chosen];
    ready.erase(ready.begin() + static_cast<std::ptrdiff_t>(chosen));
    m.turn();
    ask_when_free();
  }
};

bool Router::chooses_first() const {
#ifdef __clang__
  return false;
#else
#pragma GCC diagnostic ignored "-Wpmf-conversions"
  using First = size_t (*)(Router*, const FabricPort&, const std::vector<WaitingMessage>&);
  return First(const_cast<Router*>(this)->*(&Router::first)) != First(&Router::first);
#endif
}

size_t Router::choose(const FabricPort& port, const std::vector<WaitingMessage>& ready) {
  const size_t chosen = ask_own(*this, "first()", [&] { return first(port, ready); });
  if (chosen >= ready.size())
    throw OwnClassError(*this, "first() gave " + std::to_string(chosen) + ", expected less than " +
                                   std::to_string(ready.size()) + ", the number of messages");
  return chosen;
}

Router::Router(sc_core::sc_module_name name, const ComponentConfig& config, const Parameters& parameters)
    : Component(name, config, checked(parameters)),
      RouterRules{parameters.store_and_forward, parameters.multicast},
      FabricNode(static_cast<Component&>(*this)),
      reduces_(reduce_rules_of(*this, parameters)),
      allocator_(SwitchAllocator::registry().make(parameters.allocation)),
      buffers_(buffers_of(parameters, allocator_.get())) {}

Router::~Router() = default;

bool Router::own_rules() const {
  return typeid(*this) != typeid(Router);
}

FabricPort& Router::way(const FabricTransaction& x, FabricPort& from) {
  // Among several shortest routes, the proven one.
  if (fabric().timing().proven && x.node < x.hop_count && x.hops[x.node - 1].in == &from &&
      &x.hops[x.node].out->node() == static_cast<FabricNode*>(this))
    return *x.hops[x.node].out;
  if (x.message) return *fabric().routes().message_route(index(), x.end).hops.front().out;
  return *fabric().routes().route(index(), x.address, 1, x.write && !x.is_atomic()).hops.front().out;
}

double Router::own_delay_ns(const PassingMessage& m) const {
  return checked_ns(*this, "delay_ns()", ask_own(*this, "delay_ns()", [&] { return delay_ns(m); }));
}

FabricPort& Router::find_way(FabricTransaction& x, FabricPort& from) {
  constexpr uint32_t kMostHops = 4096;
  x.note_way_in(from);
  FabricPort& port = *ask_own(*this, "way()", [&] { return &way(x, from); });
  if (&port.node() != static_cast<FabricNode*>(this))
    throw OwnClassError(*this, "way() gave a port of " + port.node().owner().id() + ", expected one of its own");
  if (x.node > kMostHops)
    throw OwnClassError(*this, "way() leads in circles: over " + std::to_string(kMostHops) + " hops to " +
                                   (x.message ? std::string("a message's end") : address_text(x.address)));
  // With finite buffers, a path other than the route was not proven deadlock-free.
  if (fabric().timing().proven && x.node < x.hop_count && !x.moved && x.hops[x.node].out != &port)
    throw OwnClassError(*this, "way() leaves the route to " +
                                   (x.message ? std::string("a message's end") : address_text(x.address)) +
                                   ", for which alone it is proven that no deadlock can be; expected that way, or "
                                   "timing.prove_deadlock_free: false");
  x.note_way_out(port);
  return port;
}

size_t Router::first(const FabricPort&, const std::vector<WaitingMessage>&) {
  return 0;
}

void Router::arbitrate(FabricPort& port, const WaitingMessage& m) {
  std::unique_ptr<Queue>& q = queues_[&port];
  if (!q) {
    q = std::make_unique<Queue>();
    q->router = this;
    q->port = &port;
  }
  q->to_come.push_back(m);
  timeline().at(m.ready_ns, m.order, call<&Queue::became_ready>(*q, q->to_come.back()));
}

namespace {

// The kinds that only pass traffic on differ only in their names.
struct PlainKind {
  const char* kind;
  const char* help;
};
constexpr PlainKind kPlainKinds[] = {
    {"router", "a router of a cube's mesh"},           {"xbar", "a crossbar"},
    {"bridge", "a bridge between crossbar halves"},    {"switch", "the tray's PCIe switch"},
    {"ucie", "a UCIe port or one of its connections"}, {"noc", "a network on chip as one node"},
    {"io_noc", "the network of an IO chiplet"},
};
const bool plain_kinds_registered = [] {
  for (const PlainKind& k : kPlainKinds) {
    ImplSpec spec = spec_of<RouterParameters>(std::string("builtin.") + k.kind, k.kind, k.help).transit();
    if (spec.kind == "switch") spec.off_die();
    if (spec.kind == "ucie") spec.phy("ucie");
    component_registry().add(std::move(spec), make_component<Router>);
  }
  return true;
}();

}  // namespace
}  // namespace kernbench::fabric
