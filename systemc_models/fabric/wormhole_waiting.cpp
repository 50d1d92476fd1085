// SPDX-License-Identifier: Apache-2.0
// Description of blocked messages: which one waits for which.
#include <fmt/format.h>

#include <algorithm>

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

/// The buffer that the first flit in `v` waits for; null if it does not wait.
const InputChannel* behind(const InputChannel& v) {
  if (!v.offered) return nullptr;
  const LinkOutput& o = *next_port(*v.first).link.output;
  const OutputChannel* next = awaited(o, v);
  InputPort* there = o.port.neighbour()->input;  // null: nothing has arrived there yet
  return next && there ? &there->channel(next->message_class, next->number) : nullptr;
}

std::string circle_from(const InputChannel& start) {
  std::vector<const InputChannel*> way;
  const InputChannel* v = &start;
  for (; v && std::find(way.begin(), way.end(), v) == way.end(); v = behind(*v)) way.push_back(v);
  if (!v) return {};
  std::string text = "in a cycle: " + link_to(*v);
  for (const InputChannel* w = behind(*v); w != v; w = behind(*w)) text += ", which waits for " + link_to(*w);
  return text + ", which waits for the first (" + name_of(v->message_class) + ")";
}

}  // namespace

std::vector<std::string> WormholeLinks::waiting() const {
  std::vector<std::string> lines;
  std::string circle;
  for (const LinkOutput& o : outputs_) {
    for (const FlitQueue* q : o.offers()) {
      if (circle.empty() && q->place == FlitQueue::Place::input)
        circle = circle_from(static_cast<const InputChannel&>(*q));
      if (const OutputChannel* v = awaited(o, *q)) lines.push_back(text_of(o, *q, *v));
    }
  }
  if (!circle.empty()) lines.insert(lines.begin(), circle);
  return lines;
}

}  // namespace kernbench::fabric
