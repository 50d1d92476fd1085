// SPDX-License-Identifier: Apache-2.0
#include "kernbench/systemc_models/protocol/payload_access.h"

#include <algorithm>
#include <cstring>

namespace kernbench::protocol {

PayloadRange::PayloadRange(const tlm::tlm_generic_payload& p)
    : address_(p.get_address()),
      nbytes_(std::min(p.get_data_length(), p.get_streaming_width())),
      length_(p.get_data_length()) {
  const unsigned char* enables = p.get_byte_enable_ptr();
  if (!enables) return;
  const unsigned n = p.get_byte_enable_length();
  enabled_.assign(nbytes_, false);
  for (uint64_t i = 0, at = 0; i < length_; ++i, at = at + 1 == nbytes_ ? 0 : at + 1) {
    if (enables[i % n]) enabled_[at] = true;
  }
}

std::vector<uint8_t> PayloadRange::collect(const tlm::tlm_generic_payload& p) const {
  std::vector<uint8_t> bytes(nbytes_);
  const unsigned char* enables = p.get_byte_enable_ptr();
  const unsigned n = enables ? p.get_byte_enable_length() : 1;
  for (uint64_t i = 0, at = 0; i < length_; ++i, at = at + 1 == nbytes_ ? 0 : at + 1) {
    if (!enables || enables[i % n]) bytes[at] = p.get_data_ptr()[i];
  }
  return bytes;
}

void PayloadRange::spread(const uint8_t* bytes, tlm::tlm_generic_payload& p) const {
  const unsigned char* enables = p.get_byte_enable_ptr();
  const unsigned n = enables ? p.get_byte_enable_length() : 1;
  for (uint64_t i = 0, at = 0; i < length_; ++i, at = at + 1 == nbytes_ ? 0 : at + 1) {
    if (!enables || enables[i % n]) p.get_data_ptr()[i] = bytes[at];
  }
}

tlm::tlm_response_status check_payload(const tlm::tlm_generic_payload& p) {
  const tlm::tlm_command command = p.get_command();
  if (command != tlm::TLM_READ_COMMAND && command != tlm::TLM_WRITE_COMMAND) return tlm::TLM_COMMAND_ERROR_RESPONSE;
  if (p.get_data_length() == 0 || p.get_streaming_width() == 0) return tlm::TLM_BURST_ERROR_RESPONSE;
  if (p.get_byte_enable_ptr() && p.get_byte_enable_length() == 0) return tlm::TLM_BYTE_ENABLE_ERROR_RESPONSE;
  if (!p.get_data_ptr()) return tlm::TLM_GENERIC_ERROR_RESPONSE;
  return tlm::TLM_OK_RESPONSE;
}

PendingByte first_pending(const MemoryImage& image, MemoryImage::SpaceKey key, uint64_t address, uint64_t nbytes) {
  PendingByte first;
  image.for_each_piece(key, address, nbytes, [&](uint64_t at, uint64_t, const MemoryImage::Extent* e, uint64_t) {
    if (!e || !e->producer() || first.producer) return;
    first.address = at;
    first.producer = e->shared_producer();
  });
  return first;
}

std::string describe_op(const OpDesc& op) {
  std::string text = op.name;
  if (op.pe != kNoPe) text += " of PE " + std::to_string(op.pe);
  if (op.where.line) text += " (" + std::string(op.where.file) + ":" + std::to_string(op.where.line) + ")";
  return text;
}

namespace {

TensorRef bytes_at(Space space, uint64_t address, uint64_t nbytes) {
  TensorRef r;
  r.space = space;
  r.addr = address;
  r.dtype = DType::u8;
  r.shape = {static_cast<int64_t>(nbytes)};
  r.strides = {1};
  return r;
}

}  // namespace

std::shared_ptr<OpDesc> foreign_write_desc(Space space, uint64_t address, std::shared_ptr<const Bytes> data,
                                           uint64_t seq) {
  auto d = std::make_shared<OpDesc>();
  d->type = CommandType::store;
  d->kind = OpKind::memory;
  d->name = "dma_write";
  d->output = bytes_at(space, address, data->size());
  d->data = std::move(data);
  d->seq = seq;
  return d;
}

std::shared_ptr<OpDesc> foreign_read_desc(Space space, uint64_t address, uint64_t nbytes) {
  auto d = std::make_shared<OpDesc>();
  d->type = CommandType::load;
  d->kind = OpKind::memory;
  d->name = "dma_read";
  Operand source;
  source.ref = bytes_at(space, address, nbytes);
  d->operands.push_back(source);
  d->output = source.ref;
  return d;
}

}  // namespace kernbench::protocol
