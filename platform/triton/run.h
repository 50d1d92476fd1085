// SPDX-License-Identifier: Apache-2.0
// A running program of the grid: its values by frame, pe_cpu's work and the execution of each operation. Numbers and
// index blocks are `known` (values.h); data are in TCM (engines.h).
#pragma once

#include <deque>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "kernbench/platform/triton/interpreter.h"

namespace kernbench::triton {

class Run {
 public:
  Run(const Program& program, tl::Context& tl, const Index3& id, const Index3& grid, bool joins)
      : program_(program), tl_(tl), engines_(tl, joins), cycles_(tl.scalar_cycles()), id_(id), grid_(grid) {}

  std::vector<Value> function(const Function& f, const std::vector<Value>& arguments);
  void finish();

 private:
  using VK = Value::Kind;
  struct Frame {
    const Function& function;
    std::vector<Value> values;
  };
  Value& value(ValueId v) { return frame_->values[v]; }
  const Type& type(ValueId v) const { return frame_->function.types[v]; }
  /// In a region that combines elements, a number represents a block.
  Type lanes_type(ValueId v) const {
    Type t = type(v);
    if (lanes_ && !t.tensor) {
      t.tensor = true;
      t.shape = *lanes_;
    }
    return t;
  }
  const Value& in(const Operation& op, size_t i) {
    const Value& v = value(op.operands[i]);
    if (v.is(VK::none)) fault(op, "a value is used before it is there");
    return v;
  }
  [[noreturn]] void fault(const Operation& op, const std::string& what) const;

  // ---- pe_cpu -------------------------------------------------------------------------------------------------------
  /// Reports work regularly, so that a loop without other calls still reaches the time limit.
  void scalar_work() {
    work_ += cycles_.scalar;
    if (work_ >= 65536) flush();
  }
  void index_work() { work_ += cycles_.index; }
  void flush() {
    if (work_ == 0) return;
    const double cycles = work_;
    work_ = 0;
    tl_.elapse(cycles, engines_.where().file, engines_.where().line);
  }
  int64_t integer(const Operation& op, size_t i) { return integer(op, in(op, i)); }
  int64_t integer(const Operation& op, const Value& v);

  // ---- Control ------------------------------------------------------------------------------------------------------
  /// Runs a function's blocks from the first; returns the function's results.
  std::vector<Value> blocks(const Region& r, std::vector<Value> arguments);
  std::vector<Value> taken(const Operation& op, size_t first);
  /// Runs all operations except the last, which it returns.
  const Operation& block(const Block& b, std::vector<Value> arguments);
  /// Results of a region of one block.
  std::vector<Value> region(const Region& r, std::vector<Value> arguments);
  /// A block's outgoing values; the block's own references are dropped.
  std::vector<Value> left(const Operation& last, std::vector<Value> handed_on);
  void give(const Operation& op, std::vector<Value> results);
  void for_loop(const Operation& op);
  /// Values carried into the next iteration must not grow with the number of iterations.
  std::vector<Value> settled(const std::vector<ValueId>& as, std::vector<Value> values);
  void while_loop(const Operation& op);
  void if_else(const Operation& op);

  // ---- Integers -----------------------------------------------------------------------------------------------------
  /// A block of integers; null if it is data.
  KnownPtr known(const Value& v, const Type& t);
  /// The elements; loaded ones are read from TCM.
  Known::Values elements(const Value& v, const Type& t);
  /// Computed once; the operands are dropped afterwards.
  static Known::Values said(const Data& d);
  /// An open block's elements without its data, to free the data.
  static KnownPtr only_elements(const KnownPtr& k);
  /// A block that is only known by its elements: the op is applied to its operands when the elements are needed.
  Value open(const Operation& op, const Type& result, std::vector<Value> operands, std::vector<Type> types,
             const Combine& f);
  using OfElements = std::function<int64_t(const std::vector<Known::Values>& operands, size_t i)>;
  Value open(const Operation& op, const Type& result, std::vector<Value> operands, std::vector<Type> types,
             const OfElements& f);

  /// As data in TCM. An open block's data are made once and live as long as the block.
  DataPtr lanes(const Value& v, const Type& t);
  void make(const Known& k);
  Value laned(const Value& v, const Type& t);
  void integer_op(const Operation& op);
  Value combined(const Operation& op, const Value& a_in, const Value& b_in, const Type& result, const Combine& f,
                 bool ends_say = false);

  /// The op on data, as a call of tl.
  Value on_engine(const Operation& op, std::vector<Value> operands);

  /// Reinterprets operands of one type as unsigned; returns the resulting type.
  Type without_sign(std::vector<Value>* operands, const std::vector<Type>& types);
  void compare_op(const Operation& op);

  /// Makes a float comparison on an engine also computable on pe_cpu, if both operands were loaded or are known. A
  /// branch or an atomic's mask may need it. Only for few elements, because the operands stay in TCM until then.
  Value sayable(Value made, const Value& a, const Value& b, Predicate predicate);
  Value compare(const Operation& op, std::vector<Value> operands, const std::vector<Type>& types, const Type& result);

  // ---- Conversions --------------------------------------------------------------------------------------------------
  void convert_op(const Operation& op);

  /// Whether a float becomes its integer's low bits; else it saturates.
  static bool low_bits(const Operation& op, const Type& to);
  DataPtr converted(const Operation& op, const Value& v, const Type& from, const Type& to);

  // ---- Views --------------------------------------------------------------------------------------------------------
  void view_op(const Operation& op);
  Value view(const Operation& op, const Value& v);
  KnownPtr known_view(const Operation& op, const Known& k, const Type& to);
  Value open_view(const Operation& op, const Value& v, const Type& to);
  void splat(const Operation& op);

  // ---- Memory -------------------------------------------------------------------------------------------------------
  void addptr(const Operation& op);
  void int_to_ptr(const Operation& op);
  void ptr_to_int(const Operation& op);

  /// Whether only phase 2 knows the value.
  static bool is_pending(const Value& v);

  /// An access's mask. Null: no mask, or phase 2 alone knows it (`pending`). `some`: whether it selects anything.
  KnownPtr mask_of(const Operation& op, size_t i, bool* some, DataPtr* pending = nullptr);

  /// The value of a load where nothing is read.
  double other_of(const Operation& op, bool* number, size_t i);

  /// PAD_NAN of float block pointers and descriptors.
  bool pads_with_nan(const Operation& op) const;
  void load(const Operation& op);
  Value nothing(const Type& t);
  void store(const Operation& op);
  void atomic(const Operation& op);

  /// The attributes as words; the generic form has Triton's enumerators instead.
  Engines::Atomic atomic_of(const Operation& op, bool cas);
  void make_tile(const Operation& op);
  void advance(const Operation& op);
  void descriptor(const Operation& op);

  // ---- Reductions ---------------------------------------------------------------------------------------------------
  /// The tl reduction that equals the region, if there is one.
  std::string single_reduction(const Operation& op) const;

  /// The region on blocks; all arguments have equal shapes.
  std::vector<Value> combine_blocks(const Operation& op, const std::vector<tl::Tensor>& a,
                                    const std::vector<tl::Tensor>& b);
  std::vector<tl::Tensor> dense_operands(const Operation& op);
  void reduce(const Operation& op);

  /// Combines neighbours, in order.
  void reduce_in_pairs(const Operation& op, int axis);
  void scan(const Operation& op);
  void histogram(const Operation& op);
  void gather(const Operation& op);

  // ---- The rest -----------------------------------------------------------------------------------------------------
  void constant(const Operation& op);
  void bitcast(const Operation& op);
  /// A number as a block.
  static Value blocked(const Value& number, const Type& t);

  /// tt.clampf's propagateNan: none or all.
  static bool passes_nan_on(const Operation& op);
  void real_op(const Operation& op, const std::string& name);
  void select(const Operation& op);

  /// On an engine.
  Value select(const std::vector<Value>& operands, const Type& condition, const Type& result);

  /// For integer blocks that pe_cpu knows or can read: a sum over dimensions if possible, else by elements. None if
  /// only phase 2 knows them.
  Value select_known(const Operation& op, const Value& c, const Value& a, const Value& b, const Type& condition,
                     const Type& result);

  /// As offsets from the first pointer's base.
  Value select_pointers(const Operation& op, const Value& c, const Value& a, const Value& b, const Type& condition,
                        const Type& result);
  void print(const Operation& op);
  void promise(const Operation& op, const std::string& what);

  /// Whether the operation forwards its operands, or waits for them itself (dot, MATH).
  static bool passes_on(Does d);
  void operation(const Operation& op);
  const Program& program_;
  tl::Context& tl_;
  Engines engines_;
  const ScalarCycles cycles_;
  const Index3 id_, grid_;
  Frame* frame_ = nullptr;
  const Dims* lanes_ = nullptr;
  tl::Tensor* product_ = nullptr;  ///< receives the last dot's result of an iteration, if not null
  double work_ = 0;
};

}  // namespace kernbench::triton
