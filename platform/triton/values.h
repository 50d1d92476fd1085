// SPDX-License-Identifier: Apache-2.0
// Values of a running Triton kernel. Numbers and regular blocks of integers are known during the simulation, on pe_cpu.
// All others are data in TCM, which only phase 2 computes.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "kernbench/kernel_api/chain.h"
#include "kernbench/kernel_api/context.h"
#include "kernbench/platform/triton/ir.h"
#include "kernbench/platform/triton/op_table.h"

namespace kernbench::triton {

struct Value;
struct Data;
using DataPtr = std::shared_ptr<const Data>;

/// A block of integers: indices, offsets, masks.
struct Known {
  /// sum: base + Σ over the axes. product (i1): base and all axes are nonzero. open: an op applied to its operands.
  enum class Form : uint8_t { sum, product, open };
  using Values = std::shared_ptr<const std::vector<int64_t>>;
  /// A dimension's contribution per index: stride · index, or values[index].
  struct Axis {
    int64_t stride = 0;
    Values values;
    bool plain() const { return stride == 0 && !values; }
    int64_t at(int64_t i) const { return values ? (*values)[static_cast<size_t>(i)] : stride * i; }
    /// Whether it has a stride that cannot make an index of a block wrap.
    bool has_short_stride() const {
      constexpr int64_t kFar = int64_t{1} << 40;
      return !values && stride > -kFar && stride < kFar;
    }
  };
  Form form = Form::sum;
  Element element = Element::i32;
  Dims shape;
  int64_t base = 0;
  std::array<Axis, kMaxRank> axes;
  /// An open block's elements, row-major, computed once. It does not keep data made of its operands alive.
  struct Elements {
    std::function<Values()> compute;
    Values all;
  };
  std::shared_ptr<Elements> source;
  bool loaded = false;  ///< its elements must be read from loaded data
  // An open block's data are made once of its operands, which are then dropped.
  const Operation* op = nullptr;
  const Function* function = nullptr;  ///< has the types of op's values; may be a caller
  mutable std::vector<Value> operands;
  mutable DataPtr made;
  mutable Values all;

  static std::shared_ptr<Known> of(Element e, const Dims& shape, int64_t base);
  /// All elements are equal: a sum without axes.
  bool uniform() const;
  /// Bit mask of the dimensions it depends on; all for an open block.
  uint32_t depends_on() const;
  int64_t at(const std::vector<int64_t>& index) const;
  /// Row-major; an open block computes them.
  Values elements() const;
};
using KnownPtr = std::shared_ptr<const Known>;

/// The number wrapped into the type's range, as a signed one (i1: 0 or 1).
int64_t wrapped(int64_t n, Element e);
/// An integer op on numbers. False: division by 0 or too large shift.
bool apply_integer(const OpInfo&, Element e, int64_t a, int64_t b, int64_t* out);
/// A comparison's meaning: "slt", "une", ….
struct Predicate {
  explicit Predicate(std::string_view word);
  bool less = false, equal = false, greater = false, unordered = false;  ///< which relations satisfy it
  bool is_signed = false;                                                ///< for integers
};
bool apply_compare(Predicate, Element e, int64_t a, int64_t b);
bool apply_compare(Predicate, double a, double b);

/// The op on two integer blocks of one shape as sum, product or axis values. Null if only elements can express it. `f`
/// computes one element (false: undefined).
using Combine = std::function<bool(int64_t, int64_t, int64_t*)>;
/// `ends_say`: f is a comparison that, for two strides, holds between any two places at which it holds.
std::shared_ptr<Known> combine(IntegerOp, Element result, const Known& a, const Known& b, const Combine& f, bool* bad,
                               bool ends_say = false);
/// A list of n times true, shared by all calls.
const Known::Values& all_true(int64_t n);
/// Views.
KnownPtr expanded(const Known& k, int axis, const Dims& shape);
KnownPtr broadcast(const Known& k, const Dims& shape);
KnownPtr permuted(const Known& k, const std::vector<int64_t>& order, const Dims& shape);
/// Null if the result is no sum or product.
KnownPtr reshaped(const Known& k, const Dims& shape);

/// A tensor in TCM of which only a box is stored; the elements outside it are `fill`.
struct Data {
  // Has the tensor's rank. A dimension of size 1 represents all of a larger box. While `chained` is set, elementwise
  // operations wait for their readers and the part does not exist.
  mutable tl::Tensor part;
  mutable std::shared_ptr<tl::Chained> chained;
  /// If not empty: the shape of the part, with 1 where it repeats. Used for tensors with more dimensions than tl
  /// supports, which are stored completely; `shape` is then one line.
  Dims folds;
  Dims shape;         ///< the tensor's
  Dims first, count;  ///< the box
  double fill = 0;
  bool readable = false;  ///< its elements were loaded and can be read
  /// For engine results of loaded floats: computes the elements on pe_cpu, if they are needed before phase 2.
  std::shared_ptr<Known::Elements> said;
  bool product = false;  ///< computed by the GEMM engine: other engines wait for it, and it for theirs

  bool whole(int d) const { return first[d] == 0 && count[d] == shape[d]; }
  bool whole() const;
  /// Whether all elements along the dimension are equal.
  bool alike(int d) const { return !folded() && whole(d) && part_shape()[d] == 1; }
  bool folded() const { return folds.rank() > 0; }
  const Dims& part_shape() const { return chained ? chained->shape() : part.shape(); }
  DType dtype() const { return chained ? chained->dtype() : part.dtype(); }
};

/// A tile of a tensor in memory, from a block pointer or descriptor.
struct Tile {
  tl::Ptr base;
  std::vector<int64_t> shape, strides, offsets;
  double around = 0;  ///< a descriptor's value outside the tensor
};

struct Value {
  enum class Kind : uint8_t {
    none,
    integer,   ///< n
    real,      ///< d
    pointer,   ///< ptr
    known,     ///< a block of integers
    uniform,   ///< a block of floats that all equal d
    pointers,  ///< ptr + known
    data,
    tile,
  } kind = Kind::none;
  int64_t n = 0;
  double d = 0;
  tl::Ptr ptr;
  KnownPtr known;
  DataPtr data;
  std::shared_ptr<const Tile> tile;

  static Value of(int64_t number) {
    Value v;
    v.kind = Kind::integer;
    v.n = number;
    return v;
  }
  static Value of_real(double number) {
    Value v;
    v.kind = Kind::real;
    v.d = number;
    return v;
  }
  static Value of(KnownPtr k) {
    Value v;
    v.kind = Kind::known;
    v.known = std::move(k);
    return v;
  }
  static Value of(DataPtr d) {
    Value v;
    v.kind = Kind::data;
    v.data = std::move(d);
    return v;
  }
  static Value of(const tl::Ptr& p) {
    Value v;
    v.kind = Kind::pointer;
    v.ptr = p;
    return v;
  }
  bool is(Kind k) const { return kind == k; }
};

}  // namespace kernbench::triton
