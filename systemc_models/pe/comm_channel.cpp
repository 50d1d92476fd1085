#include "kernbench/systemc_models/pe/comm_channel.h"

#include <algorithm>

namespace kernbench {

/// At one instant in program order of the sends, then in order of segments.
void CommChannel::push(QueueSegment& s, PePort& from) {
  const double now = timeline_.now_ns();
  auto at = waiting_.end();
  while (at != waiting_.begin()) {
    const Waiting& before = *std::prev(at);
    const bool earlier = Timeline::to_fs(before.since_ns) < Timeline::to_fs(now);
    if (earlier || std::pair(before.segment->seq, before.segment->index) < std::pair(s.seq, s.index)) break;
    --at;
  }
  waiting_.insert(at, {&s, &from, now});
  take_soon();
}

/// When all that is new at this instant is there.
void CommChannel::take_soon() {
  if (taking_ || served_.segment || waiting_.empty()) return;
  taking_ = true;
  timeline_.at(timeline_.now_ns(), queue_order(*pe_, QueueServer::comm), &CommChannel::take, this);
}

void CommChannel::take(void* self, void*) {
  auto& me = *static_cast<CommChannel*>(self);
  me.taking_ = false;
  me.served_ = me.waiting_.front();
  me.waiting_.pop_front();
  QueueSegment& s = *me.served_.segment;
  s.times().grant_ns = me.timeline_.now_ns();
  me.source_.granted(s);
}

void CommChannel::free_at(double free_ns) {
  const QueueSegment& s = *served_.segment;
  statistics_.add(free_ns - s.message->segments[s.index].grant_ns, s.nbytes);
  timeline_.at(free_ns, front_order(*pe_), &CommChannel::released, this);
}

void CommChannel::released(void* self, void*) {
  auto& me = *static_cast<CommChannel*>(self);
  const Waiting w = me.served_;
  me.served_ = {};
  w.from->complete(w.segment->outgoing);
  me.take_soon();
}

}  // namespace kernbench
