// SPDX-License-Identifier: Apache-2.0
// The table of math ops: what a kernel may call, what an epilogue may hold and what Phase 2 evaluates.
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
  dequantize,   ///< values of short or packed types times a scale, which stands for several along the last axis
  histogram,    ///< how many elements have each value below an immediate
  random,       ///< of philox: offsets, immediates (seed, rounds, word)
  report,       ///< device_print, device_assert: what is told of the operand's values
  chain,        ///< elementwise ops as one command: OpDesc::argument says which (chain.h)
};

/// The dtype that a result has unless the call says otherwise.
enum class ResultRule : uint8_t {
  promote,        ///< promote() of the operands that carry the values
  promote_float,  ///< promote(), f32 where that is an integer (exp, sqrt, …)
  boolean,        ///< u8, 0 or 1
  index,          ///< i32
  chosen,         ///< the caller says (cast, full, arange)
  wide,           ///< promote(), i32 where that is a narrower integer (sum, …)
  bits,           ///< u32
  single,         ///< f32
};

/// Which operands an op can be computed from.
enum class Values : uint8_t { any, floats, integers };

/// What one of an op's cycles spends, where an energy table has no constant of the op itself.
enum class EnergyClass : uint8_t {
  simple,    ///< moves, comparisons, selections, bits, additions
  multiply,  ///< a multiplication, or the like of one: what is made of steps takes a cycle each
};
std::string_view name_of(EnergyClass);

/// Cycles of pe_math for `lanes` elements.
struct OpCycles {
  double each = 1;
  std::string_view as = {};                  ///< not empty: those of that op
  OpCycles(double cycles) : each(cycles) {}  // NOLINT: a row says a number
};

/// The ONNX operator that is an op alone.
struct Onnx {
  const char* name = nullptr;
  int since = 0;                     ///< the first opset
  std::optional<Values> takes = {};  ///< where not as the op
  Onnx() = default;
  Onnx(const char* op, int opset) : name(op), since(opset) {}
  Onnx(const char* op, int opset, Values values) : name(op), since(opset), takes(values) {}
};

/// How often an op passes over its elements (timing: docs/timing.md).
enum class Steps : uint8_t {
  one,
  scan,  ///< ⌈log2 n⌉ of n elements along the axis
  sort,  ///< s (s + 1) / 2, s = ⌈log2 n⌉: a bitonic network
};

constexpr int kAnyNumber = -1;

struct MathOp {
  std::string_view name;
  MathKind kind;
  int arity;  ///< operands, immediates included; kAnyNumber: one or more
  ResultRule result;
  bool float_only = false;  ///< integer operands are computed in f32
  bool first_is_condition = false;
  bool integer_only = false;  ///< floats are refused
  Steps steps = Steps::one;
  double cycles = 1;                ///< of a pass over `lanes` elements, on the machines that ship
  std::string_view cycles_as = {};  ///< the op whose listed cycles it takes where it is not listed itself
  EnergyClass energy = EnergyClass::simple;
  std::string_view help = {};
  // Of elementwise ops.
  Fn fn = Fn::count;
  double (*f64)(double a, double b, double c) = nullptr;  ///< what it means; null: it takes integers alone
  /// The same wrapped to 32 or 64 bits; null: it takes floats alone.
  int64_t (*i64)(int64_t a, int64_t b, int64_t c, int bits) = nullptr;
  std::string_view triton = {}, library = {};  ///< MLIR operations; functions of libdevice: apart by blanks
  Onnx onnx = {};
  /// f64 or i64 of as many operands as there are, up to three.
  double value(const std::vector<double>& x) const { return f64(at(x, 0), at(x, 1), at(x, 2)); }
  int64_t value(const std::vector<int64_t>& x, int bits) const { return i64(at(x, 0), at(x, 1), at(x, 2), bits); }

  Values values() const { return float_only ? Values::floats : integer_only ? Values::integers : Values::any; }
  bool is_reduction() const { return kind == MathKind::reduction; }
  /// Whether it may stand in a composite (head or epilogue).
  bool is_elementwise() const { return kind == MathKind::elementwise; }
  /// Whether OpDesc::axis says something.
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

/// Null where there is no op of that name.
const MathOp* find_math_op(std::string_view name);
/// All but "chain", which is what its steps are.
const std::vector<MathOp>& math_ops();

/// The common type of two operands: the same type stays; integers widen to the smallest type that holds both
/// (u8 with i8: i16, u32 with a signed one: i64); an integer with a float gives the float; different floats give f32.
DType promote(DType, DType);

/// The result's dtype by the op's rule from its tensor operands in order (immediates take part only where there is no
/// tensor: they are f32). `chosen` returns the first operand's.
DType result_dtype(const MathOp&, const std::vector<DType>& tensor_operands);

}  // namespace kernbench::phase2
