#include "kernbench/systemc_models/pe/carried_access.h"

#include <algorithm>
#include <cstring>

#include "kernbench/phase2/eval/convert.h"
#include "kernbench/phase2/op/address_text.h"
#include "kernbench/phase2/op/runs.h"
#include "kernbench/systemc_models/fabric/fabric_initiator.h"
#include "kernbench/systemc_models/memory/direct_memory.h"
#include "kernbench/systemc_models/protocol/payload_access.h"

namespace kernbench {

std::shared_ptr<CarriedAccess> CarriedAccess::of(System& system, uint32_t initiator,
                                                 const std::shared_ptr<OpDesc>& desc, const TilePart& part) {
  const bool moves = desc->type == CommandType::load || desc->type == CommandType::store;
  if (!system.meets_foreign_blocks() || !moves || part.nbytes == 0) return nullptr;
  std::shared_ptr<CarriedAccess> access(new CarriedAccess(system, desc));
  if (!part.translation) access->add_ranges(part.addr, part.rows);
  for (uint64_t done = 0; part.translation && done < part.nbytes;) {
    const PieceTransaction x = transaction_at(part, done);
    const size_t first = access->ranges_.size();
    access->add_ranges(x.physical.addr, x.physical.rows);
    Range& r = access->ranges_[first];
    r.looks_up = true;
    r.asked_address = x.virtual_addr;
    r.asked_rows = x.physical.rows;
    done += x.physical.nbytes;
  }
  const bool write = desc->type == CommandType::store;
  bool foreign = false;
  for (const Range& r : access->ranges_) {
    try {
      foreign |= !system.routes().route(initiator, r.address, r.nbytes, write).known;
    } catch (const AccessError&) {
      return nullptr;  // whoever sends it says so
    }
  }
  return foreign ? access : nullptr;
}

void CarriedAccess::add_ranges(uint64_t address, const Rows& rows) {
  for_each_range(address, rows, [&](uint64_t at, uint64_t nbytes) {
    Range& r = ranges_.emplace_back();
    r.access = this;
    r.offset = ranges_.size() > 1 ? ranges_[ranges_.size() - 2].offset + ranges_[ranges_.size() - 2].nbytes : 0;
    r.nbytes = nbytes;
    r.address = at;
  });
}

bool CarriedAccess::begin() {
  bytes_.assign(desc_->output.nbytes(), 0);
  if (desc_->type == CommandType::store) {
    if (desc_->data) {
      bytes_ = *desc_->data;
    } else {
      const RangeValue held(system_.image(), desc_->operands.at(0).ref);
      held.copy(0, bytes_.size(), bytes_.data());
      held.for_each_piece(0, bytes_.size(), [&](uint64_t at, uint64_t n, const MemoryImage::Extent* e, uint64_t from) {
        if (e && e->pending.producer) value_.place(kValue, at, e->part(from, n));
      });
    }
    if (desc_->operands.size() > 1 && !take_enables()) return carried_ = false;
  }
  for (Range& r : ranges_) {
    r.pattern.set_data_ptr(bytes_.data() + r.offset);
    r.pattern.set_data_length(static_cast<unsigned>(r.nbytes));
    r.pattern.set_streaming_width(static_cast<unsigned>(r.nbytes));
    r.pattern.set_byte_enable_ptr(r.enables.empty() ? nullptr : r.enables.data());
    r.pattern.set_byte_enable_length(static_cast<unsigned>(r.enables.size()));
  }
  desc_->carried = std::make_shared<Carried>();
  return true;
}

/// Of a masked store; false where they, or what they let through, are not known.
bool CarriedAccess::take_enables() {
  const TensorRef& mask = desc_->operands[1].ref;
  const MemoryImage& image = system_.image();
  if (image.state_of(mask).state != MemoryImage::State::real || holds_pending(0, bytes_.size(), nullptr)) return false;
  std::vector<uint8_t> on(static_cast<size_t>(mask.shape.elements()));
  nonzero(image.gather(mask).data(), mask.dtype, on.data(), on.size());
  const uint64_t element = size_of(desc_->output.dtype);
  for (Range& r : ranges_) {
    r.enables.resize(r.nbytes);
    for (uint64_t i = 0; i < r.nbytes; ++i)
      r.enables[i] = on[(r.offset + i) / element] != 0 ? TLM_BYTE_ENABLED : TLM_BYTE_DISABLED;
  }
  return true;
}

CarriedAccess::Range* CarriedAccess::next() {
  return sent_ < ranges_.size() ? &ranges_[sent_++] : nullptr;
}

bool CarriedAccess::holds_pending(uint64_t offset, uint64_t nbytes, std::string* who) const {
  const PendingByte first = first_pending(value_, kValue, offset, nbytes);
  if (first.producer && who) *who = describe_op(*first.producer);
  return first.producer != nullptr;
}

// ---- at the memory

void CarriedAccess::Range::served(FabricTransaction& x, double at_ns) {
  taken = true;
  moving = &x.payload;
  // As a foreign initiator's: after all that PEs do at that instant.
  access->system_.timeline().at(at_ns, Order(Order::kDepartures, 0, 0), call<&Range::move>(*this));
}

void CarriedAccess::Range::move() {
  const tlm::tlm_generic_payload& p = *moving;
  moving = nullptr;
  p.is_write() ? access->commit(*this, p) : access->sample(*this, p);
}

void CarriedAccess::note(const Range& r, uint64_t offset, uint64_t address, uint64_t nbytes, Space space) {
  desc_->carried->parts.push_back(
      {r.offset + offset, nbytes, space, address, system_.timeline().now_ns(), system_.next_foreign_write()});
}

void CarriedAccess::commit(const Range& r, const tlm::tlm_generic_payload& p) {
  const MemoryWindow window = system_.window_at(p.get_address());
  PayloadRange(p).for_each_run([&](const PayloadRange::Run& run) {
    const uint64_t offset = run.address - p.get_address();
    system_.direct_memory().settle(window.key(), run.address, run.nbytes);
    system_.image().write(window.key(), run.address, p.get_data_ptr() + offset, run.nbytes);
    value_.for_each_piece(kValue, r.offset + offset, run.nbytes,
                          [&](uint64_t at, uint64_t n, const MemoryImage::Extent* e, uint64_t from) {
                            if (e)
                              system_.image().place(window.key(), run.address + (at - r.offset - offset),
                                                    e->part(from, n));
                          });
    system_.direct_memory().refresh(window.key(), run.address, run.nbytes);
    note(r, offset, run.address, run.nbytes, window.space);
  });
}

void CarriedAccess::sample(const Range& r, const tlm::tlm_generic_payload& p) {
  const MemoryWindow window = system_.window_at(p.get_address());
  const uint64_t n = std::min<uint64_t>(p.get_data_length(), r.nbytes);
  system_.direct_memory().settle(window.key(), p.get_address(), n);
  system_.image().for_each_piece(window.key(), p.get_address(), n,
                                 [&](uint64_t at, uint64_t bytes, const MemoryImage::Extent* e, uint64_t from) {
                                   const uint64_t offset = at - p.get_address();
                                   if (!e) {
                                     unwritten_.emplace_back(r.offset + offset, bytes);
                                   } else if (e->pending.producer) {
                                     value_.place(kValue, r.offset + offset, e->part(from, bytes));
                                   } else {
                                     std::memcpy(p.get_data_ptr() + offset, e->bytes.data + from, bytes);
                                   }
                                 });
  note(r, 0, p.get_address(), n, window.space);
}

// ---- at the initiator

std::string CarriedAccess::ended(const FabricTransaction& x) {
  const Range& r = *static_cast<const Range*>(x.mover);
  ++ended_;
  std::string who;
  if (x.write && !r.taken && holds_pending(r.offset, r.nbytes, &who)) {
    return x.initiator->owner().id() + ": write of " + std::to_string(r.nbytes) + " bytes at " +
           address_text(r.address) + ": a foreign block has taken bytes that " + who +
           " makes in Phase 2; expected it to pass the payload on with its extensions";
  }
  if (ended_ == ranges_.size()) all_ended();
  return {};
}

void CarriedAccess::all_ended() {
  Carried& carried = *desc_->carried;
  const bool load = desc_->type == CommandType::load;
  const bool known = unwritten_.empty() && !holds_pending(0, bytes_.size(), nullptr);
  if (load && desc_->operands.size() > 1) {
    const TensorRef& mask = desc_->operands[1].ref;
    if (!known || system_.image().state_of(mask).state != MemoryImage::State::real) {
      carried_ = false;
      desc_->carried.reset();
      return;
    }
    std::vector<uint8_t> on(static_cast<size_t>(mask.shape.elements()));
    nonzero(system_.image().gather(mask).data(), mask.dtype, on.data(), on.size());
    const size_t element = size_of(desc_->output.dtype);
    Bytes other(element);
    store_scalar(desc_->operands.size() > 2 ? desc_->operands[2].scalar : 0.0, desc_->output.dtype, other.data());
    for (size_t i = 0; i < on.size(); ++i) {
      if (!on[i]) std::memcpy(bytes_.data() + i * element, other.data(), element);
    }
  }
  if (known) carried.bytes = std::make_shared<const Bytes>(bytes_);
}

bool CarriedAccess::put() {
  if (!carried_ || desc_->carried->bytes) return false;  // an ordinary effect has the bytes
  const MemoryImage::SpaceKey key = MemoryImage::key_of(desc_->output);
  MemoryImage& image = system_.image();
  image.write(key, desc_->output.addr, bytes_.data(), bytes_.size());
  for (const auto& [offset, n] : unwritten_) image.erase(key, desc_->output.addr + offset, n);
  value_.for_each_piece(kValue, 0, bytes_.size(),
                        [&](uint64_t at, uint64_t n, const MemoryImage::Extent* e, uint64_t from) {
                          if (e) image.place(key, desc_->output.addr + at, e->part(from, n));
                        });
  return true;
}

}  // namespace kernbench
