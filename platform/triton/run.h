// SPDX-License-Identifier: Apache-2.0
// A program of the grid at work: its values by frame, what pe_cpu does for them, and of each operation what becomes of
// it. Numbers and blocks of indices are `known` (values.h), data lie in TCM (engines.h).
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
  /// In a region that combines elements a number stands for a block of them.
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
  /// Told once in a while also where nothing else calls: a loop of it ends at a limit of time.
  void scalar_work() {
    work_ += cycles_.scalar;
    if (work_ >= 65536) flush();  // cycles
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
  /// The blocks of a function, from the first on; what it returns.
  std::vector<Value> blocks(const Region& r, std::vector<Value> arguments);
  std::vector<Value> taken(const Operation& op, size_t first);
  /// Its operations but the last, which is given back.
  const Operation& block(const Block& b, std::vector<Value> arguments);
  /// Yields of a region of one block.
  std::vector<Value> region(const Region& r, std::vector<Value> arguments);
  /// What a block hands on, when nothing of it is needed any more.
  std::vector<Value> left(const Operation& last, std::vector<Value> handed_on);
  void give(const Operation& op, std::vector<Value> results);
  void for_loop(const Operation& op);
  /// What is carried into the next turn does not grow with the turns.
  std::vector<Value> settled(const std::vector<ValueId>& as, std::vector<Value> values);
  void while_loop(const Operation& op);
  void if_else(const Operation& op);

  // ---- Integers -----------------------------------------------------------------------------------------------------
  /// A block of integers as such; null where it is data.
  KnownPtr known(const Value& v, const Type& t);
  /// Its elements, by reading what was loaded.
  Known::Values elements(const Value& v, const Type& t);
  /// Computed once; what it is made of goes then.
  static Known::Values said(const Data& d);
  /// Of an open one its elements alone, which keeps no data alive.
  static KnownPtr only_elements(const KnownPtr& k);
  /// Of blocks that only their elements say: by the op from its operands, when they are needed.
  Value open(const Operation& op, const Type& result, std::vector<Value> operands, std::vector<Type> types,
             const Combine& f);
  using OfElements = std::function<int64_t(const std::vector<Known::Values>& operands, size_t i)>;
  Value open(const Operation& op, const Type& result, std::vector<Value> operands, std::vector<Type> types,
             const OfElements& f);

  /// As data in TCM; of an open one they are made once, and live as long as it does.
  DataPtr lanes(const Value& v, const Type& t);
  void make(const Known& k);
  Value laned(const Value& v, const Type& t);
  void integer_op(const Operation& op);
  Value combined(const Operation& op, const Value& a_in, const Value& b_in, const Type& result, const Combine& f,
                 bool ends_say = false);

  /// The op on data: a call of tl.
  Value on_engine(const Operation& op, std::vector<Value> operands);

  /// Operands of one type by their bits; the type that they have then.
  Type without_sign(std::vector<Value>* operands, const std::vector<Type>& types);
  void compare_op(const Operation& op);

  /// What an engine makes of a comparison of floats, as pe_cpu says it where both were loaded or are known: a branch or
  /// an atomic's mask may ask for it. Of few elements, since the operands stay in TCM as long.
  Value sayable(Value made, const Value& a, const Value& b, Predicate predicate);
  Value compare(const Operation& op, std::vector<Value> operands, const std::vector<Type>& types, const Type& result);

  // ---- Conversions --------------------------------------------------------------------------------------------------
  void convert_op(const Operation& op);

  /// Whether a float becomes the low bits of its integer; else it saturates.
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

  /// Whether only Phase 2 knows it.
  static bool is_pending(const Value& v);

  /// The mask of an access; null: none, or it is `pending`, known to Phase 2 alone. `some`: whether it selects any.
  KnownPtr mask_of(const Operation& op, size_t i, bool* some, DataPtr* pending = nullptr);

  /// Of a load: what it gives where it reads nothing.
  double other_of(const Operation& op, bool* number, size_t i);

  /// Of block pointers and descriptors of floats: PAD_NAN.
  bool pads_with_nan(const Operation& op) const;
  void load(const Operation& op);
  Value nothing(const Type& t);
  void store(const Operation& op);
  void atomic(const Operation& op);

  /// Its words, or what stands for them in the generic form (Triton's enumerations).
  Engines::Atomic atomic_of(const Operation& op, bool cas);
  void make_tile(const Operation& op);
  void advance(const Operation& op);
  void descriptor(const Operation& op);

  // ---- Reductions ---------------------------------------------------------------------------------------------------
  /// The tl reduction that the region is, if it is one.
  std::string single_reduction(const Operation& op) const;

  /// The region on blocks: each argument a block of the same shape.
  std::vector<Value> combine_blocks(const Operation& op, const std::vector<tl::Tensor>& a,
                                    const std::vector<tl::Tensor>& b);
  std::vector<tl::Tensor> dense_operands(const Operation& op);
  void reduce(const Operation& op);

  /// Neighbours by neighbours, in their order.
  void reduce_in_pairs(const Operation& op, int axis);
  void scan(const Operation& op);
  void histogram(const Operation& op);
  void gather(const Operation& op);

  // ---- The rest -----------------------------------------------------------------------------------------------------
  void constant(const Operation& op);
  void bitcast(const Operation& op);
  /// A block of a number.
  static Value blocked(const Value& number, const Type& t);

  /// Of tt.clampf: propagateNan, which is none or all.
  static bool passes_nan_on(const Operation& op);
  void real_op(const Operation& op, const std::string& name);
  void select(const Operation& op);

  /// By an engine.
  Value select(const std::vector<Value>& operands, const Type& condition, const Type& result);

  /// Of blocks of integers that pe_cpu knows or can read: as a sum of what one dimension says, else by their elements;
  /// none where only Phase 2 knows them.
  Value select_known(const Operation& op, const Value& c, const Value& a, const Value& b, const Type& condition,
                     const Type& result);

  /// As offsets to the first's base.
  Value select_pointers(const Operation& op, const Value& c, const Value& a, const Value& b, const Type& condition,
                        const Type& result);
  void print(const Operation& op);
  void promise(const Operation& op, const std::string& what);

  /// Whether it hands values on as they are, or (a dot, what MATH does) says itself what it waits for.
  static bool passes_on(Does d);
  void operation(const Operation& op);
  const Program& program_;
  tl::Context& tl_;
  Engines engines_;
  const ScalarCycles cycles_;
  const Index3 id_, grid_;
  Frame* frame_ = nullptr;
  const Dims* lanes_ = nullptr;
  tl::Tensor* product_ = nullptr;  ///< what the last dot makes, of a turn that is asked for it
  double work_ = 0;
};

}  // namespace kernbench::triton
