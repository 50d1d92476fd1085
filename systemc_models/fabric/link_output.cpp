#include "kernbench/systemc_models/fabric/link_output.h"

#include <algorithm>

namespace kernbench {
namespace {

constexpr uint64_t kSourceRank = ~uint64_t{0};

}  // namespace

LinkOutput::LinkOutput(WormholeLinks& m, FabricPort& p)
    : mode(m),
      port(p),
      link(p.link),
      far_(p.neighbour()->node().input_buffers()),
      oldest_first_(p.node().input_buffers().oldest_first),
      node_(p.node().owner().index()),
      rank_(rank_of(p)) {
  source.rank = kSourceRank;
  const ChannelLayers& layers = p.node().fabric().channel_layers();
  for (const uint32_t c : {kRequests, kResponses}) {
    if (layers.divided[c].count(link.edge) > 0) layers_[c] = layers.count;
    if (const auto lines = layers.datelines[c].find(link.edge); lines != layers.datelines[c].end())
      datelines_[c] = lines->second;
  }
  if (!limited()) return;  // as many channels as messages
  for (const uint32_t c : {kRequests, kResponses}) {
    for (uint32_t n = 0; n < far_.vcs; ++n) channels_[c].push_back({c, n, far_.flits, n * layers_[c] / far_.vcs});
  }
}

/// Of the virtual channels by which a message goes on whose first flit is the queue's.
uint32_t LinkOutput::next_layer(const FlitQueue& q) const {
  const Flit& f = *q.first;
  const ChannelLayers::Datelines& lines = datelines_[class_of(f)];
  if (lines.empty() || q.place != FlitQueue::Place::input) return f.layer;
  return f.layer + static_cast<uint32_t>(lines.count({q.edge, f.layer}));
}

/// The one with most room that no message holds, of its layer; of equals in turns. Where there is no limit each message
/// has a channel of its own, so that none waits behind another.
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

/// Whose turn comes first behind the last one's, or who is ready longer.
bool LinkOutput::goes_before(const FlitQueue& a, const FlitQueue& b) const {
  if (!oldest_first_) return a.rank - last_rank_ - 1 < b.rank - last_rank_ - 1;
  return a.first->turn < b.first->turn;
}

FlitQueue* LinkOutput::choose() {
  FlitQueue* best = nullptr;
  for (FlitQueue* q : offers_) {
    if ((!best || goes_before(*q, *best)) && can_go(*q)) best = q;
  }
  return best;
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

}  // namespace kernbench
