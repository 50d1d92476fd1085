// SPDX-License-Identifier: Apache-2.0
// An atomic on TLM sockets (access rules §17.4): a payload of command TLM_IGNORE_COMMAND with this ignorable extension.
// A block that does not know it passes the payload on, or does nothing. The block that has done the atomic sets `done`.
// Ports and host sockets accept it from foreign initiators.
#pragma once

#include <cstdint>
#include <string>
#include <tlm>
#include <vector>

#include "kernbench/phase2/eval/atomic.h"
#include "kernbench/phase2/op/dtype.h"

namespace kernbench::protocol {

struct AtomicExtension : tlm::tlm_extension<AtomicExtension> {
  struct Range {
    uint64_t offset = 0;  ///< from the payload's address
    uint64_t nbytes = 0;  ///< a multiple of the element size
  };
  std::string op = "add";         ///< add, max, min, and, or, xor, xchg or cas
  DType dtype = DType::i32;       ///< u32, i32: all; f32: add, max, min, xchg; f16, bf16: add
  std::vector<Range> ranges;      ///< in order of execution of their elements; may overlap
  std::vector<uint8_t> operand;   ///< operand bytes, equal in number to the bytes of the ranges
  std::vector<uint8_t> expected;  ///< cas: likewise; else empty
  bool returns_old = true;        ///< false: a reduction, whose response carries no data
  std::vector<uint8_t> old;       ///< result: the previous bytes
  bool done = false;              ///< set by the block that has done the atomic

  tlm::tlm_extension_base* clone() const override { return new AtomicExtension(*this); }
  void copy_from(const tlm::tlm_extension_base& other) override { *this = static_cast<const AtomicExtension&>(other); }

  uint64_t nbytes() const {
    uint64_t n = 0;
    for (const Range& r : ranges) n += r.nbytes;
    return n;
  }
};

/// The atomic of a payload; null: none, or not described.
inline AtomicExtension* atomic_of(const tlm::tlm_generic_payload& p) {
  return p.get_command() == tlm::TLM_IGNORE_COMMAND ? p.get_extension<AtomicExtension>() : nullptr;
}
/// Gives `p` the atomic of `like`, if it has one, until it is hidden before another use of the payload.
inline void show_atomic(tlm::tlm_generic_payload& p, const tlm::tlm_generic_payload* like) {
  if (AtomicExtension* e = like ? atomic_of(*like) : nullptr) p.set_extension(e);
}
inline void hide_atomic(tlm::tlm_generic_payload& p) {
  if (AtomicExtension* e = atomic_of(p)) p.clear_extension(e);
}

}  // namespace kernbench::protocol
