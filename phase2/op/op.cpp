#include "kernbench/phase2/op/op.h"

#include <algorithm>
#include <stdexcept>

namespace kernbench {

void Dims::push_back(int64_t x) {
  if (rank_ == kMaxRank) throw std::length_error("a tensor has at most " + std::to_string(kMaxRank) + " dimensions");
  d_[rank_++] = x;
}

int64_t Dims::elements() const {
  int64_t n = 1;
  for (int64_t x : *this) n *= x;
  return n;
}

bool Dims::operator==(const Dims& o) const {
  return rank_ == o.rank_ && std::equal(begin(), end(), o.begin());
}

std::string Dims::to_string() const {
  std::string s = "[";
  for (int i = 0; i < rank_; ++i) s += (i ? ", " : "") + std::to_string(d_[i]);
  return s + "]";
}

std::string_view name_of(Space s) {
  switch (s) {
    case Space::hbm:
      return "hbm";
    case Space::sram:
      return "sram";
    case Space::tcm:
      return "tcm";
  }
  return "?";
}

Space parse_space(std::string_view name) {
  for (Space s : {Space::hbm, Space::sram, Space::tcm}) {
    if (name_of(s) == name) return s;
  }
  throw std::invalid_argument("unknown address space '" + std::string(name) + "' (hbm, sram, tcm)");
}

Dims TensorRef::row_major(const Dims& shape) {
  Dims s = shape;
  int64_t step = 1;
  for (int i = shape.rank() - 1; i >= 0; --i) {
    s[i] = step;
    step *= shape[i];
  }
  return s;
}

uint64_t TensorRef::span_bytes() const {
  if (shape.elements() == 0) return 0;
  int64_t last = 0;
  for (int i = 0; i < shape.rank(); ++i) last += (shape[i] - 1) * strides[i];
  return (static_cast<uint64_t>(last) + 1) * size_of(dtype);
}

bool TensorRef::contiguous() const {
  int64_t step = 1;
  for (int i = shape.rank() - 1; i >= 0; --i) {
    // The stride of a dimension of one element is never used.
    if (shape[i] != 1 && strides[i] != step) return false;
    step *= shape[i];
  }
  return true;
}

std::string_view name_of(OpKind k) {
  switch (k) {
    case OpKind::memory:
      return "memory";
    case OpKind::gemm:
      return "gemm";
    case OpKind::math:
      return "math";
    case OpKind::unknown:
      return "unknown";
  }
  return "?";
}

std::string_view name_of(Stage s) {
  constexpr std::string_view kNames[kStages] = {"DMA_READ", "FETCH", "GEMM", "MATH", "STORE", "DMA_WRITE"};
  return kNames[static_cast<size_t>(s)];
}

std::string_view name_of(Scope s) {
  switch (s) {
    case Scope::per_k_tile:
      return "per_k_tile";
    case Scope::per_output_tile:
      return "per_output_tile";
    case Scope::once:
      return "once";
  }
  return "?";
}

}  // namespace kernbench
