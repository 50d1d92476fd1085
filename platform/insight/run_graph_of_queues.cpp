// SPDX-License-Identifier: Apache-2.0
// Messages between PEs (collectives rules §10).
#include <algorithm>

#include "kernbench/platform/elaborate/machine.h"
#include "kernbench/platform/insight/run_graph_recorder.h"
#include "kernbench/systemc_models/fabric/fabric_initiator.h"
#include "kernbench/systemc_models/fabric/fabric_port.h"
#include "kernbench/systemc_models/fabric/multicast.h"
#include "kernbench/systemc_models/fabric/path.h"
#include "kernbench/systemc_models/pe/queue_message.h"

namespace kernbench::insight {
void RunGraphRecorder::ports_opened(const Pe& pe, double) {
  PeState& s = state(pe);
  s.ports.assign(pe.ipcq->ports().size(), {});
}

/// The call is appended to its port's list after its cost at pe_ipcq.
Cause RunGraphRecorder::stands(PeState& s, const QueueCall* call) {
  const auto it = call ? commands_.find(call->command) : commands_.end();
  if (it == commands_.end()) return {};
  if (call->protocol_ns > 0)
    return {it->second.at, graph_.cost({Resource::queues, false, s.queues, s.queues_ns + call->protocol_ns})};
  return {it->second.at, part_cost(s.stand, Resource::queues, s.queues, s.queues_ns)};
}

void RunGraphRecorder::slot_taken(const Pe& pe, const QueueSegment& segment, double t) {
  PeState& s = state(pe);
  idle_.exchanges(pe.index);
  PortState& port = s.ports[segment.sender_port];
  causes_ = {stands(s, segment.sent_by)};
  const auto waits_at = [&](uint32_t p, uint64_t number) {
    const PortState& of = s.ports[p];
    const uint64_t slots = pe.ipcq->ports()[p].peer_ring.slots;
    causes_.push_back({of.last_slot, 0});
    if (number >= slots && number - slots < of.credits.size())
      causes_.push_back({of.credits[number - slots], graph_.marked(Limit::slots)});
  };
  // A send_all takes its slots when each of its ports has a free one. Earlier ports have counted the segment already.
  bool counted = true;
  for (const uint32_t p : segment.sent_by->ports) {
    if (p == segment.sender_port) counted = false;
    if (p != segment.sender_port) waits_at(p, s.ports[p].segments - counted);
  }
  waits_at(segment.sender_port, port.segments++);
  const auto command = commands_.find(segment.sent_by->command);
  const OpNumber op = command == commands_.end() ? 0 : command->second.op;
  port.last_slot = add(t, op);
  segments_[&segment] = {port.last_slot, op, nullptr};
  if (segment.last()) note(s.sent, segment.sent_by->seq, port.last_slot);
}

void RunGraphRecorder::segment_taken(const Pe& pe, QueueServer server, const QueueSegment& segment, double t) {
  const auto it = segments_.find(&segment);
  if (server != QueueServer::comm || it == segments_.end()) return;
  PeState& s = state(pe);
  comes_to(s.comm_asked, {it->second.at, 0});
  it->second.at = graph_.add(t, it->second.op, {{it->second.at, 0}, {s.comm_free, 0}});
}

/// vc_comm is free when the data would have passed the slowest link; with flits, when they have passed the first link.
void RunGraphRecorder::comm_served(PeState& s, const QueueSegment& segment, Segment& sent, double t) {
  leaves(segment, sent);
  for (const QueueSegment* copy : segment.copies) leaves(*copy, segments_[copy]);
  if (segment.paced_ns() > 0)
    causes_.push_back({sent.at, graph_.cost({Resource::queues, false, s.queues, segment.paced_ns()})});
  s.comm_free = add(t, sent.op);
  if (segment.last()) note(s.calls_done, segment.seq, s.comm_free);
}

/// Adds the causes that the segment's departure waits for.
void RunGraphRecorder::leaves(const QueueSegment& segment, const Segment& sent) {
  const Route& route = *segment.route;
  const PathHop source = route.path(false)[0];
  const auto access = accesses_.find(
      sent.posted && sent.posted->multicast ? &sent.posted->multicast->carrier_of(*sent.posted) : sent.posted);
  if (access != accesses_.end() && !access->second.by_header) {
    causes_.push_back({links_[source.link->edge].taken.from, links_[source.link->edge].held});
  } else if (access != accesses_.end()) {
    const double overhead_ns = source.cost({true, false, 0, segment.nbytes}).overhead_ns;
    const Traveller& header = access->second.travellers.front();
    const Cause left = header.by ? header.took : then(header.last, of_node(source.node().owner(), overhead_ns));
    with_bandwidths(left, way_of(route).write, static_cast<double>(segment.nbytes));
  }
}

void RunGraphRecorder::message_came(const FabricTransaction& x, const QueueSegment& segment, Segment& s,
                                    const Cause& there, bool by_header, double t) {
  if (x.channel == FabricInitiator::kComm) {
    PeState& receiver = pes_[pe_of_node_[segment.receiver_dma]];
    PortState& port = receiver.ports[segment.receiver_port];
    // A header does not arrive before its predecessor.
    s.at = port.last_arrival = graph_.add(t, s.op, {there, {port.last_arrival, 0}});
    return;
  }
  PeState& sender = pes_[pe_of_node_[segment.sender_dma]];
  if (!by_header) {
    causes_.push_back(there);
  } else {
    with_bandwidths(there, way_of(*x.route).write, static_cast<double>(x.nbytes));
  }
  const Moment credit = add(t, s.op);
  sender.ports[segment.sender_port].credits.push_back(credit);
  if (const QueueCall* call = segment.received_by; call && segment.last())
    note(pes_[pe_of_node_[segment.receiver_dma]].calls_done, call->seq, credit);
  segments_.erase(&segment);
}

void RunGraphRecorder::segment_served(const Pe& pe, QueueServer server, const QueueSegment& segment, double from,
                                      double to) {
  const auto it = segments_.find(&segment);
  if (it == segments_.end()) return;
  Segment& sent = it->second;
  PeState& s = state(pe);
  const auto serve = [&](Moment& free, const CostPart& part, const Cause& called) {
    const Cost held = graph_.cost(part);
    free = graph_.add(to, sent.op, {{sent.at, held}, {free, held}, then(called, part)});
    sent.at = free;
  };
  const CostPart slot{Resource::queues, false, s.queues, to - from};
  switch (server) {
    case QueueServer::comm:
      if (segment.is_copy) return;
      return comm_served(s, segment, sent, to);
    case QueueServer::inbound: {  // as long as the route's slowest link, which depends on the machine
      comes_to(s.inbound_asked, {sent.at, 0});
      if (segment.paced_ns() > (to - from) * (1 - 1e-9)) return serve(s.inbound_free, slot, {});  // by its protocol
      const std::vector<CostPart>& per_byte = way_of(*segment.route).write;
      const auto slowest = std::max_element(per_byte.begin(), per_byte.end(),
                                            [](const CostPart& a, const CostPart& b) { return a.ns < b.ns; });
      const double bytes = slowest == per_byte.end() ? 0 : (to - from) / slowest->ns;
      for (const Moment before : {sent.at, s.inbound_free}) with_bandwidths({before, 0}, per_byte, bytes);
      s.inbound_free = sent.at = add(to, sent.op);
      return;
    }
    case QueueServer::writer:
      return serve(s.writer_free, slot, {});
    case QueueServer::reader:
      comes_to(s.reader_asked, {sent.at, 0});
      serve(s.reader_free, slot, stands(s, segment.received_by));
      s.reading = &segment;
      if (segment.received_by && segment.last()) note(s.calls_done, segment.received_by->seq, sent.at);
      return;
  }
}

}  // namespace kernbench::insight
