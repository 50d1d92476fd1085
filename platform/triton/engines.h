// SPDX-License-Identifier: Apache-2.0
// Calls of tl for the data of a Triton kernel, on the parts of tensors that masks select.
//
// A tensor's box (Data) holds the loaded elements. Operations compute boxes; the value around a box is one number, the
// fill. If a box must grow, pad() writes the fill first. Around a box 0 · x is 0 and -inf - x is -inf for any x.
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
  /// `joins`: an elementwise op waits for its readers, so that both can be one MATH command (kernel_api/chain.h).
  Engines(const tl::Context& tl, bool joins) : tl_(tl.async()), sync_(tl), joins_(joins) { loading_.reserve(8); }

  /// Its calls return at once.
  tl::Context& tl() { return tl_; }
  /// The Python source line of the following calls. It must live as long as the run's records.
  void at(const SourceLine& where) { where_ = where; }
  const SourceLine& where() const { return where_; }
  [[noreturn]] void fault(const std::string& what) const { throw KernelFault(where_, what); }

  /// The value as data of that type. A number becomes a block of one element that represents all.
  DataPtr data(const Value&, const Type&);
  /// Submits a value that waits for its readers, so that its part exists.
  static void settle(const Value&);
  static const DataPtr& settled(const DataPtr&);
  /// The data with an existing part that has the tensor's rank.
  DataPtr plain(const DataPtr&);
  /// Elementwise; `op` is tl's name. Known floats stay known. The results of math(), select(), cast(), truncate() and
  /// without_sign() may wait for their readers.
  Value math(const std::string& op, const std::vector<Value>& operands, const std::vector<Type>& types,
             const Type& result);
  /// x^y. The engines have no such op: |x|^y is 2^(y log2 |x|) in f32, with x's sign if y is odd; -0 counts as 0.
  Value power(const Value& x, const Value& y, const Type&);
  /// A constant's elements.
  template <class T>
  DataPtr given(const std::vector<T>& elements, const Type& t) {
    return of(tl_.tensor(elements, t.shape, dtype_of(t.element), where_.file, where_.line), t.shape, true);
  }
  /// a if the condition holds, else b.
  Value select(const Value& condition, const Value& a, const Value& b, const Type& condition_type, const Type& result);
  DataPtr cast(const DataPtr&, Element to);
  /// The low bits of integers, sign-extended as the type does.
  DataPtr truncate(const DataPtr&, const Type& from, const Type& to);
  /// The same bits as another type of the same size.
  DataPtr reinterpret(const DataPtr&, Element to);
  /// Integers of up to 32 bits read as unsigned, in a type `wide` that is at least twice as wide.
  DataPtr without_sign(const DataPtr&, const Type& from, Type* wide);
  /// Waits for results of the GEMM engine; call it before another engine reads them.
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
  /// The tensor with all its elements present.
  DataPtr whole(const DataPtr&);
  /// The same, with as many stored elements as its shape has.
  tl::Tensor dense(const DataPtr&);
  /// The part extended to a larger box.
  DataPtr pad(const DataPtr&, const Dims& first, const Dims& count);
  /// Several tensors stacked along a dimension. All have equal rank.
  tl::Tensor stack(const std::vector<tl::Tensor>& pieces, int dimension);
  tl::Tensor full(const Dims& shape, double value, DType dtype) { return full(tl_, shape, value, dtype); }
  tl::Tensor full(tl::Context& tl, const Dims& shape, double value, DType dtype) {
    return tl.full(shape, value, dtype, where_.file, where_.line);
  }
  static DataPtr of(const tl::Tensor& part, const Dims& shape, bool readable = false);

  /// Views of a block.
  DataPtr expand(const DataPtr&, int axis, const Dims& shape);
  DataPtr spread(const DataPtr&, const Dims& shape);  ///< broadcast
  /// The same for tensors with more dimensions than tl supports.
  DataPtr spread_deep(const DataPtr&, const Shape& from, const Shape& to);
  DataPtr permute(const DataPtr&, const std::vector<int64_t>& order, const Dims& shape);
  DataPtr reshape(const DataPtr&, const Dims& shape);

  // Memory (access.cpp).
  Value load(const tl::Ptr&, const KnownPtr& offsets, const KnownPtr& mask, double other, const Type& result);
  /// `on`: a mask that only phase 2 knows; it replaces `mask`.
  void store(const tl::Ptr&, const KnownPtr& offsets, const KnownPtr& mask, const Value&, const Type& type,
             const DataPtr& on = nullptr);
  /// An atomic; `op` is tl's name. Null `offsets`: one element. Returns the old values, or nothing if `reduces`.
  struct Atomic {
    std::string op;
    tl::Sem sem = tl::Sem::acq_rel;
    bool is_unsigned = false;  ///< the integers are unsigned
    bool reduces = false;      ///< the old values are unused
    const Value* expected = nullptr;
  };
  Value atomic(const Atomic&, tl::Ptr, const KnownPtr& offsets, const KnownPtr& mask, const Value&, const Type&);
  /// Offsets and mask of a tile. The mask says, for the checked dimensions, which indices lie in the tensor.
  static KnownPtr tile_offsets(const Tile&, const Dims& shape);
  static KnownPtr tile_mask(const Tile&, const Dims& shape, const std::vector<bool>& checked);
  /// Stores since the last call.
  std::vector<tl::Event> take_stores() { return std::exchange(stores_, {}); }

  /// The elements of loaded integers, read from TCM.
  std::vector<int64_t> read(const DataPtr&);
  /// The same for floats.
  std::vector<double> read_reals(const DataPtr&);

 private:
  template <class T>
  static std::vector<T> read_as(const DataPtr&, const tl::Loaded& box);
  tl::Arg arg(const tl::Tensor& t) const { return {t, where_.file, where_.line}; }
  tl::Tensor call(const std::string& op, const std::vector<tl::Arg>&);
  /// Operands of an elementwise command: numbers (as immediates) and blocks.
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
  /// The coarsest folds that keep the folds of all blocks separate. Empty if no block is folded, or if tl has too few
  /// dimensions.
  static Dims common_folds(const Operands&);
  DataPtr folded(const DataPtr&, const Dims& folds);
  tl::Chained::Input input(const Data&) const;
  /// The same for blocks that may wait; the result becomes the part of `into`.
  void compute(const std::string& op, std::vector<tl::Chained::Input>, Data* into,
               std::optional<DType> cast = std::nullopt);
  tl::Tensor known(const Known&, const Dims& first, const Dims& count);
  /// One exact element: an immediate if possible, else a tensor that pe_cpu makes.
  tl::Tensor number(int64_t, int rank, DType);
  /// Offsets of the elements and their mask (null `on`: all), as tensors for tl.
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

  // Accesses of a program take effect in program order. A store of tl takes effect when it is submitted, a load when it
  // completes, an atomic when memory serves it. So an access that overlaps an open load or atomic waits for it, and a
  // load waits until overlapping stores are in memory.
  struct Span {
    uint64_t begin = 0, end = 0;  ///< byte range that contains all touched bytes
    bool meets(const Span& s) const { return begin < s.end && s.begin < end; }
  };
  /// A load whose result is still held elsewhere. It holds no TCM itself.
  class Loading : private tl::Tensor {
   public:
    Loading(const Span& s, const tl::Tensor& t) : tl::Tensor(t), span(s), held_(handle_) { handle_.reset(); }
    bool held() const { return !held_.expired(); }
    tl::Tensor tensor() const;
    Span span;

   private:
    std::weak_ptr<tl::detail::Handle> held_;
  };
  /// An open store or atomic.
  struct Written {
    Span span;
    std::vector<tl::Event> done;
    tl::Tensor old;  ///< of an atomic that returns old values; replaces `done`
    std::string op;  ///< op whose order among equal ops is not observable; else empty
  };
  static Span span_of(const tl::Ptr&, const Known& offsets, const Known* mask);
  void before_load(const Span& s) { wait_for_written(s, ""); }
  /// Waits for open writes that overlap the span, except for those of the same op.
  void wait_for_written(const Span&, const std::string& op);
  void before_store(const Span&);
  /// Waits for open loads that overlap the span; null: for all.
  void wait_for_loads(const Span*);
  void in_flight(const Span&, const tl::Tensor& load);
  void in_flight(Written);

  tl::Context tl_;    ///< its calls return at once
  tl::Context sync_;  ///< for parts of one tensor, whose readers do not wait for them
  const bool joins_;
  SourceLine where_;
  std::vector<tl::Event> stores_;
  std::vector<Loading> loading_;  ///< loads that may still be open
  std::vector<Written> written_;  ///< writes that may still be open
};

Dims ones(int rank);
Dims zeros(int rank);
/// Dimensions of the tensor; empty for a number.
Dims shape_of(const Type&);
/// Converts a fill value to the type; integers wrap. False: it is no immediate.
bool held(double* fill, Element);
/// The op on known floats, correct for NaN. False: unknown.
bool apply_real(const std::string& op, const std::vector<double>& x, double* out);
/// Whether a command can carry the number: immediates are doubles.
bool is_immediate(int64_t);
/// A float as the engines cast it: rounded towards 0 and saturated to the type's range; NaN becomes 0.
int64_t saturated(double, Element);
/// A number rounded to the type.
double rounded(double, Element);
/// The bits of a number read as another type of the same size, integer or float.
Value with_bits_of(const Value& number, Element from, Element to);

}  // namespace kernbench::triton
