// SPDX-License-Identifier: Apache-2.0
// What a Triton kernel's data go through: calls of tl on the parts of tensors that masks leave.
//
// A tensor's box (Data) is what was loaded; operations work on boxes, and on what lies around them as a number. Where a
// box must grow, what is around it is put there first (pad). 0 · x is 0 and -inf - x is -inf around a box, whatever x.
#pragma once

#include <array>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "kernbench/platform/triton/values.h"

namespace kernbench::triton {

class Engines {
 public:
  /// `joins`: elementwise ops wait for what reads them, to be one MATH command with it (kernel_api/chain.h).
  Engines(const tl::Context& tl, bool joins) : tl_(tl.async()), sync_(tl), joins_(joins) { loading_.reserve(8); }

  /// Whose calls return at once.
  tl::Context& tl() { return tl_; }
  /// Where calls stand in the Python source from now on; it lives as long as the run's records.
  void at(const SourceLine& where) { where_ = where; }
  const SourceLine& where() const { return where_; }
  [[noreturn]] void fault(const std::string& what) const { throw KernelFault(where_, what); }

  /// The value as data of that type: numbers become blocks of one element that stands for all.
  DataPtr data(const Value&, const Type&);
  /// What waits for its readers is submitted: its part is there then.
  static void settle(const Value&);
  static const DataPtr& settled(const DataPtr&);
  /// Its part is there, and has the tensor's rank.
  DataPtr plain(const DataPtr&);
  /// Elementwise, by tl's name of the op. Floats that are known stay so. What it gives, and what select(), cast(),
  /// truncate() and without_sign() give, may wait for its readers.
  Value math(const std::string& op, const std::vector<Value>& operands, const std::vector<Type>& types,
             const Type& result);
  /// x^y, which the engines have no op for: |x|^y is 2^(y log2 |x|), in f32, and has x's sign where y is odd; -0 is 0.
  Value power(const Value& x, const Value& y, const Type&);
  /// Elements of a constant.
  template <class T>
  DataPtr given(const std::vector<T>& elements, const Type& t) {
    return of(tl_.tensor(elements, t.shape, dtype_of(t.element), where_.file, where_.line), t.shape, true);
  }
  /// a where the condition holds, else b.
  Value select(const Value& condition, const Value& a, const Value& b, const Type& condition_type, const Type& result);
  DataPtr cast(const DataPtr&, Element to);
  /// Integers' low bits, as the type has them.
  DataPtr truncate(const DataPtr&, const Type& from, const Type& to);
  /// The same bits as another type of as many.
  DataPtr reinterpret(const DataPtr&, Element to);
  /// Integers of up to 32 bits by their bits, without sign, in a type that is twice as wide or more: `wide`.
  DataPtr without_sign(const DataPtr&, const Type& from, Type* wide);
  /// Before another engine than GEMM takes it: what GEMM makes must be there.
  void await(const Value& v) {
    if (v.is(Value::Kind::data)) await(*v.data);
  }
  void await(const Data& d) {
    if (d.product) tl_.wait(d.part);
  }
  /// A · B + C; shapes [m, k], [k, n].
  Value dot(const Value& a, const Value& b, const Value& c, const Type& ta, const Type& tb, const Type& td);
  /// sum, max, min, maxnum or minnum along an axis.
  DataPtr reduce(const std::string& op, const DataPtr&, int axis, const Type& result);
  /// The tensor with all its elements there.
  DataPtr whole(const DataPtr&);
  /// The same, with as many elements as its shape has.
  tl::Tensor dense(const DataPtr&);
  /// Its part within a box that holds it.
  DataPtr pad(const DataPtr&, const Dims& first, const Dims& count);
  /// One tensor of several along a dimension. All ranks alike.
  tl::Tensor stack(const std::vector<tl::Tensor>& pieces, int dimension);
  tl::Tensor full(const Dims& shape, double value, DType dtype) { return full(tl_, shape, value, dtype); }
  tl::Tensor full(tl::Context& tl, const Dims& shape, double value, DType dtype) {
    return tl.full(shape, value, dtype, where_.file, where_.line);
  }
  static DataPtr of(const tl::Tensor& part, const Dims& shape, bool readable = false);

  /// A view of a block.
  DataPtr expand(const DataPtr&, int axis, const Dims& shape);
  DataPtr spread(const DataPtr&, const Dims& shape);  ///< broadcast
  /// The same of tensors with more dimensions than tl has.
  DataPtr spread_deep(const DataPtr&, const Shape& from, const Shape& to);
  DataPtr permute(const DataPtr&, const std::vector<int64_t>& order, const Dims& shape);
  DataPtr reshape(const DataPtr&, const Dims& shape);

  // Memory (access.cpp).
  Value load(const tl::Ptr&, const KnownPtr& offsets, const KnownPtr& mask, double other, const Type& result);
  /// `on`: a mask that only Phase 2 knows, instead of the other.
  void store(const tl::Ptr&, const KnownPtr& offsets, const KnownPtr& mask, const Value&, const Type& type,
             const DataPtr& on = nullptr);
  /// An atomic: `op` by tl's name; null `offsets`: of one element. Its old values, or with `reduces` nothing.
  struct Atomic {
    std::string op;
    tl::Sem sem = tl::Sem::acq_rel;
    bool is_unsigned = false;  ///< of integers that have no sign of their own
    bool reduces = false;      ///< nobody asks for the old values
    const Value* expected = nullptr;
  };
  Value atomic(const Atomic&, tl::Ptr, const KnownPtr& offsets, const KnownPtr& mask, const Value&, const Type&);
  /// Of tiles: which of their indices lie in the tensor, along the dimensions that are checked.
  static KnownPtr tile_offsets(const Tile&, const Dims& shape);
  static KnownPtr tile_mask(const Tile&, const Dims& shape, const std::vector<bool>& checked);
  /// The stores since the last call.
  std::vector<tl::Event> take_stores() { return std::exchange(stores_, {}); }

  /// Its elements, which are integers, by reading what was loaded.
  std::vector<int64_t> read(const DataPtr&);
  /// The same of floats.
  std::vector<double> read_reals(const DataPtr&);

 private:
  template <class T>
  static std::vector<T> read_as(const DataPtr&, const tl::Loaded& box);
  tl::Arg arg(const tl::Tensor& t) const { return {t, where_.file, where_.line}; }
  tl::Tensor call(const std::string& op, const std::vector<tl::Arg>&);
  /// Of an elementwise command: numbers, which become immediates, and blocks.
  struct Operands {
    static constexpr size_t kMost = 3;
    size_t count = 0;
    std::array<double, kMost> numbers{};
    std::array<DataPtr, kMost> blocks;
  };
  struct Box {
    Dims first, count;
  };
  static Box box_of(const Operands&, const Dims& shape);
  static bool fill_of(const std::string& op, const Operands&, const Box&, const Dims& shape, double* fill);
  /// The folds in which all those of the blocks are told apart; none where none is folded, or tl has not as many
  /// dimensions.
  static Dims common_folds(const Operands&);
  DataPtr folded(const DataPtr&, const Dims& folds);
  tl::Chained::Input input(const Data&) const;
  /// The same of blocks that may wait, into a block whose part it is.
  void compute(const std::string& op, std::vector<tl::Chained::Input>, Data* into,
               std::optional<DType> cast = std::nullopt);
  tl::Tensor known(const Known&, const Dims& first, const Dims& count);
  /// One element, exactly: a command where it is an immediate, else a tensor that pe_cpu makes.
  tl::Tensor number(int64_t, int rank, DType);
  /// Elements' offsets, and which of them count (null: all), for tl.
  tl::Tensor index_of(const Known::Values& at, const Known::Values& on, tl::Tensor* mask);
  tl::Arg operand(const Value&, const Type&, DType, int64_t n);
  tl::Tensor axis_tensor(const Known&, int d, int64_t first, int64_t count);

  struct Place;
  struct Run;
  class Runs;
  tl::Tensor load_block(const tl::Ptr&, const Runs&, const Place&, bool* readable);
  Value load_elements(const tl::Ptr&, const Known& offsets, const Known* mask, double other, const Type&);
  void write(const tl::Ptr&, const KnownPtr& offsets, const KnownPtr& mask, const Value&, const Type&,
             const DataPtr& on);
  void store_block(const tl::Ptr&, const Runs&, const Place&, const tl::Tensor& value, const tl::Tensor& on);
  void store_elements(const tl::Ptr&, const Known& offsets, const Known* mask, const tl::Tensor& value);

  // Accesses of a program are done in its order. A store of tl has its effect when it is submitted, but a load when it
  // completes and an atomic when memory serves it: what overlaps one of these waits for it. And what reads a store's
  // bytes waits until they are in memory.
  struct Span {
    uint64_t begin = 0, end = 0;  ///< bytes: what is touched lies between them
    bool meets(const Span& s) const { return begin < s.end && s.begin < end; }
  };
  /// A load as long as somebody holds what it brings; it takes no room in TCM itself.
  class Loading : private tl::Tensor {
   public:
    Loading(const Span& s, const tl::Tensor& t) : tl::Tensor(t), span(s), held_(handle_) { handle_.reset(); }
    bool held() const { return !held_.expired(); }
    tl::Tensor tensor() const;
    Span span;

   private:
    std::weak_ptr<tl::detail::Handle> held_;
  };
  /// A store, or an atomic.
  struct Written {
    Span span;
    std::vector<tl::Event> done;
    tl::Tensor old;  ///< of an atomic that gives old values, instead of `done`
    std::string op;  ///< where its order among others of that op does not show; else empty
  };
  static Span span_of(const tl::Ptr&, const Known& offsets, const Known* mask);
  void before_load(const Span& s) { wait_for_written(s, ""); }
  /// For what is in flight and meets the span, but for what is of the same op.
  void wait_for_written(const Span&, const std::string& op);
  void before_store(const Span&);
  /// Waits for the loads in flight that meet the span; null: for all.
  void wait_for_loads(const Span*);
  void in_flight(const Span&, const tl::Tensor& load);
  void in_flight(Written);

  tl::Context tl_;    ///< whose calls return at once
  tl::Context sync_;  ///< of parts of one tensor: what reads that does not wait for them
  const bool joins_;
  SourceLine where_;
  std::vector<tl::Event> stores_;
  std::vector<Loading> loading_;  ///< what may not have come yet
  std::vector<Written> written_;  ///< what may not be done yet
};

Dims ones(int rank);
Dims zeros(int rank);
/// Dimensions of the tensor; a number's are none.
Dims shape_of(const Type&);
/// What lies around a box, as the type holds it: integers wrap. False: it is no immediate.
bool held(double* fill, Element);
/// What the op makes of known floats; NaN-safe. False: not known.
bool apply_real(const std::string& op, const std::vector<double>& x, double* out);
/// Whether a command can carry it: immediates are doubles.
bool is_immediate(int64_t);
/// What the engines' casts make of a float: the nearest integer towards 0 that the type has; of NaN 0.
int64_t saturated(double, Element);
/// A number as the type holds it.
double rounded(double, Element);
/// A number by its bits as another type of as many: integers and floats.
Value with_bits_of(const Value& number, Element from, Element to);

}  // namespace kernbench::triton
