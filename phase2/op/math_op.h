// SPDX-License-Identifier: Apache-2.0
// The table of math ops. It defines the ops that a kernel may call, an epilogue may contain and Phase 2 evaluates.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "kernbench/phase2/op/dtype.h"
#include "kernbench/phase2/op/fn.h"

namespace kernbench::phase2 {

enum class MathKind : uint8_t {
  elementwise,  ///< position by position, operands broadcast to the output's shape
  reduction,    ///< sum, max, argmax, … along one axis
  softmax,      ///< along one axis, shape kept
  create,       ///< full(value), arange(start, step): scalars in, a tensor out
  scan,         ///< cumsum, … along one axis, shape kept; an immediate: from the end
  sort,         ///< sort, argsort, topk along one axis: immediates (descending, count of elements kept)
  arrange,      ///< elements of the operands in another order: cat, flip, gather
  dequantize,   ///< values of short or packed types times a scale, which covers several elements along the last axis
  histogram,    ///< how many elements have each value below an immediate
  random,       ///< philox: offsets, immediates (seed, rounds, word)
  report,       ///< device_print, device_assert: a report on the operand's values
  chain,        ///< elementwise ops as one command; OpDesc::argument lists them (chain.h)
};

/// The dtype that a result has unless the call says otherwise.
enum class ResultRule : uint8_t {
  promote,        ///< promote() of the operands that hold values
  promote_float,  ///< promote(), or f32 if that is an integer (exp, sqrt, …)
  boolean,        ///< u8, 0 or 1
  index,          ///< i32
  chosen,         ///< chosen by the caller (cast, full, arange)
  wide,           ///< promote(), or i32 if that is a narrower integer (sum, …)
  bits,           ///< u32
  single,         ///< f32
};

/// Which operands an op can be computed from.
enum class Values : uint8_t { any, floats, integers };

/// Energy class of an op's cycle, for energy tables without a constant for the op.
enum class EnergyClass : uint8_t {
  simple,    ///< moves, comparisons, selections, bits, additions
  multiply,  ///< a multiplication or a similar unit; ops of several steps take one cycle for each
};
std::string_view name_of(EnergyClass);

/// Cycles of pe_math for `lanes` elements.
struct OpCycles {
  double each = 1;
  std::string_view as = {};                  ///< if not empty: the cycles of that op
  OpCycles(double cycles) : each(cycles) {}  // NOLINT: rows write a plain number
};

/// The ONNX operator that equals an op.
struct Onnx {
  const char* name = nullptr;
  int since = 0;                     ///< the first opset
  std::optional<Values> takes = {};  ///< if other than the op's
  Onnx() = default;
  Onnx(const char* op, int opset) : name(op), since(opset) {}
  Onnx(const char* op, int opset, Values values) : name(op), since(opset), takes(values) {}
};

/// Number of passes of an op over its elements (docs/timing.md).
enum class Steps : uint8_t {
  one,
  scan,  ///< ⌈log2 n⌉ for n elements along the axis
  sort,  ///< s (s + 1) / 2 with s = ⌈log2 n⌉: a bitonic network
};

constexpr int kAnyNumber = -1;

struct MathOp {
  std::string_view name;
  MathKind kind;
  int arity;  ///< number of operands, including immediates; kAnyNumber: one or more
  ResultRule result;
  bool float_only = false;  ///< integer operands are computed in f32
  bool first_is_condition = false;
  bool integer_only = false;  ///< floats are refused
  Steps steps = Steps::one;
  double cycles = 1;                ///< for a pass over `lanes` elements, on the supplied machines
  std::string_view cycles_as = {};  ///< the op whose listed cycles it uses if it is not listed itself
  EnergyClass energy = EnergyClass::simple;
  std::string_view help = {};
  // For elementwise ops.
  Fn fn = Fn::count;
  double (*f64)(double a, double b, double c) = nullptr;  ///< its value; null if it takes only integers
  /// The value wrapped to 32 or 64 bits; null if it takes only floats.
  int64_t (*i64)(int64_t a, int64_t b, int64_t c, int bits) = nullptr;
  std::string_view triton = {}, library = {};  ///< MLIR operations; functions of libdevice; each separated by blanks
  Onnx onnx = {};
  /// The value in f64 or i64 from all of its operands, up to three.
  double value(const std::vector<double>& x) const { return f64(at(x, 0), at(x, 1), at(x, 2)); }
  int64_t value(const std::vector<int64_t>& x, int bits) const { return i64(at(x, 0), at(x, 1), at(x, 2), bits); }

  Values values() const { return float_only ? Values::floats : integer_only ? Values::integers : Values::any; }
  bool is_reduction() const { return kind == MathKind::reduction; }
  /// Whether a composite may contain it (as head or in the epilogue).
  bool is_elementwise() const { return kind == MathKind::elementwise; }
  /// Whether OpDesc::axis has a meaning.
  bool has_axis() const {
    return is_reduction() || kind == MathKind::softmax || kind == MathKind::scan || kind == MathKind::sort ||
           kind == MathKind::arrange;
  }

 private:
  template <class T>
  static T at(const std::vector<T>& x, size_t i) {
    return i < x.size() ? x[i] : T{};
  }
};

/// Passes of an op over `n` elements along its axis: at least 1.
int64_t steps_of(const MathOp&, int64_t n);

/// Null if there is no op of that name.
const MathOp* find_math_op(std::string_view name);
/// All ops except "chain", whose properties are those of its steps.
const std::vector<MathOp>& math_ops();

/// The common type of two operands. Equal types stay. Integers widen to the smallest type that holds both (u8 with i8:
/// i16, u32 with a signed one: i64). An integer with a float gives the float; different floats give f32.
DType promote(DType, DType);

/// The result's dtype by the op's rule, from its tensor operands in order. Immediates (f32) count only if there is no
/// tensor. `chosen` returns the type of the first operand.
DType result_dtype(const MathOp&, const std::vector<DType>& tensor_operands);

}  // namespace kernbench::phase2
