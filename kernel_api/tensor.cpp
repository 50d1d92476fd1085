// SPDX-License-Identifier: Apache-2.0
#include "kernbench/kernel_api/tensor.h"

#include <cstdio>

#include "kernbench/kernel_api/core.h"

namespace kernbench::tl {

namespace {

std::string describe(uint64_t id, const Dims& shape, DType dtype) {
  return "h" + std::to_string(id) + " (shape " + shape.to_string() + " " + std::string(name_of(dtype)) + ")";
}

int checked_axis(int axis, int rank, const Tensor& t, const char* call, SourceLine where) {
  if (axis < -rank || axis >= rank) {
    detail::fault(where, std::string(call) + ": axis " + std::to_string(axis) + " does not exist in " + t.to_string());
  }
  return axis < 0 ? axis + rank : axis;
}

/// Strides that give `shape` over elements with layout (from, strides); none if that needs a copy.
bool reshaped_strides(const Dims& from, const Dims& strides, const Dims& shape, Dims* out) {
  Dims kept_shape;
  Dims kept_strides;
  for (int i = 0; i < from.rank(); ++i) {
    if (from[i] == 1) continue;
    kept_shape.push_back(from[i]);
    kept_strides.push_back(strides[i]);
  }
  *out = shape;
  int i = kept_shape.rank() - 1;
  int j = shape.rank() - 1;
  while (j >= 0) {
    if (shape[j] == 1) {
      (*out)[j--] = 1;
      continue;
    }
    // The old dimensions that correspond to new dimension j and its left neighbours must be dense.
    int64_t have = kept_shape[i];
    int64_t want = shape[j];
    int first_old = i;
    int first_new = j;
    while (have != want) {
      if (have < want) {
        --first_old;
        if (kept_strides[first_old] != kept_strides[first_old + 1] * kept_shape[first_old + 1]) return false;
        have *= kept_shape[first_old];
      } else {
        want *= shape[--first_new];
      }
    }
    int64_t stride = kept_strides[i];
    for (int n = j; n >= first_new; --n) {
      (*out)[n] = stride;
      stride *= shape[n];
    }
    i = first_old - 1;
    j = first_new - 1;
  }
  return true;
}

}  // namespace

Tensor::Tensor(std::shared_ptr<detail::Handle> handle)
    : handle_(std::move(handle)),
      shape_(handle_->buffer.shape),
      strides_(handle_->buffer.strides),
      dtype_(handle_->buffer.dtype) {}

const detail::Handle& Tensor::handle() const {
  if (handle_ == nullptr) throw KernelFault("an empty tensor is used: nothing was assigned to it");
  return *handle_;
}

uint64_t Tensor::id() const {
  return handle().id;
}

int64_t Tensor::dim(int axis, const char* file, int line) const {
  return shape_[checked_axis(axis, rank(), *this, "dim", {file, line})];
}

bool Tensor::contiguous() const {
  return ref().contiguous();
}

TensorRef Tensor::ref() const {
  TensorRef r = handle().buffer;
  r.addr += static_cast<uint64_t>(offset_) * size_of(dtype_);
  r.shape = shape_;
  r.strides = strides_;
  r.dtype = dtype_;  // differs from the buffer's if the bits are reinterpreted
  return r;
}

std::string Tensor::to_string() const {
  return valid() ? describe(handle_->id, shape_, dtype_) : "an empty tensor";
}

Tensor Tensor::viewed(const Dims& shape, const Dims& strides, int64_t offset) const {
  handle();
  Tensor t = *this;
  t.shape_ = shape;
  t.strides_ = strides;
  t.offset_ = offset;
  return t;
}

Tensor Tensor::transpose(const char* file, int line) const {
  if (rank() < 2) detail::fault({file, line}, "transpose of " + to_string() + ": needs rank 2 or more");
  Dims shape = shape_;
  Dims strides = strides_;
  std::swap(shape[rank() - 1], shape[rank() - 2]);
  std::swap(strides[rank() - 1], strides[rank() - 2]);
  return viewed(shape, strides, offset_);
}

Tensor Tensor::permute(const std::vector<int>& order, const char* file, int line) const {
  Dims shape;
  Dims strides;
  uint32_t seen = 0;
  for (int axis : order) {
    const int a = checked_axis(axis, rank(), *this, "permute", {file, line});
    seen |= 1u << a;
    shape.push_back(shape_[a]);
    strides.push_back(strides_[a]);
  }
  if (static_cast<int>(order.size()) != rank() || seen != (1u << rank()) - 1) {
    detail::fault({file, line}, "permute of " + to_string() + ": the order must name every dimension once");
  }
  return viewed(shape, strides, offset_);
}

Tensor Tensor::slice(int axis, int64_t first, int64_t count, const char* file, int line) const {
  const int a = checked_axis(axis, rank(), *this, "slice", {file, line});
  if (first < 0 || count < 1 || first > shape_[a] - count) {
    detail::fault({file, line}, "slice [" + std::to_string(first) + ", " + std::to_string(first + count) +
                                    ") along axis " + std::to_string(a) + " leaves " + to_string());
  }
  Dims shape = shape_;
  shape[a] = count;
  return viewed(shape, strides_, offset_ + first * strides_[a]);
}

namespace {

/// The requested shape with its open dimension (-1) replaced.
Dims filled(const Tensor& t, const Dims& wanted, SourceLine where) {
  Dims shape = wanted;
  int64_t known = 1;
  int open = -1;
  for (int i = 0; i < shape.rank(); ++i) {
    if (shape[i] == -1 && open < 0) {
      open = i;
    } else if (shape[i] < 1) {
      detail::fault(where,
                    "reshape of " + t.to_string() + " to " + wanted.to_string() + ": dimensions must be 1 or more");
    } else {
      known *= shape[i];
    }
  }
  if (open >= 0) shape[open] = t.elements() / known;
  if (shape.elements() != t.elements()) {
    detail::fault(where, "reshape of " + t.to_string() + " to " + wanted.to_string() + ": " +
                             std::to_string(t.elements()) + " elements do not fit");
  }
  return shape;
}

}  // namespace

bool Tensor::can_reshape(const Dims& wanted, const char* file, int line) const {
  Dims strides;
  return reshaped_strides(shape_, strides_, filled(*this, wanted, {file, line}), &strides);
}

Tensor Tensor::reshape(const Dims& wanted, const char* file, int line) const {
  handle();
  const Dims shape = filled(*this, wanted, {file, line});
  Dims strides;
  if (!reshaped_strides(shape_, strides_, shape, &strides)) {
    detail::fault({file, line}, "reshape of " + to_string() + " to " + wanted.to_string() +
                                    " needs a copy, because it is a strided view: use tl.reshape or tl.copy");
  }
  return viewed(shape, strides, offset_);
}

Tensor Tensor::expand_dims(int axis, const char* file, int line) const {
  const int a = checked_axis(axis, rank() + 1, *this, "expand_dims", {file, line});
  Dims shape;
  Dims strides;
  for (int i = 0; i <= rank(); ++i) {
    if (i == a) {
      shape.push_back(1);
      strides.push_back(i < rank() ? shape_[i] * strides_[i] : 1);
    }
    if (i < rank()) {
      shape.push_back(shape_[i]);
      strides.push_back(strides_[i]);
    }
  }
  return viewed(shape, strides, offset_);
}

Tensor Tensor::broadcast_to(const Dims& shape, const char* file, int line) const {
  const int lead = shape.rank() - rank();
  Dims strides = shape;
  bool fits = lead >= 0;
  for (int i = 0; fits && i < shape.rank(); ++i) {
    const int64_t have = i < lead ? 1 : shape_[i - lead];
    fits = shape[i] >= 1 && (have == shape[i] || have == 1);
    strides[i] = i < lead || (have == 1 && shape[i] != 1) ? 0 : strides_[i - lead];
  }
  if (!fits) detail::fault({file, line}, to_string() + " cannot be broadcast to shape " + shape.to_string());
  return viewed(shape, strides, offset_);
}

std::string Arg::to_string() const {
  if (!is_scalar_) return tensor_.to_string();
  char text[32];
  std::snprintf(text, sizeof text, "%.17g", scalar_);
  return text;
}

namespace {

Tensor binary(const char* op, const Arg& a, const Arg& b) {
  const Arg& with_core = a.is_scalar() ? b : a;
  if (!with_core.tensor().valid()) {
    detail::fault(a.where(), "op '" + std::string(op) + "': an operand is an empty tensor");
  }
  return detail::Core::handle_of(with_core.tensor())->core->math(op, {a, b}, {}, a.where());
}

}  // namespace

Tensor operator+(const Arg& a, const Arg& b) {
  return binary("add", a, b);
}
Tensor operator-(const Arg& a, const Arg& b) {
  return binary("sub", a, b);
}
Tensor operator*(const Arg& a, const Arg& b) {
  return binary("mul", a, b);
}
Tensor operator/(const Arg& a, const Arg& b) {
  return binary("div", a, b);
}
Tensor operator%(const Arg& a, const Arg& b) {
  return binary("mod", a, b);
}
Tensor operator&(const Arg& a, const Arg& b) {
  return binary("bitwise_and", a, b);
}
Tensor operator|(const Arg& a, const Arg& b) {
  return binary("bitwise_or", a, b);
}
Tensor operator^(const Arg& a, const Arg& b) {
  return binary("bitwise_xor", a, b);
}
Tensor operator<<(const Arg& a, const Arg& b) {
  return binary("shift_left", a, b);
}
Tensor operator>>(const Arg& a, const Arg& b) {
  return binary("shift_right", a, b);
}
Tensor operator~(const Arg& a) {
  return detail::Core::handle_of(a.tensor())->core->math("bitwise_not", {a}, {}, a.where());
}
Tensor operator<(const Arg& a, const Arg& b) {
  return binary("lt", a, b);
}
Tensor operator<=(const Arg& a, const Arg& b) {
  return binary("le", a, b);
}
Tensor operator>(const Arg& a, const Arg& b) {
  return binary("gt", a, b);
}
Tensor operator>=(const Arg& a, const Arg& b) {
  return binary("ge", a, b);
}
Tensor operator==(const Arg& a, const Arg& b) {
  return binary("eq", a, b);
}
Tensor operator!=(const Arg& a, const Arg& b) {
  return binary("ne", a, b);
}
Tensor operator-(const Arg& a) {
  return detail::Core::handle_of(a.tensor())->core->math("neg", {a}, {}, a.where());
}
Tensor& operator+=(Tensor& a, const Arg& b) {
  return a = binary("add", Arg(a, b.where().file, b.where().line), b);
}
Tensor& operator-=(Tensor& a, const Arg& b) {
  return a = binary("sub", Arg(a, b.where().file, b.where().line), b);
}
Tensor& operator*=(Tensor& a, const Arg& b) {
  return a = binary("mul", Arg(a, b.where().file, b.where().line), b);
}
Tensor& operator/=(Tensor& a, const Arg& b) {
  return a = binary("div", Arg(a, b.where().file, b.where().line), b);
}

}  // namespace kernbench::tl
