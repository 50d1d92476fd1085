// SPDX-License-Identifier: Apache-2.0
// Values in a PE's TCM, as a kernel holds them.
//
// A Tensor is a handle: shape, dtype and strides over a TCM buffer. Copies and views share the buffer; the last one
// frees it. Its contents never change. Results of computations are pending during Phase 1 (data rules §1). Such a
// Tensor can be passed on, viewed, stored and waited for; code that reads its elements does not compile. A Loaded is
// the result of tl.load; its elements can be read, unless the loaded memory was pending.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <type_traits>
#include <vector>

#include "kernbench/kernel_api/here.h"
#include "kernbench/phase2/op/op.h"

namespace kernbench::tl {

namespace detail {
struct Handle;
class Core;
}  // namespace detail

class Loaded;

class Tensor {
 public:
  /// An empty handle; using it is a KernelFault.
  Tensor() = default;

  bool valid() const { return handle_ != nullptr; }
  const Dims& shape() const { return shape_; }
  int rank() const { return shape_.rank(); }
  /// Extent of one dimension; negative axes count from the end.
  int64_t dim(int axis, KERNBENCH_TL_HERE) const;
  int64_t elements() const { return shape_.elements(); }
  DType dtype() const { return dtype_; }
  const Dims& strides() const { return strides_; }  ///< elements
  bool contiguous() const;
  /// Number of the handle within its PE; messages show it as "h7".
  uint64_t id() const;

  // Views need no copy, no command and no time. KernelFault for shapes that do not fit.

  /// The last two dimensions swapped.
  Tensor transpose(KERNBENCH_TL_HERE) const;
  /// Dimensions in the order given.
  Tensor permute(const std::vector<int>& order, KERNBENCH_TL_HERE) const;
  /// Elements [first, first + count) along an axis.
  Tensor slice(int axis, int64_t first, int64_t count, KERNBENCH_TL_HERE) const;
  /// The same elements in another shape (one dimension may be -1). A view that is not dense cannot be reshaped; use
  /// tl.copy first.
  Tensor reshape(const Dims& shape, KERNBENCH_TL_HERE) const;
  Tensor view(const Dims& shape, KERNBENCH_TL_HERE) const { return reshape(shape, file, line); }
  /// Whether reshape() works without a copy.
  bool can_reshape(const Dims& shape, KERNBENCH_TL_HERE) const;
  /// Inserts a dimension of 1 before `axis`.
  Tensor expand_dims(int axis, KERNBENCH_TL_HERE) const;
  /// Repeats dimensions of 1 (stride 0), as numpy does.
  Tensor broadcast_to(const Dims& shape, KERNBENCH_TL_HERE) const;

  /// This handle as data. KernelFault, with the handle and its producing op, if it is pending.
  Loaded loaded() const;

  // The elements of a computed result do not exist before Phase 2: use the result of a tl.load, or store and load it.
  template <class... Index>
  double operator()(Index...) const = delete;
  template <class T>
  T item() const = delete;
  template <class T>
  std::vector<T> to_vector() const = delete;
  explicit operator bool() const = delete;

  /// Location of the elements.
  TensorRef ref() const;
  /// "h7 (shape [4, 8] f32)".
  std::string to_string() const;

 protected:
  friend class detail::Core;
  friend class Context;
  friend class Arg;
  explicit Tensor(std::shared_ptr<detail::Handle> handle);
  Tensor viewed(const Dims& shape, const Dims& strides, int64_t offset) const;
  const detail::Handle& handle() const;  ///< KernelFault if it is empty

  std::shared_ptr<detail::Handle> handle_;
  Dims shape_;
  Dims strides_;
  int64_t offset_ = 0;  ///< elements, from the start of the buffer
  DType dtype_ = DType::f32;
};

/// The result of a tl.load; its elements can be read. A read waits for a load in flight. KernelFault for reading a load
/// of pending memory.
class Loaded : public Tensor {
 public:
  Loaded() = default;

  /// An index with the kernel's line. Made implicitly.
  struct Index {
    template <class T, std::enable_if_t<std::is_integral_v<T> || std::is_enum_v<T>, int> = 0>
    Index(T i, KERNBENCH_TL_HERE) : at(static_cast<int64_t>(i)), where{file, line} {}  // NOLINT: implicit
    int64_t at;
    SourceLine where;
  };
  /// The element at an index, with one number for each dimension. A double holds all values exactly, except those of an
  /// i64 beyond 2^53; item() and to_vector() of an integer type return those too.
  template <class... More>
  double operator()(Index first, More... more) const {
    return element({first.at, static_cast<int64_t>(more)...}, first.where);
  }
  double operator()() const { return element({}, {}); }
  /// The element of a tensor with one element.
  template <class T>
  T item(KERNBENCH_TL_HERE) const {
    if constexpr (std::is_integral_v<T>) {
      if (dtype_ == DType::i64) return static_cast<T>(whole({file, line}).at(0));
    }
    return static_cast<T>(only_element({file, line}));
  }
  /// All elements in row-major order.
  template <class T>
  std::vector<T> to_vector() const {
    static_assert(std::is_arithmetic_v<T>);
    if constexpr (std::is_integral_v<T>) {
      if (dtype_ == DType::i64) {
        const std::vector<int64_t> values = whole({});
        return std::vector<T>(values.begin(), values.end());
      }
    }
    const std::vector<double> values = read_all();
    return std::vector<T>(values.begin(), values.end());
  }
  /// Truth of the element of a tensor with one element.
  explicit operator bool() const { return only_element({}) != 0; }  // takes no argument for its line

  Loaded transpose(KERNBENCH_TL_HERE) const { return Loaded(Tensor::transpose(file, line)); }
  Loaded permute(const std::vector<int>& order, KERNBENCH_TL_HERE) const {
    return Loaded(Tensor::permute(order, file, line));
  }
  Loaded slice(int axis, int64_t first, int64_t count, KERNBENCH_TL_HERE) const {
    return Loaded(Tensor::slice(axis, first, count, file, line));
  }
  Loaded reshape(const Dims& shape, KERNBENCH_TL_HERE) const { return Loaded(Tensor::reshape(shape, file, line)); }
  Loaded view(const Dims& shape, KERNBENCH_TL_HERE) const { return Loaded(Tensor::reshape(shape, file, line)); }
  Loaded expand_dims(int axis, KERNBENCH_TL_HERE) const { return Loaded(Tensor::expand_dims(axis, file, line)); }
  Loaded broadcast_to(const Dims& shape, KERNBENCH_TL_HERE) const {
    return Loaded(Tensor::broadcast_to(shape, file, line));
  }

 private:
  friend class Tensor;
  friend class Context;
  explicit Loaded(const Tensor& t) : Tensor(t) {}
  double element(const std::vector<int64_t>& index, const SourceLine& where) const;
  double only_element(const SourceLine& where) const;
  std::vector<double> read_all() const;
  Bytes read_bytes() const;
  /// All elements of an i64; if `where` has a line, there must be exactly one.
  std::vector<int64_t> whole(const SourceLine& where) const;
};

/// An operand of a math op: a tensor or an immediate, and the kernel's source line. Made implicitly.
class Arg {
 public:
  Arg(const Tensor& t, const char* file = __builtin_FILE(), int line = __builtin_LINE())  // NOLINT: implicit
      : tensor_(t), where_{file, line} {}
  template <class T, std::enable_if_t<std::is_arithmetic_v<T>, int> = 0>
  Arg(T immediate, const char* file = __builtin_FILE(), int line = __builtin_LINE())  // NOLINT: implicit
      : scalar_(static_cast<double>(immediate)), is_scalar_(true), where_{file, line} {}

  bool is_scalar() const { return is_scalar_; }
  double scalar() const { return scalar_; }
  const Tensor& tensor() const { return tensor_; }
  const SourceLine& where() const { return where_; }
  /// "h7 (shape [4, 8] f32)" or "2.5".
  std::string to_string() const;

 private:
  Tensor tensor_;
  double scalar_ = 0;
  bool is_scalar_ = false;
  SourceLine where_;
};

// Elementwise operators are synchronous MATH commands with numpy's broadcasting. Comparisons return masks of u8.
Tensor operator+(const Arg& a, const Arg& b);
Tensor operator-(const Arg& a, const Arg& b);
Tensor operator*(const Arg& a, const Arg& b);
Tensor operator/(const Arg& a, const Arg& b);
Tensor operator-(const Arg& a);
/// C's remainder: it has the sign of a.
Tensor operator%(const Arg& a, const Arg& b);
// For integers. >> copies the sign of signed types. A shift by a negative count, or by the width or more, shifts out
// all bits.
Tensor operator&(const Arg& a, const Arg& b);
Tensor operator|(const Arg& a, const Arg& b);
Tensor operator^(const Arg& a, const Arg& b);
Tensor operator<<(const Arg& a, const Arg& b);
Tensor operator>>(const Arg& a, const Arg& b);
Tensor operator~(const Arg& a);
Tensor operator<(const Arg& a, const Arg& b);
Tensor operator<=(const Arg& a, const Arg& b);
Tensor operator>(const Arg& a, const Arg& b);
Tensor operator>=(const Arg& a, const Arg& b);
Tensor operator==(const Arg& a, const Arg& b);
Tensor operator!=(const Arg& a, const Arg& b);
Tensor& operator+=(Tensor& a, const Arg& b);
Tensor& operator-=(Tensor& a, const Arg& b);
Tensor& operator*=(Tensor& a, const Arg& b);
Tensor& operator/=(Tensor& a, const Arg& b);

}  // namespace kernbench::tl
