// Where an address lies in a DRAM: a string of bit fields from the highest to the lowest, such as
//
//   row stack_id bank^ column group^ channel^ pc^ column:1 byte
//
// Fields are row, stack_id, group, bank, column, channel, pc and byte (in a burst). A field may stand in several parts,
// the higher bits first; a part's bits are told by `:BITS`, and of each field one part may leave them out, which then
// has what the geometry leaves for it. `row` comes first and has all bits that are left: as many rows as the memory
// needs. `byte` comes last. A `^` behind a part's name spreads it: spread parts side by side are one digit, which is
// xor-ed with all digits of the address above it, so that strides of any power of two go to all of its values; it stays
// one to one. Plain C++: no SystemC here.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "kernbench/systemc_models/memory/dram_timing.h"

namespace kernbench {

/// A burst's place.
struct DramPlace {
  uint16_t channel = 0, pc = 0, stack_id = 0, group = 0, bank = 0;  ///< each within the one before
  uint32_t row = 0, column = 0;                                     ///< column: number of a burst in its row
};
bool operator==(const DramPlace&, const DramPlace&);

class DramAddressMapping {
 public:
  /// std::invalid_argument with what was found and what is legal, in one line.
  DramAddressMapping(const std::string& fields, const DramGeometry&);

  /// `offset`: from the first byte of the memory.
  DramPlace place_of(uint64_t offset) const;
  /// Bytes after which places repeat, but for their rows; 0: never.
  uint64_t period() const { return spread_ ? 0 : uint64_t{1} << row_shift_; }

 private:
  enum Field : uint8_t { kRow, kStackId, kGroup, kBank, kColumn, kChannel, kPc, kByte, kFields };
  struct Part {
    Field field;
    unsigned bits = 0, shift = 0;  ///< in the address
    unsigned low = 0;              ///< in the field
    std::vector<uint64_t> parity;  ///< spread: by bit, whose of the address are xor-ed
  };
  std::vector<Part> parts_;  ///< but for row and byte
  unsigned row_shift_ = 0;
  bool spread_ = false;
};

}  // namespace kernbench
