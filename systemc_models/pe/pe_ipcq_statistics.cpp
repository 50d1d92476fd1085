// SPDX-License-Identifier: Apache-2.0
// Statistics of a pe_ipcq: waits of its servers and calls, traffic of its queues, and notification of observers.
#include <algorithm>

#include "kernbench/systemc_models/memory/system.h"
#include "kernbench/systemc_models/pe/pe_ipcq.h"

namespace kernbench::pe {

/// Finds for each port the queue that ends there: one of an earlier launch, or a new one.
void PeIpcq::find_queues() {
  const auto known = static_cast<std::ptrdiff_t>(queues_.size());
  for (size_t p = 0; p < ports_.size(); ++p) {
    const QueuePort& port = ports_[p];
    const auto is_it = [&](const QueueTraffic& q) {
      return q.peer_port == port.name && q.port == port.peer_port_name && q.from == port.peer_pe;
    };
    const auto until = queues_.begin() + known;
    auto it = queues_.begin() + std::min(static_cast<std::ptrdiff_t>(p), known);  // the match if launches are alike
    if (it == until || !is_it(*it)) it = std::find_if(queues_.begin(), until, is_it);
    traffic_[p].queue = static_cast<size_t>(it - queues_.begin());
    if (it != until) continue;
    traffic_[p].queue = queues_.size();
    queues_.push_back({port.peer_pe, port.peer_port_name, pe_->id, port.name});
  }
}

void PeIpcq::note_no_slot(uint32_t port, bool stands) {
  note_standstill(port, QueueStall::no_slot, traffic_[port].no_slot, no_slot_, stands);
  tell_port(port);
}

void PeIpcq::note_no_message(uint32_t port, bool stands) {
  note_standstill(port, QueueStall::no_message, traffic_[port].no_message, no_message_, stands);
  tell_port(port);
}

/// The port's calls are blocked for that reason from now on, or no longer.
void PeIpcq::note_standstill(uint32_t port, QueueStall why, Standstill& s, Waits& waits, bool stands) {
  if (s.stands == stands) return;
  const double now = timeline().now_ns();
  s.stands = stands;
  if (stands) {
    s.since_ns = now;
    return waits.begin(now);
  }
  waits.end(now);
  if (pe_->observer && now > s.since_ns) pe_->observer->queue_stall(*pe_, port, why, s.since_ns, now);
}

void PeIpcq::note_read(const QueueSegment& s) {
  Traffic& t = traffic_[s.receiver_port];
  --t.fill;
  QueueTraffic& q = queues_[t.queue];
  ++q.segments;
  q.messages += s.last();
  q.bytes += s.nbytes;
  q.account.add(s.account);
  tell_port(s.receiver_port);
}

void PeIpcq::tell_port(uint32_t port) const {
  if (!pe_->observer) return;
  const Traffic& t = traffic_[port];
  pe_->observer->port_changed(*pe_, port, {t.fill, t.free_slots, t.no_slot.stands, t.no_message.stands},
                              timeline().now_ns());
}

void PeIpcq::tell_served(QueueServer server, const QueueSegment& s, double from, double to) const {
  if (!pe_->observer) return;
  pe_->observer->segment_taken(*pe_, server, s, from);
  pe_->observer->segment_served(*pe_, server, s, from, to);
}

std::vector<QueueServerStatistics> PeIpcq::queue_statistics() const {
  if (!dma_) return {};
  std::vector<QueueServerStatistics> all = {comm_, inbound_, writer_, reader_};
  all[0].stalls = {{"no_slot", no_slot_.ns()}, {"comm_busy", all[0].waits.ns()}};
  all[1].stalls = {{"inbound_busy", inbound_.waits.ns()}};
  all[2].stalls = {{"slot_writer_busy", writer_.waits.ns()}};
  all[3].stalls = {
      {"no_message", no_message_.ns()}, {"slot_reader_busy", reader_.waits.ns()}, {"credit", credit_.ns()}};
  if (!System::of(*this).mode().data_follow_header()) all.erase(all.begin() + 1);
  return all;
}

std::vector<QueueTraffic> PeIpcq::queue_traffic() const {
  std::vector<QueueTraffic> used;
  for (const QueueTraffic& q : queues_) {
    if (q.segments > 0) used.push_back(q);
  }
  return used;
}

}  // namespace kernbench::pe
