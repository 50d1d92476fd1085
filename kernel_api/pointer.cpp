// SPDX-License-Identifier: Apache-2.0
#include "kernbench/kernel_api/pointer.h"

#include "kernbench/kernel_api/pe_backend.h"
#include "kernbench/phase2/op/address_text.h"

namespace kernbench::tl {

namespace {

/// "hbm 0x1000"; a virtual address has no space.
std::string place(Space space, uint64_t addr) {
  return std::string(addr < kVirtualBase ? name_of(space) : "virtual") + " " + address_text(addr);
}

}  // namespace

std::string Bounds::to_string() const {
  return std::string(of) + " [" + address_text(begin) + ", " + address_text(begin + nbytes) + ")";
}

Block Ptr::block(const Dims& shape, int64_t ld, const char* file, int line) const {
  return {*this, shape, ld, file, line};
}

std::string Ptr::to_string() const {
  return place(space, addr) + " " + std::string(name_of(dtype));
}

Block::Block(Ptr ptr, const Dims& shape, int64_t ld, const char* file, int line) : ptr_(ptr), shape_(shape) {
  for (int64_t d : shape) {
    if (d < 1) throw KernelFault({file, line}, "a block's shape " + shape.to_string() + " has a dimension under 1");
  }
  const int64_t row = shape.rank() == 0 ? 1 : shape[shape.rank() - 1];
  ld_ = ld == 0 ? row : ld;
  if (ld_ < row) {
    throw KernelFault({file, line},
                      "row stride " + std::to_string(ld_) + " is less than a row of shape " + shape.to_string());
  }
}

Block Block::tile(int64_t row, int64_t col, int64_t n_rows, int64_t n_cols, const char* file, int line) const {
  if (shape_.rank() != 2)
    throw KernelFault({file, line}, "tile() of a block of shape " + shape_.to_string() + ": needs rank 2");
  if (row < 0 || col < 0 || n_rows < 1 || n_cols < 1 || row > shape_[0] - n_rows || col > shape_[1] - n_cols) {
    throw KernelFault({file, line}, "tile " + Dims{n_rows, n_cols}.to_string() + " at " + Dims{row, col}.to_string() +
                                        " leaves its block of shape " + shape_.to_string());
  }
  return {ptr_ + (row * ld_ + col), {n_rows, n_cols}, ld_, file, line};
}

Block Block::slice(int64_t first, int64_t count, const char* file, int line) const {
  if (shape_.rank() != 1)
    throw KernelFault({file, line}, "slice() of a block of shape " + shape_.to_string() + ": needs rank 1");
  if (first < 0 || count < 1 || first > shape_[0] - count) {
    throw KernelFault({file, line}, "elements [" + std::to_string(first) + ", " + std::to_string(first + count) +
                                        ") leave their block of shape " + shape_.to_string());
  }
  return {ptr_ + first, {count}, 0, file, line};
}

Block Block::rows(int64_t first, int64_t count, const char* file, int line) const {
  return tile(first, 0, count, shape_.rank() == 2 ? shape_[1] : 1, file, line);
}

TensorRef Block::ref() const {
  TensorRef r;
  r.space = ptr_.space;
  r.addr = ptr_.addr;
  r.dtype = ptr_.dtype;
  r.shape = shape_;
  r.strides = TensorRef::row_major(shape_);
  // Rows are `ld` apart; all dimensions but the last are flattened.
  for (int i = shape_.rank() - 2, last = i; i >= 0; --i)
    r.strides[i] = i == last ? ld_ : r.strides[i + 1] * shape_[i + 1];
  return r;
}

std::string Block::to_string() const {
  std::string text =
      shape_.to_string() + " " + std::string(name_of(ptr_.dtype)) + " at " + place(ptr_.space, ptr_.addr);
  if (shape_.rank() > 1 && ld_ != shape_[shape_.rank() - 1]) text += ", row stride " + std::to_string(ld_);
  return text;
}

}  // namespace kernbench::tl
