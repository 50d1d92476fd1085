// SPDX-License-Identifier: Apache-2.0
// A PE's mapped virtual addresses, exact to the byte. Any number of mappings may share a page, and a mapping may be
// smaller than a page (docs/memory.md).
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <stdexcept>
#include <string>

#include "kernbench/phase2/op/op.h"

namespace kernbench::pe {

/// A tensor's virtual range and its physical pieces. Immutable, shared by all MMUs that contain it.
struct VirtualMapping {
  std::string tensor;
  Space space = Space::hbm;  ///< of all pieces
  Translation range;         ///< every piece lies in one memory
  uint64_t nbytes = 0;       ///< of all pieces together

  uint64_t begin() const { return range.virtual_addr; }
  uint64_t end() const { return range.virtual_addr + nbytes; }
  /// "x [0x10000000000000, 0x10000000000400)".
  std::string to_string() const;
};

/// An access that the table cannot resolve. One line: address, size, and the nearest mapping.
class TranslationFault : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

class MappingTable {
 public:
  /// Adds a mapping. If it overlaps another one, that one is returned and nothing changes.
  const VirtualMapping* map(std::shared_ptr<const VirtualMapping>);
  /// Removes the mapping that is exactly [addr, addr + nbytes). Returns false if there is none.
  bool unmap(uint64_t addr, uint64_t nbytes);

  /// The physical pieces and the space of [addr, addr + nbytes), which must lie in one mapping. TranslationFault.
  std::shared_ptr<const Translation> translate(uint64_t addr, uint64_t nbytes, Space* space) const;
  /// "nearest mapping: x [0x…, 0x…)", or that there is none.
  std::string nearest(uint64_t addr) const;
  size_t size() const { return by_begin_.size(); }

 private:
  /// The last mapping that begins at or before the address, or null.
  const VirtualMapping* at_or_before(uint64_t addr) const;

  std::map<uint64_t, std::shared_ptr<const VirtualMapping>> by_begin_;
};

}  // namespace kernbench::pe
