// SPDX-License-Identifier: Apache-2.0
// Description of blocked messages: which one waits for which.
#include <fmt/format.h>

#include <algorithm>
#include <unordered_set>

#include "kernbench/phase2/op/address_text.h"
#include "kernbench/systemc_models/fabric/wormhole_links.h"

namespace kernbench::fabric {
namespace {

const char* name_of(uint32_t message_class) {
  return message_class == kRequests ? "requests" : "responses";
}

std::string link_between(const FabricPort& from, const FabricPort& to) {
  return from.node().owner().id() + " -> " + to.node().owner().id();
}

std::string link_to(const InputChannel& v) {
  const FabricPort& in = v.port.port;
  return link_between(*in.neighbour(), in);
}

/// The channel that the first flit of a queue waits for; the first of several. Null: it waits only for its turn,
/// because there is no limit.
const OutputChannel* awaited(const LinkOutput& o, const FlitQueue& q) {
  if (o.far_buffers().flits == 0) return nullptr;
  return q.onto ? q.onto : &o.channels(class_of(*q.first)).front();
}

std::string text_of(const LinkOutput& o, const FlitQueue& q, const OutputChannel& v) {
  const Flit& f = *q.first;
  const FabricTransaction& x = *f.transaction;
  const uint32_t most = o.far_buffers().flits;
  const std::string what = !q.onto && v.held ? "a channel that no message holds" : "room";
  return fmt::format("{}: {} of {} ({} of {} bytes at {}), flit {}, waits for {}: channel {} of {} has {} of {} flits",
                     link_between(o.port, *o.port.neighbour()), f.response ? "response" : "request",
                     x.initiator->owner().id(), x.message ? "write" : name_of_access(x), x.nbytes,
                     address_text(x.address), f.index, what, v.number, name_of(v.message_class), most - v.room, most);
}

/// The buffer that the first flit of `q` waits to enter; null if it does not wait.
const InputChannel* behind(const FlitQueue& q) {
  if (!q.offered) return nullptr;
  const LinkOutput& o = *next_port(*q.first).link.output;
  const OutputChannel* next = awaited(o, q);
  InputPort* there = o.port.neighbour()->input;  // null: no flit has arrived there yet
  return next && there ? &there->channel(next->message_class, next->number) : nullptr;
}

/// The buffers that the first flit in `v`, or its copies at a fork, wait to enter.
std::vector<const InputChannel*> all_behind(const InputChannel& v) {
  if (!v.first || !v.first->branch) return {behind(v)};
  std::vector<const InputChannel*> all;
  for (const Branch& b : v.first->branch->fork.branches) all.push_back(behind(b));
  return all;
}

/// Extends `way` until it closes a cycle. `seen`: channels that lead to no cycle.
bool find_circle(std::vector<const InputChannel*>& way, std::unordered_set<const InputChannel*>& seen) {
  for (const InputChannel* next : all_behind(*way.back())) {
    if (!next || seen.count(next) > 0) continue;
    const auto met = std::find(way.begin(), way.end(), next);
    if (met != way.end()) {
      way.erase(way.begin(), met);
      return true;
    }
    way.push_back(next);
    if (find_circle(way, seen)) return true;
  }
  seen.insert(way.back());
  way.pop_back();
  return false;
}

std::string circle_from(const InputChannel& start) {
  std::vector<const InputChannel*> way{&start};
  std::unordered_set<const InputChannel*> seen;
  if (!find_circle(way, seen)) return {};
  std::string text = "in a cycle: " + link_to(*way.front());
  for (size_t i = 1; i < way.size(); ++i) text += ", which waits for " + link_to(*way[i]);
  return text + ", which waits for the first (" + name_of(way.front()->message_class) + ")";
}

}  // namespace

std::vector<std::string> WormholeLinks::waiting() const {
  std::vector<std::string> lines;
  std::string circle;
  for (const LinkOutput& o : outputs_) {
    for (const FlitQueue* q : o.offers()) {
      if (circle.empty() && q->passes_on()) circle = circle_from(*q->first->at);
      if (const OutputChannel* v = awaited(o, *q)) lines.push_back(text_of(o, *q, *v));
    }
  }
  if (!circle.empty()) lines.insert(lines.begin(), circle);
  return lines;
}

}  // namespace kernbench::fabric
