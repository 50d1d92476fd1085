// Values in a PE's TCM, as a kernel holds them.
//
// A Tensor is a handle: shape, dtype and strides over a TCM buffer that is shared by copies and views and given back
// when the last of them dies. What it holds never changes. Compute results are pending through all of Phase 1 (data
// contract §1): a Tensor can be passed on, viewed, stored and waited for, but its elements cannot be read, which the
// compiler says. A Loaded is what tl.load returns; its elements are data (unless the memory it read was pending).
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
  /// No value; using it is a KernelFault.
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
  /// Number of the handle within its PE: "h7" in messages.
  uint64_t id() const;

  // Views: no copy, no command, no time. Shapes that do not fit are KernelFaults.

  /// The last two dimensions swapped.
  Tensor transpose(KERNBENCH_TL_HERE) const;
  /// Dimensions in the order given.
  Tensor permute(const std::vector<int>& order, KERNBENCH_TL_HERE) const;
  /// Elements [first, first + count) along an axis.
  Tensor slice(int axis, int64_t first, int64_t count, KERNBENCH_TL_HERE) const;
  /// The same elements in another shape (one dimension may be -1). A view that is not dense cannot be reshaped:
  /// tl.copy it first.
  Tensor reshape(const Dims& shape, KERNBENCH_TL_HERE) const;
  Tensor view(const Dims& shape, KERNBENCH_TL_HERE) const { return reshape(shape, file, line); }
  /// Whether reshape() can do it without a copy.
  bool can_reshape(const Dims& shape, KERNBENCH_TL_HERE) const;
  /// A dimension of 1 inserted before `axis`.
  Tensor expand_dims(int axis, KERNBENCH_TL_HERE) const;
  /// Repeats dimensions of 1 (stride 0), numpy's rule.
  Tensor broadcast_to(const Dims& shape, KERNBENCH_TL_HERE) const;

  /// This handle as data: a KernelFault that names handle and producing op if it is pending.
  Loaded loaded() const;

  // The elements of a compute result do not exist until Phase 2: use a tl.load's result, or store and read back.
  template <class... Index>
  double operator()(Index...) const = delete;
  template <class T>
  T item() const = delete;
  template <class T>
  std::vector<T> to_vector() const = delete;
  explicit operator bool() const = delete;

  /// Where the elements are.
  TensorRef ref() const;
  /// "h7 (shape [4, 8] f32)".
  std::string to_string() const;

 protected:
  friend class detail::Core;
  friend class Context;
  friend class Arg;
  explicit Tensor(std::shared_ptr<detail::Handle> handle);
  Tensor viewed(const Dims& shape, const Dims& strides, int64_t offset) const;
  const detail::Handle& handle() const;  ///< KernelFault if there is none

  std::shared_ptr<detail::Handle> handle_;
  Dims shape_;
  Dims strides_;
  int64_t offset_ = 0;  ///< elements from the buffer's first
  DType dtype_ = DType::f32;
};

/// The result of a tl.load: elements can be read. Reading waits for the load if it is in flight; a load of pending
/// memory is a KernelFault when read.
class Loaded : public Tensor {
 public:
  Loaded() = default;

  /// An index, and the kernel's line. Made implicitly.
  struct Index {
    template <class T, std::enable_if_t<std::is_integral_v<T> || std::is_enum_v<T>, int> = 0>
    Index(T i, KERNBENCH_TL_HERE) : at(static_cast<int64_t>(i)), where{file, line} {}  // NOLINT: implicit
    int64_t at;
    SourceLine where;
  };
  /// The element at an index; as many indices as dimensions. All values but those of an i64 beyond 2^53 fit a double
  /// exactly; item() and to_vector() of an integer type give those, too.
  template <class... More>
  double operator()(Index first, More... more) const {
    return element({first.at, static_cast<int64_t>(more)...}, first.where);
  }
  double operator()() const { return element({}, {}); }
  /// The only element of a tensor of one.
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
  /// Truth of the only element of a tensor of one.
  explicit operator bool() const { return only_element({}) != 0; }  // no room for its line

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
  /// All elements of an i64; where `where` has a line there must be one.
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

// Elementwise operators: MATH commands, synchronous, with numpy's broadcasting; comparisons give masks of u8.
Tensor operator+(const Arg& a, const Arg& b);
Tensor operator-(const Arg& a, const Arg& b);
Tensor operator*(const Arg& a, const Arg& b);
Tensor operator/(const Arg& a, const Arg& b);
Tensor operator-(const Arg& a);
/// C's remainder: it has a's sign.
Tensor operator%(const Arg& a, const Arg& b);
// Of integers. >> copies the sign of signed types; a shift by the width or more, or by less than 0, shifts all out.
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
