// SPDX-License-Identifier: Apache-2.0
#include "kernbench/phase2/op/op.h"

#include <algorithm>
#include <cstring>
#include <stdexcept>

namespace kernbench::phase2 {

void Dims::push_back(int64_t x) {
  if (rank_ == kMaxRank) throw std::length_error("a tensor has at most " + std::to_string(kMaxRank) + " dimensions");
  d_[rank_++] = x;
}

namespace {

/// Limit of a tensor, chosen so that its bytes also fit in 64 bits.
constexpr int64_t kMostElements = int64_t{1} << 60;

[[noreturn]] void too_large(const char* what, const Dims& dims) {
  throw std::overflow_error(std::string(what) + " " + dims.to_string() + " is too large or negative");
}

}  // namespace

int64_t Dims::elements() const {
  int64_t n = 1, signs = 0;
  for (int64_t x : *this) {
    if (__builtin_mul_overflow(n, x, &n)) too_large("shape", *this);
    signs |= x;
  }
  if (signs < 0 || n > kMostElements) too_large("shape", *this);
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

Dims TensorRef::row_major(const Dims& shape) {
  Dims s = shape;
  int64_t step = 1;
  for (int i = shape.rank() - 1; i >= 0; --i) {
    s[i] = step;
    if (__builtin_mul_overflow(step, shape[i], &step)) too_large("shape", shape);
  }
  return s;
}

uint64_t TensorRef::span_bytes() const {
  if (shape.elements() == 0) return 0;
  int64_t last = 0, signs = 0;
  for (int i = 0; i < shape.rank(); ++i) {
    int64_t reach = 0;
    if (__builtin_mul_overflow(shape[i] - 1, strides[i], &reach) || __builtin_add_overflow(last, reach, &last))
      too_large("strides", strides);
    signs |= strides[i];
  }
  if (signs < 0 || last >= kMostElements) too_large("strides", strides);
  return (static_cast<uint64_t>(last) + 1) * size_of(dtype);
}

bool TensorRef::contiguous() const {
  int64_t step = 1;
  for (int i = shape.rank() - 1; i >= 0; --i) {
    // The stride of a dimension with one element is never used.
    if (shape[i] != 1 && strides[i] != step) return false;
    if (__builtin_mul_overflow(step, shape[i], &step)) too_large("shape", shape);
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

namespace {

struct StageName {
  const char* name;
  OpKind kind;
};
// Initially the built-in stages; kinds of engine add theirs while the program starts.
StageName stages[kMostStages] = {{"DMA_READ", OpKind::memory}, {"FETCH", OpKind::memory},
                                 {"GEMM", OpKind::gemm},       {"MATH", OpKind::math},
                                 {"STORE", OpKind::memory},    {"DMA_WRITE", OpKind::memory}};
int known_stages = kTileStages;

}  // namespace

std::string_view name_of(Stage s) {
  return stages[static_cast<size_t>(s)].name;
}

OpKind kind_of(Stage s) {
  return stages[static_cast<size_t>(s)].kind;
}

int stage_count() {
  return known_stages;
}

Stage add_stage(const char* name, OpKind kind) {
  int i = 0;
  while (i < known_stages && std::strcmp(stages[i].name, name) != 0) ++i;
  if (i == kMostStages)
    throw std::length_error(std::string("stage ") + name + ": there are " + std::to_string(kMostStages) + " already");
  if (i == known_stages) stages[known_stages++] = {name, kind};
  return static_cast<Stage>(i);
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

std::string to_string(const SourceLine& where) {
  const char* slash = std::strrchr(where.file, '/');
  return std::string(slash != nullptr ? slash + 1 : where.file) + ":" + std::to_string(where.line);
}

uint64_t RangedOp::nbytes() const {
  uint64_t n = 0;
  for (const MovedRange& r : ranges) n += r.nbytes;
  return n;
}

void RangedOp::add(const MovedRange& r) {
  if (!ranges.empty()) {
    MovedRange& last = ranges.back();
    if (last.addr + last.nbytes == r.addr && last.offset + last.nbytes == r.offset) {
      last.nbytes += r.nbytes;
      return;
    }
  }
  ranges.push_back(r);
}

}  // namespace kernbench::phase2
