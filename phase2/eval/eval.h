// SPDX-License-Identifier: Apache-2.0
// Computes the values of one op from the bytes of its operands (data rules §4).
//
// An Evaluation is cut into parts. Their number and content depend only on the op, never on threads. Parts may run
// concurrently and in any order, and always give the same bits.
#pragma once

#include <cstdint>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

#include "kernbench/phase2/eval/isa.h"
#include "kernbench/phase2/op/op.h"

namespace kernbench::phase2 {

/// An operand as evaluation reads it: the element at index i is at data + dot(i, strides) elements. Or an immediate.
struct EvalInput {
  const uint8_t* data = nullptr;
  DType dtype = DType::f32;
  Dims shape;
  Dims strides;  ///< in elements; 0 repeats
  bool is_scalar = false;
  double scalar = 0;

  static EvalInput immediate(double v);
  /// Contiguous, row-major.
  static EvalInput tensor(const uint8_t* data, DType, const Dims& shape);
};

/// The op cannot be evaluated: its name is unknown or its operands' shapes do not fit. One line.
class EvalError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

class Evaluation {
 public:
  virtual ~Evaluation() = default;
  virtual int parts() const = 0;
  virtual void run(int part) = 0;
};

/// Whether the op is a masked store, which keeps a part of its destination's contents.
inline bool overwrites_in_part(const OpDesc& d) {
  return d.type == CommandType::store && d.operands.size() > 1;
}

/// The operands that an op reads, in order: desc.operands, then those of its epilogue ops. A masked store reads the old
/// destination (desc.output) last. An atomic reads the old contents of its ranges, then the part of each operand at
/// their offsets, as dense vectors.
std::vector<Operand> inputs_of(const OpDesc&);

/// Prepares the evaluation of desc over `inputs` (in the order of inputs_of) into `out`, which has desc.value_bytes()
/// contiguous bytes. `inputs` and `out` must outlive it. Throws EvalError. Loads and stores are evaluated only if they
/// are masked or gather. A result that an engine computed in Phase 1 (OpDesc::engine_result) is only copied.
std::unique_ptr<Evaluation> make_evaluation(const OpDesc&, const std::vector<EvalInput>& inputs, uint8_t* out, Isa);

/// The text that tl.device_print or device_assert prints, on one line. It has the kernel's line and text, the PE (as a
/// number if its name is not in the text) and the first elements of the tensor.
std::string report_text(const OpDesc&, const EvalInput&);

/// Runs all parts in order.
Bytes evaluate(const OpDesc&, const std::vector<EvalInput>& inputs, Isa = best_isa());

}  // namespace kernbench::phase2
