// SPDX-License-Identifier: Apache-2.0
#include "kernbench/systemc_models/fabric/link_output.h"

#include <algorithm>
#include <iterator>
#include <memory>

#include "kernbench/systemc_models/fabric/input_port.h"
#include "kernbench/systemc_models/fabric/router.h"

namespace kernbench::fabric {
namespace {

constexpr uint64_t kSourceRank = ~uint64_t{0};

const SwitchAllocator& allocator_of(const FabricNode& node) {
  static const std::unique_ptr<SwitchAllocator> unlimited = SwitchAllocator::registry().make("oldest_first");
  const SwitchAllocator* own = node.input_buffers().allocator;
  return own ? *own : *unlimited;
}

Router* own_router(FabricNode& node) {
  auto* router = dynamic_cast<Router*>(&node);
  return router && router->own_rules() ? router : nullptr;
}

SwitchRequest request_of(const FlitQueue& q) {
  const Flit& f = *q.first;
  return {q.rank, f.turn, f.index, f.response, f.transaction};
}

}  // namespace

LinkOutput::LinkOutput(WormholeLinks& m, FabricPort& p)
    : mode(m),
      port(p),
      link(p.link),
      far_(p.neighbour() ? p.neighbour()->node().input_buffers() : InputBuffers{}),
      allocator_(allocator_of(p.node())),
      router_(own_router(p.node())),
      at_arrival_(!router_ && allocator_.at_arrival()),
      node_(p.node().owner().index()),
      rank_(p.rank) {
  source.rank = kSourceRank;
  const ChannelLayers& layers = p.node().fabric().channel_layers();
  for (const uint32_t c : {kRequests, kResponses}) {
    if (layers.divided[c].count(link.edge) > 0) layers_[c] = layers.count;
    if (const auto lines = layers.datelines[c].find(link.edge); lines != layers.datelines[c].end())
      datelines_[c] = lines->second;
  }
  if (!limited()) return;  // there are as many channels as messages
  for (const uint32_t c : {kRequests, kResponses}) {
    for (uint32_t n = 0; n < far_.vcs; ++n) channels_[c].push_back({c, n, far_.flits, n * layers_[c] / far_.vcs});
  }
}

/// Selects the virtual channel for the message whose first flit is at the head of the queue.
uint32_t LinkOutput::next_layer(const FlitQueue& q) const {
  const Flit& f = *q.first;
  const ChannelLayers::Datelines& lines = datelines_[class_of(f)];
  if (lines.empty() || !q.passes_on()) return f.layer;
  return f.layer + static_cast<uint32_t>(lines.count({q.edge, f.layer}));
}

/// The free channel with the most space in the layer; among equals round robin. Without a limit, each message has its
/// own channel, so that none waits behind another.
OutputChannel* LinkOutput::find_channel(const FlitQueue& q) {
  const uint32_t c = class_of(*q.first);
  if (!limited()) {
    if (idle_[c].empty()) {
      channels_[c].push_back({c, static_cast<uint32_t>(channels_[c].size()), 1});
      idle_[c].push_back(&channels_[c].back());
    }
    return idle_[c].back();
  }
  const uint32_t layer = layers_[c] > 1 ? next_layer(q) : 0;
  OutputChannel* best = nullptr;
  for (uint32_t i = 0; i < far_.vcs; ++i) {
    OutputChannel& v = channels_[c][(last_taken_[c] + 1 + i) % far_.vcs];
    if (v.layer == layer && !v.held && v.room > (best ? best->room : 0)) best = &v;
  }
  return best;
}

bool LinkOutput::can_go(const FlitQueue& q) {
  return q.onto ? q.onto->room > 0 : find_channel(q) != nullptr;
}

FlitQueue* LinkOutput::choose() {
  if (router_) return choose_as_router();
  FlitQueue* best = nullptr;
  for (FlitQueue* q : offers_) {
    const bool before = !best || allocator_.goes_before(request_of(*q), request_of(*best), last_rank_);
    if (before && can_go(*q)) best = q;
  }
  return best;
}

FlitQueue* LinkOutput::choose_as_router() {
  std::vector<FlitQueue*> able;
  std::copy_if(offers_.begin(), offers_.end(), std::back_inserter(able), [&](FlitQueue* q) { return can_go(*q); });
  if (able.empty()) return nullptr;
  std::sort(able.begin(), able.end(),
            [](const FlitQueue* a, const FlitQueue* b) { return a->first->turn < b->first->turn; });
  std::vector<WaitingMessage> ready;
  for (const FlitQueue* q : able) {
    const Flit& f = *q->first;
    WaitingMessage m{f.time_ns, f.order, {}, f.transaction, nullptr};
    if (f.at && q->passes_on()) m.from = f.at->port.port.incoming();
    ready.push_back(m);
  }
  return able[router_->choose(port, ready)];
}

void LinkOutput::take(FlitQueue& q) {
  Flit& f = *q.first;
  if (!q.onto) {
    q.onto = find_channel(q);
    f.layer = next_layer(q);
    q.onto->held = true;
    last_taken_[q.onto->message_class] = q.onto->number;
    if (!limited()) idle_[q.onto->message_class].pop_back();
  }
  OutputChannel& v = *q.onto;
  f.channel = v.number;
  if (limited()) --v.room;
  if (f.last) {
    v.held = false;
    if (!limited()) idle_[v.message_class].push_back(&v);
    q.onto = nullptr;
  }
  last_rank_ = q.rank;
  q.offered = false;
  offers_.erase(std::find(offers_.begin(), offers_.end(), &q));
}

ResponseQueue& LinkOutput::acquire_response() {
  if (idle_responses_.empty()) idle_responses_.push_back(&responses_.emplace_back(*this));
  ResponseQueue& q = *idle_responses_.back();
  idle_responses_.pop_back();
  return q;
}

}  // namespace kernbench::fabric
