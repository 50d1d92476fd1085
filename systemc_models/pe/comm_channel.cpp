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
  timeline_.at(timeline_.now_ns(), queue_order(*pe_, QueueTurn::comm), &CommChannel::take, this);
}

void CommChannel::take(void* self, void*) {
  auto& me = *static_cast<CommChannel*>(self);
  me.taking_ = false;
  me.served_ = me.waiting_.pop();
  QueueSegment& s = *me.served_.segment;
  const double now = me.timeline_.now_ns();
  s.times().grant_ns = now;
  s.account.comm_wait_ns = now - me.served_.since_ns;
  me.statistics_.waits.add(me.served_.since_ns, now);
  if (me.pe_->observer) me.pe_->observer->segment_taken(*me.pe_, QueueServer::comm, s, now);
  me.source_.granted(s);
}

void CommChannel::free_at(double free_ns) {
  QueueSegment& s = *served_.segment;
  const double from = s.times().grant_ns;
  statistics_.add(free_ns - from, s.nbytes);
  if (pe_->observer) pe_->observer->segment_served(*pe_, QueueServer::comm, s, from, free_ns);
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
