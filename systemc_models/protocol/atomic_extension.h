// An atomic on TLM sockets (access contract §17.4): a payload of command TLM_IGNORE_COMMAND with this extension, which
// is ignorable: who does not know it passes the payload on, or does nothing. Who has done the atomic says so by `done`.
// Ports and host sockets take it from foreign initiators.
#pragma once

#include <cstdint>
#include <string>
#include <tlm>
#include <vector>

#include "kernbench/phase2/eval/atomic.h"
#include "kernbench/phase2/op/dtype.h"

namespace kernbench {

struct AtomicExtension : tlm::tlm_extension<AtomicExtension> {
  struct Range {
    uint64_t offset = 0;  ///< from the payload's address
    uint64_t nbytes = 0;  ///< a multiple of the element's
  };
  std::string op = "add";         ///< add, max, min, and, or, xor, xchg or cas
  DType dtype = DType::i32;       ///< u32, i32: all; f32: add, max, min, xchg; f16, bf16: add
  std::vector<Range> ranges;      ///< in the order in which their elements are done; they may overlap
  std::vector<uint8_t> operand;   ///< as many bytes as the ranges have
  std::vector<uint8_t> expected;  ///< cas: likewise; else empty
  bool returns_old = true;        ///< false: a reduction, whose response carries no data
  std::vector<uint8_t> old;       ///< filled in: the bytes that were there
  bool done = false;              ///< set by who has done it

  tlm::tlm_extension_base* clone() const override { return new AtomicExtension(*this); }
  void copy_from(const tlm::tlm_extension_base& other) override { *this = static_cast<const AtomicExtension&>(other); }

  uint64_t nbytes() const {
    uint64_t n = 0;
    for (const Range& r : ranges) n += r.nbytes;
    return n;
  }
};

/// What a payload says of an atomic; null: it is none, or does not say.
inline AtomicExtension* atomic_of(const tlm::tlm_generic_payload& p) {
  return p.get_command() == tlm::TLM_IGNORE_COMMAND ? p.get_extension<AtomicExtension>() : nullptr;
}
/// `p` says of an atomic what `like` does, if that does: until it is hidden, before the payload is another's.
inline void show_atomic(tlm::tlm_generic_payload& p, const tlm::tlm_generic_payload* like) {
  if (AtomicExtension* e = like ? atomic_of(*like) : nullptr) p.set_extension(e);
}
inline void hide_atomic(tlm::tlm_generic_payload& p) {
  if (AtomicExtension* e = atomic_of(p)) p.clear_extension(e);
}

}  // namespace kernbench
