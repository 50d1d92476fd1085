// SPDX-License-Identifier: Apache-2.0
#include "kernbench/systemc_models/protocol/base_protocol_initiator.h"

#include "kernbench/systemc_models/protocol/atomic_extension.h"

namespace kernbench::protocol {

BaseProtocolInitiator::~BaseProtocolInitiator() = default;

tlm::tlm_generic_payload* BaseProtocolInitiator::take_payload() {
  if (free_.empty()) {
    all_.push_back(std::make_unique<tlm::tlm_generic_payload>(this));
    free_.push_back(all_.back().get());
  }
  tlm::tlm_generic_payload* p = free_.back();
  free_.pop_back();
  p->acquire();
  return p;
}

void BaseProtocolInitiator::free(tlm::tlm_generic_payload* p) {
  p->reset();
  free_.push_back(p);
}

void BaseProtocolInitiator::start(ForeignTransfer& t) {
  tlm::tlm_generic_payload& p = *take_payload();
  p.set_data_ptr(nullptr);
  p.set_byte_enable_ptr(nullptr);
  if (t.foreign) p.deep_copy_from(*t.foreign);  // for its extensions; all other fields are overwritten
  const bool atomic = t.foreign && atomic_of(*t.foreign);
  p.set_command(atomic ? tlm::TLM_IGNORE_COMMAND : t.write ? tlm::TLM_WRITE_COMMAND : tlm::TLM_READ_COMMAND);
  p.set_address(t.address);
  p.set_data_ptr(t.data);
  p.set_data_length(t.nbytes);
  p.set_streaming_width(t.nbytes);
  p.set_byte_enable_ptr(t.enables.empty() ? nullptr : t.enables.data());
  p.set_byte_enable_length(static_cast<unsigned>(t.enables.size()));
  p.set_dmi_allowed(false);
  p.set_response_status(tlm::TLM_INCOMPLETE_RESPONSE);
  under_way_[&p] = &t;
  channel_.send(p);
}

void BaseProtocolInitiator::responded(tlm::tlm_generic_payload& p) {
  const auto it = under_way_.find(&p);
  ForeignTransfer& t = *it->second;
  under_way_.erase(it);
  t.status = p.get_response_status();
  if (t.foreign) t.foreign->update_extensions_from(p);
  p.release();
  t.done();
}

unsigned BaseProtocolInitiator::debug(bool write, uint64_t address, uint8_t* data, unsigned nbytes) {
  if (!forward()) return 0;
  tlm::tlm_generic_payload p;
  p.set_command(write ? tlm::TLM_WRITE_COMMAND : tlm::TLM_READ_COMMAND);
  p.set_address(address);
  p.set_data_ptr(data);
  p.set_data_length(nbytes);
  p.set_streaming_width(nbytes);
  return forward()->transport_dbg(p);
}

}  // namespace kernbench::protocol
