// SPDX-License-Identifier: Apache-2.0
#include "kernbench/systemc_models/memory/dram_address_mapping.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <stdexcept>
#include <string_view>

#include "kernbench/phase2/text/text_stream.h"

namespace kernbench::memory {
namespace {

constexpr std::array<std::string_view, 8> kNames = {"row",    "stack_id", "group", "bank",
                                                    "column", "channel",  "pc",    "byte"};

unsigned log2_of(uint32_t power_of_two) {
  return static_cast<unsigned>(__builtin_ctz(power_of_two));
}

[[noreturn]] void fail(const std::string& found, const std::string& legal) {
  throw std::invalid_argument("found " + found + "; legal: " + legal);
}

}  // namespace

bool operator==(const DramPlace& a, const DramPlace& b) {
  return a.channel == b.channel && a.pc == b.pc && a.stack_id == b.stack_id && a.group == b.group && a.bank == b.bank &&
         a.row == b.row && a.column == b.column;
}

NamedClasses<DramMapping, DramGeometry>& DramMapping::registry() {
  static NamedClasses<DramMapping, DramGeometry> registry("DRAM mapping");
  return registry;
}

std::unique_ptr<const DramMapping> DramMapping::from(const std::string& text, const DramGeometry& g) {
  if (registry().has(text)) return registry().make(text, g);
  return std::make_unique<DramBitFields>(text, g);
}

DramBitFields::DramBitFields(const std::string& fields, const DramGeometry& g) {
  std::array<unsigned, kFields> left = {};  // bits of each field that are not assigned to a part yet
  left[kStackId] = log2_of(g.stack_ids);
  left[kGroup] = log2_of(g.bank_groups);
  left[kBank] = log2_of(g.banks);
  left[kColumn] = log2_of(g.page_bytes / g.burst_bytes);
  left[kChannel] = log2_of(g.channels);
  left[kPc] = log2_of(g.pseudo_channels);
  left[kByte] = log2_of(g.burst_bytes);

  const std::array<unsigned, kFields> whole = left;
  constexpr unsigned kOpen = ~0u;
  std::vector<Part> parts;
  std::array<bool, kFields> open = {}, named = {};
  TextInput in(fields);
  for (std::string word; in >> word;) {
    const std::string quoted = "'" + word + "'";
    std::string_view name(word);
    Part part{kRow, kOpen};
    if (const size_t colon = name.find(':'); colon != name.npos) {
      const std::string_view bits = name.substr(colon + 1);
      const auto [end, error] = std::from_chars(bits.data(), bits.data() + bits.size(), part.bits);
      if (error != std::errc() || end != bits.data() + bits.size() || part.bits > 63)
        fail(quoted, "a number of bits behind ':'");
      name = name.substr(0, colon);
    }
    if (!name.empty() && name.back() == '^') {
      part.spread = true;
      name.remove_suffix(1);
    }
    const auto known = std::find(kNames.begin(), kNames.end(), name);
    if (known == kNames.end()) {
      std::string others;
      for (const std::string& other : DramMapping::registry().names()) others += ", or " + other;
      fail(quoted, "fields row, stack_id, group, bank, column, channel, pc, byte" + others);
    }
    part.field = static_cast<Field>(known - kNames.begin());
    const bool edge = part.field == kRow || part.field == kByte;
    if (edge && (named[part.field] || part.bits != kOpen || part.spread))
      fail(quoted, "one plain '" + std::string(name) + "'");
    if (part.bits == kOpen && open[part.field]) fail(quoted, "one part of a field without ':BITS'");
    named[part.field] = true;
    if (part.bits == kOpen) {
      open[part.field] = true;
    } else if (part.bits > left[part.field]) {
      fail(quoted, "at most the " + std::to_string(left[part.field]) + " bits that are left of the field");
    } else {
      left[part.field] -= part.bits;
    }
    parts.push_back(part);
  }
  if (parts.empty() || parts.front().field != kRow || parts.back().field != kByte)
    fail("'" + fields + "'", "'row' first and 'byte' last");
  for (size_t f = kStackId; f < kByte; ++f) {
    if (left[f] > 0 && !open[f])
      fail("'" + fields + "'", std::to_string(left[f]) + " more bits of '" + std::string(kNames[f]) + "'");
  }

  for (Part& p : parts) {
    if (p.bits == kOpen && p.field != kRow) p.bits = left[p.field];
  }
  unsigned at = 0;
  for (unsigned f = kStackId; f < kByte; ++f) {
    slots_[f] = {at, 0};
    at += whole[f];
  }
  unsigned shift = 0, digit = 0;  // digit: bits of adjacent spread parts
  for (auto p = parts.rbegin(); p->field != kRow; ++p) {
    if (p->spread && (p == parts.rbegin() || !(p - 1)->spread)) {
      digit = 0;
      for (auto side = p; side->spread; ++side) digit += side->bits;
    }
    for (unsigned b = 0; b < p->bits && p->field != kByte; ++b) {
      Slot& slot = slots_[p->field];
      slot.mask = 2 * slot.mask + 1;
      const uint64_t flips = uint64_t{1} << (slot.shift + static_cast<unsigned>(__builtin_popcountll(slot.mask)) - 1);
      for (unsigned of = shift + b; of < 64; of += p->spread ? digit : 64) of_bit_[of] ^= flips;
      spread_ = spread_ || p->spread;
    }
    shift += p->bits;
  }
  for (unsigned b = 0; b < 64; ++b) used_ |= uint64_t{of_bit_[b] != 0} << b;
  row_shift_ = shift;
}

DramPlace DramBitFields::place_of(uint64_t offset) const {
  uint64_t v = last_place_;
  for (uint64_t bits = (offset ^ last_) & used_; bits != 0; bits &= bits - 1)
    v ^= of_bit_[static_cast<unsigned>(__builtin_ctzll(bits))];
  last_ = offset;
  last_place_ = v;
  DramPlace place;
  place.channel = static_cast<uint16_t>(field(v, kChannel));
  place.pc = static_cast<uint16_t>(field(v, kPc));
  place.stack_id = static_cast<uint16_t>(field(v, kStackId));
  place.group = static_cast<uint16_t>(field(v, kGroup));
  place.bank = static_cast<uint16_t>(field(v, kBank));
  place.row = static_cast<uint32_t>(offset >> row_shift_);
  place.column = field(v, kColumn);
  return place;
}

}  // namespace kernbench::memory
