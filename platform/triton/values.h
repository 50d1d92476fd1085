// SPDX-License-Identifier: Apache-2.0
// What a running Triton kernel's values are. Numbers, and blocks of integers that follow a rule, are known while the
// simulation runs, on pe_cpu; the rest is data in TCM, which only Phase 2 computes.
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
  /// sum: base + Σ over the axes; product: base and every axis are not 0 (of i1); open: by its op from its operands.
  enum class Form : uint8_t { sum, product, open };
  using Values = std::shared_ptr<const std::vector<int64_t>>;
  /// What an index of one dimension gives: stride · index, or values[index].
  struct Axis {
    int64_t stride = 0;
    Values values;
    bool plain() const { return stride == 0 && !values; }
    int64_t at(int64_t i) const { return values ? (*values)[static_cast<size_t>(i)] : stride * i; }
    /// Whether it has a stride by which no place of a block wraps.
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
  /// Of an open one: its elements, row-major, computed once. Data that are made of its operands are not kept by it.
  struct Elements {
    std::function<Values()> compute;
    Values all;
  };
  std::shared_ptr<Elements> source;
  bool loaded = false;  ///< to know its elements is to read what was loaded
  // And its data: made once of its operands, which it lets go then.
  const Operation* op = nullptr;
  const Function* function = nullptr;  ///< whose types op's values have: it may be a caller's
  mutable std::vector<Value> operands;
  mutable DataPtr made;
  mutable Values all;

  static std::shared_ptr<Known> of(Element e, const Dims& shape, int64_t base);
  /// All alike: a sum without axes.
  bool uniform() const;
  /// Which dimensions it depends on, a bit each; of an open one all.
  uint32_t depends_on() const;
  int64_t at(const std::vector<int64_t>& index) const;
  /// Row-major. Of an open one: what its source gives.
  Values elements() const;
};
using KnownPtr = std::shared_ptr<const Known>;

/// The number in the range that the type has, as a signed one (of i1: 0 or 1).
int64_t wrapped(int64_t n, Element e);
/// What an integer op does to numbers. False: it divides by 0, or shifts by more than there is.
bool apply_integer(const OpInfo&, Element e, int64_t a, int64_t b, int64_t* out);
/// What a comparison asks for: "slt", "une", ….
struct Predicate {
  explicit Predicate(std::string_view word);
  bool less = false, equal = false, greater = false, unordered = false;  ///< which of these hold for it
  bool is_signed = false;                                                ///< of integers
};
bool apply_compare(Predicate, Element e, int64_t a, int64_t b);
bool apply_compare(Predicate, double a, double b);

/// The op on two blocks of integers of one shape, as sum, product or axis values; null where only their elements say
/// it. `f` gives what two elements become (false: it cannot be).
using Combine = std::function<bool(int64_t, int64_t, int64_t*)>;
/// `ends_say`: f is a comparison that, where both have a stride, is true between two places at which it is true.
std::shared_ptr<Known> combine(IntegerOp, Element result, const Known& a, const Known& b, const Combine& f, bool* bad,
                               bool ends_say = false);
/// So many truths that hold: always the same list.
const Known::Values& all_true(int64_t n);
/// Views.
KnownPtr expanded(const Known& k, int axis, const Dims& shape);
KnownPtr broadcast(const Known& k, const Dims& shape);
KnownPtr permuted(const Known& k, const std::vector<int64_t>& order, const Dims& shape);
/// Null where it is no sum or product any more.
KnownPtr reshaped(const Known& k, const Dims& shape);

/// A tensor in TCM, of which only a box need be there: what a mask leaves out is `fill`.
struct Data {
  // Of the tensor's rank; a dimension of 1 where the box has more stands for all of it. Not there yet as long as
  // `chained`, which makes it, is set: of elementwise operations that wait for what reads them.
  mutable tl::Tensor part;
  mutable std::shared_ptr<tl::Chained> chained;
  /// Not none: the part has this shape, with ones where it repeats, and not the line that the tensor is: of one with
  /// more dimensions than tl has, which is there as a whole.
  Dims folds;
  Dims shape;         ///< the tensor's
  Dims first, count;  ///< the box
  double fill = 0;
  bool readable = false;  ///< its elements may be read: they were loaded
  /// Of what an engine makes of loaded floats: how pe_cpu says its elements, where these are needed before Phase 2.
  std::shared_ptr<Known::Elements> said;
  bool product = false;  ///< the GEMM engine makes it: other engines wait for it, and it waits for theirs

  bool whole(int d) const { return first[d] == 0 && count[d] == shape[d]; }
  bool whole() const;
  /// Whether all elements along the dimension are alike.
  bool alike(int d) const { return !folded() && whole(d) && part_shape()[d] == 1; }
  bool folded() const { return folds.rank() > 0; }
  const Dims& part_shape() const { return chained ? chained->shape() : part.shape(); }
  DType dtype() const { return chained ? chained->dtype() : part.dtype(); }
};

/// A tile of a tensor in memory: what a block pointer or a descriptor says.
struct Tile {
  tl::Ptr base;
  std::vector<int64_t> shape, strides, offsets;
  double around = 0;  ///< what a descriptor gives beyond the tensor
};

struct Value {
  enum class Kind : uint8_t {
    none,
    integer,   ///< n
    real,      ///< d
    pointer,   ///< ptr
    known,     ///< a block of integers
    uniform,   ///< a block of floats that are all d
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
