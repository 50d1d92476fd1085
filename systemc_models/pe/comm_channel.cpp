#include "kernbench/systemc_models/pe/comm_channel.h"

namespace kernbench {

void CommChannel::push(QueueSegment& s, PePort& from) {
  waiting_.push({&s, timeline_.now_ns(), s.seq, &from});
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
  me.served_ = me.waiting_.pop();
  QueueSegment& s = *me.served_.segment;
  s.times().grant_ns = me.timeline_.now_ns();
  me.source_.granted(s);
}

void CommChannel::free_at(double free_ns) {
  QueueSegment& s = *served_.segment;
  statistics_.add(free_ns - s.times().grant_ns, s.nbytes);
  timeline_.at(free_ns, front_order(*pe_), &CommChannel::released, this);
}

void CommChannel::released(void* self, void*) {
  auto& me = *static_cast<CommChannel*>(self);
  const QueuedSegment w = me.served_;
  me.served_ = {};
  w.from->complete(w.segment->outgoing);
  me.take_soon();
}

}  // namespace kernbench
