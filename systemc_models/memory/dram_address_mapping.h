// SPDX-License-Identifier: Apache-2.0
// Mapping of addresses to DRAM banks. It is a user-defined class (dram_policies.h:
// KERNBENCH_REGISTER_NAMED(DramMapping, …), with a constructor from a DramGeometry), or a string of bit fields from the
// highest to the lowest, such as
//
//   row stack_id bank^ column group^ channel^ pc^ column:1 byte
//
// Fields are row, stack_id, group, bank, column, channel, pc and byte (in a burst). A field may have several parts,
// with the higher bits first. `:BITS` gives the bits of a part; one part of each field may omit them and gets the
// remaining bits of the geometry. `row` is first and has all remaining bits: as many rows as the memory needs. `byte`
// is last. `^` after a part's name spreads it: adjacent spread parts form one digit, which is xor-ed with all digits of
// the address above it. So strides of any power of two reach all values of the digit, and the mapping stays one to one.
// Plain C++, no SystemC.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "kernbench/systemc_models/core/named_registry.h"
#include "kernbench/systemc_models/memory/dram_timing.h"

namespace kernbench::memory {

/// The position of a burst.
struct DramPlace {
  uint16_t channel = 0, pc = 0, stack_id = 0, group = 0, bank = 0;  ///< each within the previous one
  uint32_t row = 0, column = 0;                                     ///< column: number of a burst in its row
};
bool operator==(const DramPlace&, const DramPlace&);

class DramMapping {
 public:
  static NamedClasses<DramMapping, DramGeometry>& registry();
  /// By a registered name, or by bit fields. std::invalid_argument with the found and the legal values, in one line.
  static std::unique_ptr<const DramMapping> from(const std::string& text, const DramGeometry&);
  virtual ~DramMapping() = default;
  /// `offset`: from the first byte of the memory. Bursts are aligned to their size.
  virtual DramPlace place_of(uint64_t offset) const = 0;
  /// Period in bytes after which places repeat, except for rows; 0: none.
  virtual uint64_t period() const { return 0; }
};

class DramBitFields : public DramMapping {
 public:
  DramBitFields(const std::string& fields, const DramGeometry&);
  DramPlace place_of(uint64_t offset) const override;
  uint64_t period() const override { return spread_ ? 0 : uint64_t{1} << row_shift_; }

 private:
  enum Field : uint8_t { kRow, kStackId, kGroup, kBank, kColumn, kChannel, kPc, kByte, kFields };
  struct Part {
    Field field;
    unsigned bits = 0;
    bool spread = false;
  };
  struct Slot {  // a field's position in the values of of_bit_
    unsigned shift = 0;
    uint64_t mask = 0;
  };
  uint32_t field(uint64_t place, Field f) const {
    return static_cast<uint32_t>((place >> slots_[f].shift) & slots_[f].mask);
  }

  /// For each bit of an address: the bits of the place that it flips. All fields except row and byte are side by side
  /// in their slots.
  std::array<uint64_t, 64> of_bit_ = {};
  std::array<Slot, kFields> slots_ = {};
  uint64_t used_ = 0;  ///< bits that flip anything
  /// The last address and its place: the next one often differs from it in few bits.
  mutable uint64_t last_ = 0, last_place_ = 0;
  unsigned row_shift_ = 0;
  bool spread_ = false;
};

}  // namespace kernbench::memory
