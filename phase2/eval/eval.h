// SPDX-License-Identifier: Apache-2.0
// One op's values from its operands' bytes (data rules §4).
//
// An Evaluation is cut into parts whose number and content depend on the op alone, never on threads: any parts may run
// at the same time, in any order, with the same bits.
#pragma once

#include <cstdint>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

#include "kernbench/phase2/eval/isa.h"
#include "kernbench/phase2/op/op.h"

namespace kernbench::phase2 {

/// An operand as evaluation reads it: element i... at data + dot(i, strides) elements, or an immediate.
struct EvalInput {
  const uint8_t* data = nullptr;
  DType dtype = DType::f32;
  Dims shape;
  Dims strides;  ///< elements; 0 repeats
  bool is_scalar = false;
  double scalar = 0;

  static EvalInput immediate(double v);
  /// Contiguous, row-major.
  static EvalInput tensor(const uint8_t* data, DType, const Dims& shape);
};

/// An op that cannot be evaluated: unknown name, operands whose shapes do not fit. One line.
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

/// A masked store, which keeps what its destination held.
inline bool overwrites_in_part(const OpDesc& d) {
  return d.type == CommandType::store && d.operands.size() > 1;
}

/// The operands that an op reads, in order: desc.operands, then those of its epilogue ops in order. A masked store
/// reads the old destination (desc.output) last. An atomic reads what its ranges held, then of each operand what
/// stands at their offsets, as dense vectors.
std::vector<Operand> inputs_of(const OpDesc&);

/// Prepares desc over `inputs` (as inputs_of orders them) into `out`, desc.value_bytes() contiguous bytes. Inputs
/// and `out` outlive it. Throws EvalError. Loads and stores are evaluated where they are masked or gather; what an
/// engine has computed in Phase 1 (OpDesc::engine_result) is only copied.
std::unique_ptr<Evaluation> make_evaluation(const OpDesc&, const std::vector<EvalInput>& inputs, uint8_t* out, Isa);

/// What tl.device_print or device_assert says: the kernel's line and text, the PE (by number where its name is not in
/// the text) and the first elements of the tensor. One line.
std::string report_text(const OpDesc&, const EvalInput&);

/// All parts in order.
Bytes evaluate(const OpDesc&, const std::vector<EvalInput>& inputs, Isa = best_isa());

}  // namespace kernbench::phase2
