#include "kernbench/systemc_models/memory/dram_address_mapping.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <stdexcept>
#include <string_view>

#include "kernbench/phase2/text/text_stream.h"

namespace kernbench {
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
  std::array<unsigned, kFields> left = {};  // bits of each field that no part has yet
  left[kStackId] = log2_of(g.stack_ids);
  left[kGroup] = log2_of(g.bank_groups);
  left[kBank] = log2_of(g.banks);
  left[kColumn] = log2_of(g.page_bytes / g.burst_bytes);
  left[kChannel] = log2_of(g.channels);
  left[kPc] = log2_of(g.pseudo_channels);
  left[kByte] = log2_of(g.burst_bytes);

  constexpr unsigned kOpen = ~0u;
  struct Word {
    Part part;
    bool spread;
  };
  std::vector<Word> words;
  std::array<bool, kFields> open = {}, named = {};
  TextInput in(fields);
  for (std::string word; in >> word;) {
    const std::string quoted = "'" + word + "'";
    std::string_view name(word);
    Word w{{kRow, kOpen, 0, 0, {}}, false};
    if (const size_t colon = name.find(':'); colon != name.npos) {
      const std::string_view bits = name.substr(colon + 1);
      const auto [end, error] = std::from_chars(bits.data(), bits.data() + bits.size(), w.part.bits);
      if (error != std::errc() || end != bits.data() + bits.size() || w.part.bits > 63)
        fail(quoted, "a number of bits behind ':'");
      name = name.substr(0, colon);
    }
    if (!name.empty() && name.back() == '^') {
      w.spread = true;
      name.remove_suffix(1);
    }
    const auto known = std::find(kNames.begin(), kNames.end(), name);
    if (known == kNames.end()) {
      std::string others;
      for (const std::string& other : DramMapping::registry().names()) others += ", or " + other;
      fail(quoted, "fields row, stack_id, group, bank, column, channel, pc, byte" + others);
    }
    w.part.field = static_cast<Field>(known - kNames.begin());
    const bool edge = w.part.field == kRow || w.part.field == kByte;
    if (edge && (named[w.part.field] || w.part.bits != kOpen || w.spread))
      fail(quoted, "one plain '" + std::string(name) + "'");
    if (w.part.bits == kOpen && open[w.part.field]) fail(quoted, "one part of a field without ':BITS'");
    named[w.part.field] = true;
    if (w.part.bits == kOpen) {
      open[w.part.field] = true;
    } else if (w.part.bits > left[w.part.field]) {
      fail(quoted, "at most the " + std::to_string(left[w.part.field]) + " bits that are left of the field");
    } else {
      left[w.part.field] -= w.part.bits;
    }
    words.push_back(std::move(w));
  }
  if (words.empty() || words.front().part.field != kRow || words.back().part.field != kByte)
    fail("'" + fields + "'", "'row' first and 'byte' last");
  for (size_t f = kStackId; f < kByte; ++f) {
    if (left[f] > 0 && !open[f])
      fail("'" + fields + "'", std::to_string(left[f]) + " more bits of '" + std::string(kNames[f]) + "'");
  }

  for (Word& w : words) {
    if (w.part.bits == kOpen && w.part.field != kRow) w.part.bits = left[w.part.field];
  }
  unsigned shift = 0, digit = 0;  // of the spread parts side by side
  std::array<unsigned, kFields> low = {};
  for (auto w = words.rbegin(); w != words.rend(); ++w) {
    Part& p = w->part;
    if (p.field == kRow) break;
    if (w->spread && (w == words.rbegin() || !(w - 1)->spread)) {
      digit = 0;
      for (auto side = w; side->spread; ++side) digit += side->part.bits;
    }
    p.shift = shift;
    p.low = low[p.field];
    shift += p.bits;
    low[p.field] += p.bits;
    if (p.field == kByte || p.bits == 0) continue;
    for (unsigned b = 0; w->spread && b < p.bits; ++b) {
      uint64_t mask = 0;
      for (unsigned at = p.shift + b; at < 64; at += digit) mask |= uint64_t{1} << at;
      p.parity.push_back(mask);
    }
    spread_ = spread_ || w->spread;
    parts_.push_back(std::move(p));
  }
  row_shift_ = shift;
}

DramPlace DramBitFields::place_of(uint64_t offset) const {
  std::array<uint32_t, kFields> value = {};
  for (const Part& p : parts_) {
    uint64_t v = 0;
    if (p.parity.empty()) {
      v = (offset >> p.shift) & ((uint64_t{1} << p.bits) - 1);
    } else {
      for (unsigned b = 0; b < p.bits; ++b) v |= static_cast<uint64_t>(__builtin_parityll(offset & p.parity[b])) << b;
    }
    value[p.field] |= static_cast<uint32_t>(v << p.low);
  }
  DramPlace place;
  place.channel = static_cast<uint16_t>(value[kChannel]);
  place.pc = static_cast<uint16_t>(value[kPc]);
  place.stack_id = static_cast<uint16_t>(value[kStackId]);
  place.group = static_cast<uint16_t>(value[kGroup]);
  place.bank = static_cast<uint16_t>(value[kBank]);
  place.row = static_cast<uint32_t>(offset >> row_shift_);
  place.column = value[kColumn];
  return place;
}

}  // namespace kernbench
