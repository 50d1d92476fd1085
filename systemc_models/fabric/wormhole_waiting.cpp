// What to say of messages that stand still: who waits for whom.
#include <fmt/format.h>

#include <algorithm>

#include "kernbench/phase2/op/address_text.h"
#include "kernbench/systemc_models/fabric/wormhole_links.h"

namespace kernbench {
namespace {

const char* name_of(uint32_t message_class) {
  return message_class == kRequests ? "requests" : "responses";
}

std::string link_of(const LinkOutput& o) {
  return o.port.node().owner().id() + " -> " + o.port.neighbour()->node().owner().id();
}

/// The channel for which the first flit of a queue waits; of several the first.
const VirtualChannel& awaited(const LinkOutput& o, const FlitQueue& q) {
  return q.onto ? *q.onto : o.channels(class_of(*q.first)).front();
}

std::string text_of(const LinkOutput& o, const FlitQueue& q) {
  const Flit& f = *q.first;
  const FabricTransaction& x = *f.transaction;
  const VirtualChannel& v = awaited(o, q);
  const uint32_t most = o.far_buffers().flits;
  const std::string what = !q.onto && v.held ? "a channel that no message holds" : "room";
  return fmt::format("{}: {} of {} ({} of {} bytes at {}), flit {}, waits for {}: channel {} of {} has {} of {} flits",
                     link_of(o), f.response ? "response" : "request", x.initiator->owner().id(),
                     x.write ? "write" : "read", x.nbytes, address_text(x.address), f.index, what, v.number,
                     name_of(v.message_class), most - v.room, most);
}

/// The channel that what stands first in `v` waits for; null where it does not wait.
const VirtualChannel* behind(const VirtualChannel& v) {
  if (!v.offered) return nullptr;
  const Flit& f = *v.first;
  return &awaited(*next_port(f).link.output, v);
}

std::string circle_from(const VirtualChannel& start) {
  std::vector<const VirtualChannel*> way;
  const VirtualChannel* v = &start;
  for (; v && std::find(way.begin(), way.end(), v) == way.end(); v = behind(*v)) way.push_back(v);
  if (!v) return {};
  std::string text = "in a circle: " + link_of(*v->output);
  for (const VirtualChannel* w = behind(*v); w != v; w = behind(*w)) text += ", which waits for " + link_of(*w->output);
  return text + ", which waits for the first (" + name_of(v->message_class) + ")";
}

}  // namespace

std::vector<std::string> WormholeLinks::waiting() const {
  std::vector<std::string> lines;
  std::string circle;
  for (const auto& o : outputs_) {
    for (const FlitQueue* q : o->offers()) {
      if (circle.empty() && q->place == FlitQueue::Place::input)
        circle = circle_from(static_cast<const VirtualChannel&>(*q));
      lines.push_back(text_of(*o, *q));
    }
  }
  if (!circle.empty()) lines.insert(lines.begin(), circle);
  return lines;
}

}  // namespace kernbench
