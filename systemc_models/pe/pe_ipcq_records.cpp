// SPDX-License-Identifier: Apache-2.0
// Contents of message segments, and their records in the op log (collectives rules §11.1, §11.2).
#include "kernbench/systemc_models/memory/system.h"
#include "kernbench/systemc_models/pe/pe_ipcq.h"

namespace kernbench::pe {

namespace {

/// A segment's part of a dense tensor that is the source or destination of a message.
TensorRef part_of(const TensorRef& whole, const QueueSegment& s) {
  TensorRef part = whole;
  part.addr += s.offset;
  if (s.message->segments.size() > 1) {
    part.shape = Dims{static_cast<int64_t>(s.nbytes / size_of(whole.dtype))};
    part.strides = TensorRef::row_major(part.shape);
  }
  return part;
}

struct SegmentRecord {
  static constexpr bool data_op = true;
  std::shared_ptr<const OpDesc> desc;
  uint64_t behind = 0;  ///< op_id that it depends on
  void describe(OpRecord& r) const {
    r.desc = desc;
    if (behind != 0) r.dependency_ids.push_back(behind);
  }
};

/// The record of a call's segment, which copies `from` to `to`.
std::pair<std::shared_ptr<OpDesc>, std::shared_ptr<QueueRecord>> record_of(const OpDesc& call, const QueueSegment& s,
                                                                           const QueuePort& receiver, TensorRef from,
                                                                           TensorRef to) {
  auto d = std::make_shared<OpDesc>();
  d->kind = OpKind::memory;
  d->operands.resize(1);
  d->operands[0].ref = std::move(from);
  d->output = std::move(to);
  d->handle_id = call.handle_id;
  d->pe = call.pe;
  d->seq = call.seq;
  d->launch = call.launch;
  d->submit_ns = call.submit_ns;
  d->where = call.where;
  auto q = std::make_shared<QueueRecord>();
  q->port = receiver.name;
  q->message = s.message->number;
  q->segment = s.index;
  q->segments = static_cast<uint32_t>(s.message->segments.size());
  d->queue = q;
  return {d, q};
}

}  // namespace

TensorRef PeIpcq::slot_of(const QueueSegment& s) const {
  const QueueRing& ring = ports_[s.receiver_port].ring;
  TensorRef slot = part_of(s.message->desc->operands.front().ref, s);
  slot.space = ring.space;
  slot.pe = ring.pe;
  slot.addr = s.slot_address;
  return slot;
}

void PeIpcq::write_slot(QueueSegment& s) {
  if (!s.message->desc) return;
  const OpDesc& send = *s.message->desc;
  const QueuePort& port = ports_[s.receiver_port];
  const TensorRef slot = slot_of(s);
  s.message->value->put(System::of(*this).image(), MemoryImage::key_of(slot), slot.addr, s.offset, s.nbytes);
  if (s.copy_op_id == 0) return;
  auto [d, q] = record_of(send, s, port, part_of(send.operands.front().ref, s), slot);
  d->type = CommandType::store;
  d->name = "ipcq_copy";
  q->peer_port = port.peer_port_name;
  q->slot_ns = s.times().slot_ns;
  q->grant_ns = s.times().grant_ns;
  q->arrival_ns = s.times().arrival_ns;
  end_service(SegmentRecord{std::move(d)}, s.copy_op_id, s.write_start_ns, s.times().visible_ns);
}

/// Copies the segment to the receiver's handle, now.
void PeIpcq::read_slot(QueueSegment& s) {
  if (!s.message->desc) return;
  const OpDesc& receive = *s.received_by->desc;
  const QueuePort& port = ports_[s.receiver_port];
  const TensorRef slot = slot_of(s), to = part_of(receive.output, s);
  if (s.nbytes > 0) System::of(*this).image().transfer(slot, to);
  if (s.read_op_id == 0) return;
  auto d = record_of(receive, s, port, slot, to).first;
  d->type = CommandType::load;
  d->name = "ipcq_recv";
  end_service(SegmentRecord{std::move(d), s.copy_op_id}, s.read_op_id, read_start_ns_, timeline().now_ns());
}

}  // namespace kernbench::pe
