// An atomic on TLM sockets (access contract §17.4): a payload of command TLM_IGNORE_COMMAND with this extension, which
// is ignorable: who does not know it passes the payload on, or does nothing. Who has done the atomic says so by `done`.
// Ports and host sockets take it from foreign initiators.
#pragma once

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <optional>
#include <string>
#include <string_view>
#include <tlm>
#include <vector>

#include "kernbench/phase2/eval/convert.h"
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

/// Whether there is such an atomic of that type.
inline bool atomic_exists(std::string_view op, DType t) {
  const std::string_view name = name_of(t);
  const auto one_of = [&](std::initializer_list<std::string_view> ops) {
    return std::find(ops.begin(), ops.end(), op) != ops.end();
  };
  if (name == "u32" || name == "i32") return one_of({"add", "max", "min", "and", "or", "xor", "xchg", "cas"});
  if (name == "f32") return one_of({"add", "max", "min", "xchg"});
  return (name == "f16" || name == "bf16") && op == "add";
}

/// What an element becomes: of its bytes, an operand's, and of a cas what it is expected to be. The atomic exists.
/// f16 and bf16 add in f32 and round once; integers wrap.
inline void do_atomic(std::string_view op, DType t, const uint8_t* operand, const uint8_t* expected, uint8_t* element) {
  const std::string_view name = name_of(t);
  if (name == "f16" || name == "bf16") {
    const auto sum = static_cast<float>(load_scalar(element, t)) + static_cast<float>(load_scalar(operand, t));
    return store_scalar(sum, t, element);
  }
  if (name == "f32") {
    float a = 0, b = 0;
    std::memcpy(&a, element, sizeof a);
    std::memcpy(&b, operand, sizeof b);
    const float c = op == "add" ? a + b : op == "max" ? std::max(a, b) : op == "min" ? std::min(a, b) : b;
    return void(std::memcpy(element, &c, sizeof c));
  }
  uint32_t a = 0, b = 0;
  std::memcpy(&a, element, sizeof a);
  std::memcpy(&b, operand, sizeof b);
  const bool is_less = name == "u32" ? a < b : static_cast<int32_t>(a) < static_cast<int32_t>(b);
  uint32_t c = b;  // xchg
  if (op == "add") c = a + b;
  if (op == "max") c = is_less ? b : a;
  if (op == "min") c = is_less ? a : b;
  if (op == "and") c = a & b;
  if (op == "or") c = a | b;
  if (op == "xor") c = a ^ b;
  if (op == "cas") c = std::memcmp(element, expected, sizeof a) == 0 ? b : a;
  std::memcpy(element, &c, sizeof c);
}

}  // namespace kernbench
