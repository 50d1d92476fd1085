#include "kernbench/systemc_models/fabric/input_port.h"

namespace kernbench {

InputPort::InputPort(FabricPort& in)
    : port(in),
      buffers(in.node().input_buffers()),
      wire_ns(in.incoming()->wire_ns),
      order(Order::kCredits, in.neighbour()->node().owner().index(), rank_of(*in.neighbour())),
      rank_(rank_of(in)) {
  for (FabricPort* p : in.node().ports()) {
    if (p->incoming() == in.incoming()) p->input = this;
  }
  if (!limited()) return;  // as many channels as messages
  for (const uint32_t c : {kRequests, kResponses}) {
    for (uint32_t n = 0; n < buffers.vcs; ++n) by_number_[c].push_back(&add(c, n));
  }
}

InputChannel& InputPort::add(uint32_t message_class, uint32_t number) {
  const size_t index = channels_.size();
  InputChannel& v = channels_.emplace_back(*this, message_class, number);
  v.rank = rank_ << 32 | index;
  v.edge = port.incoming()->edge;
  return v;
}

/// Without a limit a message begins a queue of its own: others that come by its number behind its last flit do not wait
/// for what is left of it here.
InputChannel& InputPort::append(Flit& f) {
  const uint32_t c = class_of(f);
  if (!limited() && f.index == 0) {
    if (idle_.empty()) idle_.push_back(&add(c, f.channel));
    if (by_number_[c].size() <= f.channel) by_number_[c].resize(f.channel + 1);
    by_number_[c][f.channel] = idle_.back();
    idle_.pop_back();
  }
  InputChannel& v = channel(c, f.channel);
  f.at = &v;
  v.append(f);
  return v;
}

void InputPort::pop(InputChannel& v) {
  const bool ends = v.first->last && !limited();
  v.pop();
  if (ends) idle_.push_back(&v);
}

}  // namespace kernbench
