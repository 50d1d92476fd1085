// SPDX-License-Identifier: Apache-2.0
#include "kernbench/systemc_models/pe/pe_block.h"

#include <stdexcept>

#include "kernbench/systemc_models/core/own_class.h"
#include "kernbench/systemc_models/pe/pe_setup.h"

namespace kernbench::pe {

tlm::tlm_sync_enum PePort::nb_transport_fw(PeItem& item, tlm::tlm_phase& phase, sc_core::sc_time&) {
  return block_->item_in(item, *this, phase);
}

tlm::tlm_sync_enum PePort::nb_transport_bw(PeItem& item, tlm::tlm_phase& phase, sc_core::sc_time&) {
  return block_->answer_in(item, *this, phase);
}

void PePort::b_transport(PeItem& item, sc_core::sc_time& delay) {
  ask_own(block_->block(), "asked()", [&] { block_->asked(item, *this); });
  checked_ns(block_->block(), "asked(): answer_ns", item.answer_ns);
  delay += sc_core::sc_time(item.answer_ns, sc_core::SC_NS);
}

unsigned PePort::transport_dbg(PeItem& item) {
  return item.setup && item.setup->done_by(*block_);
}

tlm::tlm_sync_enum PeBlock::item_in(PeItem&, PePort&, tlm::tlm_phase&) {
  throw std::logic_error(owner_.id() + ": takes no items");
}

tlm::tlm_sync_enum PeBlock::answer_in(PeItem&, PePort&, tlm::tlm_phase&) {
  return tlm::TLM_COMPLETED;
}

void PeBlock::add_way(PePort& out, PeBlock& next) {
  ways_.emplace_back(&next, &out);
  leads_to(out, next);
}

PePort& PeBlock::bind_target(tlm::tlm_fw_transport_if<pe_command_protocol>& forward,
                             sc_core::sc_port_b<tlm::tlm_bw_transport_if<pe_command_protocol>>& backward) {
  CommandInitiatorSocket& socket = *command_initiator();
  socket.get_base_port().bind(forward);
  backward.bind(socket.get_base_interface());
  return *socket.ports().back();
}

PePort& PeBlock::bind_initiator(sc_core::sc_port_b<tlm::tlm_fw_transport_if<pe_command_protocol>>& forward,
                                tlm::tlm_bw_transport_if<pe_command_protocol>& backward) {
  CommandTargetSocket& socket = *command_target();
  forward.bind(socket.get_base_interface());
  socket.get_base_port().bind(backward);
  return *socket.ports().back();
}

void StageWays::add(PePort& out, const PeBlock& next) {
  for (int s = 0; s < stage_count(); ++s) {
    if (next.serves(static_cast<Stage>(s))) ways_[s] = &out;
  }
}

void connect(PeBlock& a, PeBlock& b) {
  CommandInitiatorSocket* from = a.command_initiator();
  CommandTargetSocket* to = b.command_target();
  if (!from || !to)
    throw std::invalid_argument(a.block().id() + " -> " + b.block().id() + ": " + (from ? b : a).block().id() +
                                " has no socket for commands on that side");
  from->bind(*to);
  a.add_way(*from->ports().back(), b);
  b.called_by(*to->ports().back(), a);
}

}  // namespace kernbench::pe
