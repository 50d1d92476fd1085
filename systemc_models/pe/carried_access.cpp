// SPDX-License-Identifier: Apache-2.0
#include "kernbench/systemc_models/pe/carried_access.h"

#include <algorithm>
#include <cstring>

#include "kernbench/phase2/eval/convert.h"
#include "kernbench/phase2/memory/left_out.h"
#include "kernbench/phase2/op/address_text.h"
#include "kernbench/phase2/op/runs.h"
#include "kernbench/systemc_models/fabric/fabric_initiator.h"
#include "kernbench/systemc_models/memory/direct_memory.h"
#include "kernbench/systemc_models/protocol/payload_access.h"

namespace kernbench::pe {

std::shared_ptr<CarriedAccess> CarriedAccess::of(System& system, uint32_t initiator,
                                                 const std::shared_ptr<OpDesc>& desc, const TilePart& part,
                                                 const std::vector<MulticastPart>* multicast) {
  const bool moves = desc->type == CommandType::load || desc->type == CommandType::store;
  if (!system.meets_foreign_blocks() || !moves) return nullptr;
  std::shared_ptr<CarriedAccess> access(new CarriedAccess(system, desc));
  const bool write = desc->type == CommandType::store;
  bool foreign = false;
  const auto passes_foreign = [&](uint64_t address, uint64_t nbytes) {
    return !system.routes().route(initiator, address, nbytes, write).known;
  };
  try {
    if (multicast) {
      for (const MulticastPart& m : *multicast) {
        access->add_range(m.to.addresses.front(), m.nbytes);
        access->ranges_.back().destinations = m.to.addresses.size();
        for (const uint64_t address : m.to.addresses) foreign |= passes_foreign(address, m.nbytes);
      }
      return foreign ? access : nullptr;
    }
    desc->ranged ? access->add_list(*desc->ranged) : access->add_part(part);
    for (const Range& r : access->ranges_) foreign |= passes_foreign(r.address, r.nbytes);
  } catch (const AccessError&) {
    return nullptr;  // the sender reports the error
  }
  return foreign ? access : nullptr;
}

void CarriedAccess::add_range(uint64_t address, uint64_t nbytes) {
  const uint64_t offset = ranges_.empty() ? 0 : moved_bytes();
  Range& r = ranges_.emplace_back();
  r.access = this;
  r.offset = offset;
  r.nbytes = nbytes;
  r.address = address;
}

void CarriedAccess::add_ranges(uint64_t address, const Rows& rows) {
  for_each_range(address, rows, [&](uint64_t at, uint64_t nbytes) { add_range(at, nbytes); });
}

void CarriedAccess::add_part(const TilePart& part) {
  if (part.nbytes == 0) return;
  if (!part.translation) return add_ranges(part.addr, part.rows);
  for (uint64_t done = 0; done < part.nbytes;) {
    const PieceTransaction x = transaction_at(part, done);
    const size_t first = ranges_.size();
    add_ranges(x.physical.addr, x.physical.rows);
    Range& r = ranges_[first];
    r.looks_up = true;
    r.asked_address = x.virtual_addr;
    r.asked_rows = x.physical.rows;
    done += x.physical.nbytes;
  }
}

/// Ranges that are contiguous in memory are merged, up to the end of their memory (access rules §16). All pages are
/// looked up before the first transaction.
void CarriedAccess::add_list(const RangedOp& op) {
  for (MovedRange r : op.ranges) {
    while (r.nbytes > 0) {
      const MemoryWindow window = system_.window_at(r.addr);
      const uint64_t here = window.size > 0 ? std::min(r.nbytes, window.size - (r.addr - window.base)) : r.nbytes;
      moved_.push_back({ranges_.empty() ? 0 : moved_bytes(), r.offset, here});
      const bool goes_on = !ranges_.empty() && ranges_.back().address + ranges_.back().nbytes == r.addr;
      if (goes_on && r.addr != window.base) {
        ranges_.back().nbytes += here;
      } else {
        add_range(r.addr, here);
      }
      r = {r.addr + here, r.nbytes - here, r.offset + here};
    }
  }
  if (op.asked.empty() || ranges_.empty()) return;
  Range& first = ranges_.front();
  first.looks_up = true;
  first.asked_address = op.asked.front().addr;
  for (const MovedRange& r : op.asked) asked_.push_back({r.addr - first.asked_address, r.nbytes});
  first.asked_rows = Rows{asked_.size(), asked_.front().nbytes, 0};
  first.asked_rows.ranges = &asked_;
}

template <class F>
void CarriedAccess::for_each_moved(uint64_t from, uint64_t n, F f) const {
  if (moved_.empty()) return f(from, from, n);
  auto m = std::upper_bound(moved_.begin(), moved_.end(), from,
                            [](uint64_t at, const Moved& moved) { return at < moved.offset; });
  for (--m; n > 0; ++m) {
    const uint64_t skipped = from - m->offset, here = std::min(n, m->nbytes - skipped);
    f(from, m->in_value + skipped, here);
    from += here;
    n -= here;
  }
}

/// For a store: saves the current bytes to send.
void CarriedAccess::take_value() {
  if (desc_->data) {
    return for_each_moved(0, bytes_.size(), [&](uint64_t at, uint64_t in_value, uint64_t n) {
      std::memcpy(bytes_.data() + at, desc_->data->data() + in_value, n);
    });
  }
  const RangeValue held(system_.image(), desc_->operands.at(0).ref);
  system_.make_known(held, desc_->operands.at(0).ref.nbytes());
  for_each_moved(0, bytes_.size(), [&](uint64_t at, uint64_t in_value, uint64_t n) {
    system_.known_bytes(held, in_value, n, bytes_.data() + at);
    held.for_each_piece(in_value, n, [&](uint64_t piece, uint64_t m, const MemoryImage::Extent* e, uint64_t from) {
      if (e && e->producer()) value_.place(kValue, at + (piece - in_value), e->part(from, m));
    });
  });
}

bool CarriedAccess::begin() {
  bytes_.assign(moved_bytes(), 0);
  if (desc_->type == CommandType::store) {
    take_value();
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

/// For a masked store. Returns false if the mask, or the bytes that it selects, are unknown.
bool CarriedAccess::take_enables() {
  const TensorRef& mask = desc_->operands[1].ref;
  if (!mask_is_known(mask) || !all_known(0, bytes_.size())) return false;
  const std::vector<uint8_t> on = mask_values(mask);
  const uint64_t element = size_of(desc_->output.dtype);
  for (Range& r : ranges_) {
    r.enables.resize(r.nbytes);
    for (uint64_t i = 0; i < r.nbytes; ++i)
      r.enables[i] = on[(r.offset + i) / element] != 0 ? TLM_BYTE_ENABLED : TLM_BYTE_DISABLED;
  }
  return true;
}

bool CarriedAccess::mask_is_known(const TensorRef& mask) const {
  const RangeValue held(system_.image(), mask);
  system_.make_known(held, mask.nbytes());
  bool known = true;
  held.for_each_piece(0, mask.nbytes(), [&](uint64_t, uint64_t, const MemoryImage::Extent* e, uint64_t) {
    known &= e && system_.known(e);
  });
  return known;
}

/// 1 for each element that the mask selects.
std::vector<uint8_t> CarriedAccess::mask_values(const TensorRef& mask) const {
  Bytes bytes(mask.nbytes());
  system_.known_bytes(RangeValue(system_.image(), mask), 0, bytes.size(), bytes.data());
  std::vector<uint8_t> on(static_cast<size_t>(mask.shape.elements()));
  nonzero(bytes.data(), mask.dtype, on.data(), on.size());
  return on;
}

/// Whether the pending bytes in this range are available as data.
bool CarriedAccess::all_known(uint64_t offset, uint64_t nbytes) const {
  bool known = true;
  value_.for_each_piece(kValue, offset, nbytes, [&](uint64_t, uint64_t, const MemoryImage::Extent* e, uint64_t) {
    known &= !e || system_.known(e);
  });
  return known;
}

/// Whether pending bytes that were available as data arrived unchanged.
bool CarriedAccess::as_sent(uint64_t offset, const uint8_t* bytes, uint64_t nbytes) const {
  bool same = true;
  value_.for_each_piece(kValue, offset, nbytes,
                        [&](uint64_t at, uint64_t n, const MemoryImage::Extent* e, uint64_t from) {
                          const uint8_t* sent = e ? system_.known(e) : nullptr;
                          same &= !sent || std::memcmp(sent + from, bytes + (at - offset), n) == 0;
                        });
  return same;
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
  taken.push_back({*this, x.payload});
  // Like a foreign initiator's effect: after all effects of PEs at that instant.
  access->system_.timeline().at(at_ns, Order(Order::kDepartures, 0, 0), call<&Range::move>(taken.back()));
}

void CarriedAccess::Range::move(Served& s) {
  ++s.range.moved;
  CarriedAccess& access = *s.range.access;
  s.payload.is_write() ? access.commit(s.range, s.payload) : access.sample(s.range, s.payload);
}

void CarriedAccess::note(const Range& r, uint64_t offset, uint64_t address, uint64_t nbytes, Space space) {
  const uint64_t first = r.offset + offset;
  for_each_moved(first, nbytes, [&](uint64_t at, uint64_t in_value, uint64_t n) {
    desc_->carried->parts.push_back(
        {in_value, n, space, address + (at - first), system_.timeline().now_ns(), system_.next_foreign_write()});
  });
}

void CarriedAccess::commit(const Range& r, const tlm::tlm_generic_payload& p) {
  const MemoryWindow window = system_.window_at(p.get_address());
  PayloadRange(p).for_each_run([&](const PayloadRange::Run& run) {
    const uint64_t offset = run.address - p.get_address();
    system_.direct_memory().settle(window.key(), run.address, run.nbytes);
    system_.image().write(window.key(), run.address, p.get_data_ptr() + offset, run.nbytes);
    const bool same = as_sent(r.offset + offset, p.get_data_ptr() + offset, run.nbytes);
    passed_ &= same;
    value_.for_each_piece(kValue, r.offset + offset, run.nbytes,
                          [&](uint64_t at, uint64_t n, const MemoryImage::Extent* e, uint64_t from) {
                            if (e && same)
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
                                   } else if (e->producer()) {
                                     value_.place(kValue, r.offset + offset, e->part(from, bytes));
                                     if (const uint8_t* known = system_.known(e))
                                       std::memcpy(p.get_data_ptr() + offset, known + from, bytes);
                                   } else {
                                     std::memcpy(p.get_data_ptr() + offset, e->data() + from, bytes);
                                   }
                                 });
  note(r, 0, p.get_address(), n, window.space);
}

// ---- at the initiator

std::string CarriedAccess::ended(const FabricTransaction& x) {
  const Range& r = *static_cast<const Range*>(x.mover);
  ++ended_;
  std::string who;
  const bool taken = r.taken.size() == r.destinations;
  passed_ &= taken && (x.write || as_sent(r.offset, bytes_.data() + r.offset, r.nbytes));
  if (x.write && !taken && !all_known(r.offset, r.nbytes) && holds_pending(r.offset, r.nbytes, &who)) {
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
  bool known = unwritten_.empty() && !holds_pending(0, bytes_.size(), nullptr);
  const bool data = system_.materializes_stores() && !passed_ && all_known(0, bytes_.size());
  if (data && unwritten_.empty()) {
    known = true;
    value_ = MemoryImage();
  }
  if (load && desc_->operands.size() > 1) {
    const TensorRef& mask = desc_->operands[1].ref;
    const bool real = system_.image().state_of(mask).state == MemoryImage::State::real;
    if (!known || !(real || (data && mask_is_known(mask)))) {
      carried_ = false;
      desc_->carried.reset();
      return;
    }
    const std::vector<uint8_t> on = mask_values(mask);
    const size_t element = size_of(desc_->output.dtype);
    Bytes other(element);
    store_scalar(desc_->operands.size() > 2 ? desc_->operands[2].scalar : 0.0, desc_->output.dtype, other.data());
    for (size_t i = 0; i < on.size(); ++i) {
      if (!on[i]) std::memcpy(bytes_.data() + i * element, other.data(), element);
    }
  }
  if (!known) return;
  if (moved_.empty()) {
    carried.bytes = std::make_shared<const Bytes>(bytes_);
    return;
  }
  Bytes value(desc_->output.nbytes());
  const uint64_t element = size_of(desc_->output.dtype);
  for (const MovedRange& r : desc_->ranged->left_out) {
    for (uint64_t at = 0; load && at < r.nbytes; at += element)
      store_scalar(desc_->ranged->other, desc_->output.dtype, value.data() + r.offset + at);
  }
  for_each_moved(0, bytes_.size(), [&](uint64_t at, uint64_t in_value, uint64_t n) {
    std::memcpy(value.data() + in_value, bytes_.data() + at, n);
  });
  carried.bytes = std::make_shared<const Bytes>(std::move(value));
}

bool CarriedAccess::put() {
  if (!carried_ || desc_->carried->bytes) return false;  // the normal effect handles the bytes
  const MemoryImage::SpaceKey key = MemoryImage::key_of(desc_->output);
  MemoryImage& image = system_.image();
  if (desc_->ranged) fill_left_out(*desc_, image);
  for_each_moved(0, bytes_.size(), [&](uint64_t at, uint64_t in_value, uint64_t n) {
    image.write(key, desc_->output.addr + in_value, bytes_.data() + at, n);
    value_.for_each_piece(kValue, at, n, [&](uint64_t piece, uint64_t m, const MemoryImage::Extent* e, uint64_t from) {
      if (e) image.place(key, desc_->output.addr + in_value + (piece - at), e->part(from, m));
    });
  });
  for (const auto& [offset, bytes] : unwritten_) {
    for_each_moved(offset, bytes, [&](uint64_t, uint64_t in_value, uint64_t n) {
      image.erase(key, desc_->output.addr + in_value, n);
    });
  }
  return true;
}

}  // namespace kernbench::pe
