// SPDX-License-Identifier: Apache-2.0
#include "kernbench/systemc_models/pe/comm_channel.h"

#include <algorithm>

#include "kernbench/systemc_models/core/timeline.h"
#include "kernbench/systemc_models/pe/pe_port.h"

namespace kernbench::pe {

void CommChannel::push(QueueSegment& s, PePort& from) {
  waiting_.push({&s, timeline_.now_ns(), s.seq, &from});
  take_soon();
}

/// After all new segments of this instant have arrived.
void CommChannel::take_soon() {
  if (taking_ || served_.segment || waiting_.empty()) return;
  taking_ = true;
  timeline_.at(timeline_.now_ns(), queue_order(*pe_, QueueTurn::comm), call<&CommChannel::take>(*this));
}

void CommChannel::take() {
  taking_ = false;
  served_ = waiting_.pop();
  QueueSegment& s = *served_.segment;
  const double now = timeline_.now_ns();
  s.for_each([&](QueueSegment& each) {
    each.times().grant_ns = now;
    each.account.comm_wait_ns = now - served_.since_ns;
    if (pe_->observer) pe_->observer->segment_taken(*pe_, QueueServer::comm, each, now);
  });
  source_.granted(s);
}

void CommChannel::free_at(double free_ns) {
  QueueSegment& s = *served_.segment;
  free_ns = std::max(free_ns, s.times().grant_ns + s.paced_ns());
  s.for_each([&](QueueSegment& each) {
    if (pe_->observer) pe_->observer->segment_served(*pe_, QueueServer::comm, each, s.times().grant_ns, free_ns);
  });
  timeline_.at(free_ns, front_order(*pe_), call<&CommChannel::released>(*this));
}

void CommChannel::released() {
  const QueuedSegment w = served_;
  served_ = {};
  w.from->complete(w.segment->outgoing);
  take_soon();
}

}  // namespace kernbench::pe
