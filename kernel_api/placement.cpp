#include "kernbench/kernel_api/placement.h"

#include <algorithm>
#include <cstring>
#include <stdexcept>
#include <string>

namespace kernbench {

namespace {

/// Calls f(byte offset in the whole, byte offset in the shard, bytes) for every contiguous run.
template <class F>
void for_each_row(const ShardPlan& plan, uint32_t pe, F&& f) {
  const Shard& s = plan.shards.at(pe);
  if (s.empty()) return;
  const int rank = plan.whole.rank();
  const uint64_t item = size_of(plan.dtype);
  const Dims strides = TensorRef::row_major(plan.whole);
  // Dimensions from `inner` on are taken whole, so that a run covers them (and part of dimension inner - 1).
  int inner = rank;
  int64_t run = 1;
  while (inner > 0) {
    --inner;
    run *= s.extent[inner];
    if (s.extent[inner] != plan.whole[inner]) break;
  }
  int64_t base = 0;
  for (int i = 0; i < rank; ++i) base += s.offset[i] * strides[i];
  int64_t rows = 1;
  for (int i = 0; i < inner; ++i) rows *= s.extent[i];
  for (int64_t r = 0; r < rows; ++r) {
    int64_t at = base;
    int64_t rest = r;
    for (int i = inner - 1; i >= 0; --i) {
      at += rest % s.extent[i] * strides[i];
      rest /= s.extent[i];
    }
    f(static_cast<uint64_t>(at) * item, static_cast<uint64_t>(r * run) * item, static_cast<uint64_t>(run) * item);
  }
}

}  // namespace

std::string_view name_of(Placement p) {
  switch (p) {
    case Placement::replicate:
      return "replicate";
    case Placement::rows:
      return "rows";
    case Placement::flat_rows:
      return "flat_rows";
    case Placement::cols:
      return "cols";
    case Placement::single:
      return "single";
  }
  return "?";
}

ShardPlan plan_shards(Placement placement, DType dtype, const Dims& shape, uint32_t pes) {
  if (pes == 0) throw std::invalid_argument("a tensor cannot be placed over no PE");
  ShardPlan plan;
  plan.placement = placement;
  plan.dtype = dtype;
  plan.whole = shape;
  if (placement == Placement::flat_rows && shape.rank() > 2) {
    const int64_t cols = shape[shape.rank() - 1];
    int64_t rows = 1;
    for (int i = 0; i + 1 < shape.rank(); ++i) rows *= shape[i];
    plan.whole = {rows, cols};
  }
  const bool shared = placement == Placement::replicate || placement == Placement::single;
  const int rank = plan.whole.rank();
  if (!shared && rank == 0) throw std::invalid_argument("a tensor of rank 0 cannot be split over PEs");
  const int axis = placement == Placement::cols ? rank - 1 : 0;
  Dims zero = plan.whole;
  for (int i = 0; i < rank; ++i) zero[i] = 0;
  for (uint32_t p = 0; p < pes; ++p) {
    Shard s;
    s.owner = placement == Placement::single ? 0 : p;
    s.offset = zero;
    s.extent = plan.whole;
    if (!shared) {
      const int64_t n = plan.whole[axis];
      const int64_t block = (n + pes - 1) / static_cast<int64_t>(pes);
      const int64_t first = std::min(n, block * static_cast<int64_t>(p));
      s.offset[axis] = first;
      s.extent[axis] = std::min(block, n - first);
      if (s.extent[axis] == 0) s.extent = zero;
    }
    plan.shards.push_back(s);
  }
  return plan;
}

bool contiguous_in_whole(const ShardPlan& plan, uint32_t pe, uint64_t* first_byte) {
  int runs = 0;
  for_each_row(plan, pe, [&](uint64_t in_whole, uint64_t, uint64_t) {
    if (runs++ == 0) *first_byte = in_whole;
  });
  return runs == 1;
}

void scatter(const ShardPlan& plan, uint32_t pe, const uint8_t* whole, uint8_t* shard) {
  for_each_row(plan, pe, [&](uint64_t in_whole, uint64_t in_shard, uint64_t n) {
    std::memcpy(shard + in_shard, whole + in_whole, n);
  });
}

void gather(const ShardPlan& plan, uint32_t pe, const uint8_t* shard, uint8_t* whole) {
  for_each_row(plan, pe, [&](uint64_t in_whole, uint64_t in_shard, uint64_t n) {
    std::memcpy(whole + in_whole, shard + in_shard, n);
  });
}

}  // namespace kernbench
