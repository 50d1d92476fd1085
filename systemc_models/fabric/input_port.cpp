// SPDX-License-Identifier: Apache-2.0
#include "kernbench/systemc_models/fabric/input_port.h"

#include <algorithm>

namespace kernbench::fabric {

namespace {

/// A foreign block waits for no credits, so its flits are accepted on arrival.
InputBuffers buffers_behind(const FabricPort& in) {
  return in.neighbour() ? in.node().input_buffers() : InputBuffers{};
}

Order sender_order(const FabricPort& in) {
  const FabricPort& sender = in.neighbour() ? *in.neighbour() : in;
  return Order(Order::kCredits, sender.node().owner().index(), sender.rank);
}

}  // namespace

InputPort::InputPort(FabricPort& in)
    : port(in),
      buffers(buffers_behind(in)),
      wire_ns(in.neighbour() ? in.incoming()->wire_ns : 0),
      order(sender_order(in)),
      rank_(in.rank) {
  in.input = this;
  for (FabricPort* p : in.node().ports()) {
    if (in.neighbour() && p->incoming() == in.incoming()) p->input = this;
  }
  if (!limited()) return;  // there are as many channels as messages
  for (const uint32_t c : {kRequests, kResponses}) {
    for (uint32_t n = 0; n < buffers.vcs; ++n) by_number_[c].push_back(&add(c, n));
  }
}

InputChannel& InputPort::add(uint32_t message_class, uint32_t number) {
  const size_t index = channels_.size();
  InputChannel& v = channels_.emplace_back(*this, message_class, number);
  v.rank = rank_ << 32 | index;
  if (port.neighbour()) v.edge = port.incoming()->edge;
  return v;
}

InputChannel& InputPort::append(Flit& f) {
  InputChannel& v = limited() ? channel(class_of(f), f.channel) : queue_of(f);
  f.at = &v;
  v.append(f);
  return v;
}

/// Without a limit, each message begins its own queue. The message identifies it, because a foreign block may begin a
/// message of its own, a response, while flits of another one that it passes are outstanding.
InputChannel& InputPort::queue_of(const Flit& f) {
  if (f.index == 0) {
    if (idle_.empty()) idle_.push_back(&add(class_of(f), f.channel));
    arriving_.push_back({f.transaction, f.response, idle_.back()});
    idle_.pop_back();
  }
  const auto message = std::find_if(arriving_.begin(), arriving_.end(), [&](const Arriving& a) {
    return a.transaction == f.transaction && a.response == f.response;
  });
  InputChannel& v = *message->queue;
  if (f.last) arriving_.erase(message);
  return v;
}

void InputPort::pop(InputChannel& v) {
  const bool ends = v.first->last && !limited();
  v.pop();
  if (ends) idle_.push_back(&v);
}

void InputPort::remove(InputChannel& v, Flit& f) {
  if (v.first == &f) return pop(v);
  Flit* before = v.first;
  while (before->behind != &f) before = before->behind;
  before->behind = f.behind;
  if (v.last == &f) v.last = before;
}

}  // namespace kernbench::fabric
