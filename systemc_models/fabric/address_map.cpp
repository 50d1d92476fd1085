// SPDX-License-Identifier: Apache-2.0
#include "kernbench/systemc_models/fabric/address_map.h"

#include <algorithm>
#include <stdexcept>

#include "kernbench/phase2/op/address_text.h"
#include "kernbench/systemc_models/fabric/fabric.h"
#include "kernbench/systemc_models/fabric/memory_target.h"

namespace kernbench::fabric {

AddressMap::~AddressMap() = default;

void AddressMap::add(MemoryTarget& memory, uint64_t base, uint64_t size, Space space) {
  add(Range{{base, size, space, &memory}, &memory, nullptr, 0});
  memory.set_base(base);
}

void AddressMap::add_foreign(FabricNode& behind, size_t binding, uint64_t base, uint64_t size, Space space) {
  add(Range{{base, size, space, nullptr}, nullptr, &behind, binding});
}

MemoryWindow AddressMap::window_at(uint64_t address) const {
  const Range* range = range_at(address);
  return range ? range->window : MemoryWindow{};
}

std::pair<uint64_t, uint64_t> AddressMap::gap_at(uint64_t address) const {
  const auto next = ranges_.upper_bound(address);
  return {next == ranges_.begin() ? 0 : std::prev(next)->first + std::prev(next)->second.window.size,
          next == ranges_.end() ? ~uint64_t{0} : next->first - 1};
}

void AddressMap::add(const Range& range) {
  const MemoryWindow& r = range.window;
  const std::string text = "[" + address_text(r.base) + ", + " + std::to_string(r.size) + ")";
  if (r.size == 0 || r.base + (r.size - 1) < r.base)
    throw std::invalid_argument("address map: " + text + " is no range of addresses");
  const auto next = ranges_.lower_bound(r.base);
  const bool hits_next = next != ranges_.end() && next->first - r.base < r.size;
  const bool hits_previous =
      next != ranges_.begin() && r.base - std::prev(next)->first < std::prev(next)->second.window.size;
  if (hits_next || hits_previous) throw std::invalid_argument("address map: " + text + " overlaps another range");
  ranges_.emplace(r.base, range);
}

const AddressMap::Range* AddressMap::range_at(uint64_t address) const {
  auto it = ranges_.upper_bound(address);
  if (it == ranges_.begin()) return nullptr;
  --it;
  return address - it->first < it->second.window.size ? &it->second : nullptr;
}

const Route& AddressMap::route(uint32_t initiator, uint64_t address, uint64_t nbytes, bool write) {
  FabricNode* from = &node(initiator);
  const Range* range = range_at(address);
  if (!range || !range->window.holds(address, nbytes)) {
    throw AccessError(from->owner().id() + ": " + (write ? "write to " : "read of ") + address_text(address) + ", " +
                      std::to_string(nbytes) +
                      " bytes: " + (range ? "runs over the end of its memory" : "no memory is there"));
  }
  std::unique_ptr<Route>& r = routes_[{initiator, range->window.base}];
  if (!r) r = make_route(*from, *range);
  return *r;
}

namespace {

FabricPort& numbered(const FabricNode& node, const char* socket, const std::vector<FabricPort*>* ports, size_t number) {
  if (ports && number < ports->size()) return *(*ports)[number];
  throw AccessError(node.owner().id() + ": nothing is bound to its " + socket + " as number " + std::to_string(number) +
                    ", expected less than " + std::to_string(ports ? ports->size() : 0));
}

FabricPort& out_of(FabricNode& node, size_t number) {
  const FabricInitiatorSocket* socket = node.initiator_socket();
  return numbered(node, "initiator socket", socket ? &socket->ports() : nullptr, number);
}

FabricPort& into(FabricNode& node, size_t number) {
  const FabricTargetSocket* socket = node.target_socket();
  return numbered(node, "target socket", socket ? &socket->ports() : nullptr, number);
}

}  // namespace

PassedBy AddressMap::passed_by() const {
  PassedBy all;
  for (const ForeignWay& w : ways_) all.emplace(&out_of(*w.from, w.out), &into(*w.to, w.in));
  return all;
}

FabricNode& AddressMap::node(uint32_t index) const {
  if (FabricNode* node = fabric_.node(index)) return *node;
  throw AccessError("block " + std::to_string(index) + " has no side that faces the fabric");
}

const Route& AddressMap::message_route(uint32_t from, uint32_t to) {
  std::unique_ptr<Route>& r = message_routes_[{from, to}];
  if (r) return *r;
  auto route = std::make_unique<Route>();
  route->hops = fewest_hops(node(from), node(to), passed_by());
  measure(*route);
  r = std::move(route);
  return *r;
}

const Route& AddressMap::reversed_message_route(uint32_t from, uint32_t to) {
  std::unique_ptr<Route>& r = reversed_[{from, to}];
  if (r) return *r;
  r = std::make_unique<Route>();
  const std::vector<Hop>& there = message_route(from, to).hops;
  for (auto hop = there.rbegin(); hop != there.rend(); ++hop) r->hops.push_back({hop->in, hop->out});
  measure(*r);
  return *r;
}

std::unique_ptr<Route> AddressMap::make_route(FabricNode& from, const Range& range) {
  FabricNode* target = range.memory ? static_cast<FabricNode*>(range.memory) : range.behind;
  auto r = std::make_unique<Route>();
  r->target = range.memory;
  r->base = range.window.base;
  r->size = range.window.size;
  r->returns = true;
  r->hops = fewest_hops(from, *target, passed_by());
  if (range.behind) r->hops.push_back({&out_of(*target, range.binding), nullptr});
  measure(*r);
  return r;
}

}  // namespace kernbench::fabric
