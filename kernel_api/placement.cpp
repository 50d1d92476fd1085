// SPDX-License-Identifier: Apache-2.0
#include "kernbench/kernel_api/placement.h"

#include "kernbench/kernel_api/shard_runs.h"

#include <algorithm>
#include <cstring>
#include <stdexcept>
#include <string>

namespace kernbench {

namespace {

/// Calls f(byte offset in the complete tensor, byte offset in the shard, bytes) for every contiguous run.
template <class F>
void for_each_row(const ShardPlan& plan, uint32_t pe, F&& f) {
  const Shard& s = plan.shards.at(pe);
  if (s.empty()) return;
  const int rank = plan.whole.rank();
  const uint64_t item = size_of(plan.dtype);
  const Dims strides = TensorRef::row_major(plan.whole);
  // Dimensions from `inner` on are complete, so one run covers them (and a part of dimension inner - 1).
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

Dims zeros_like(const Dims& shape) {
  Dims zero = shape;
  for (int i = 0; i < shape.rank(); ++i) zero[i] = 0;
  return zero;
}

}  // namespace

void take_block(Shard& s, int axis, uint32_t i, uint32_t n, int64_t unit) {
  const int64_t length = s.extent[axis];
  const int64_t most = unit * static_cast<int64_t>(n), block = (length + most - 1) / most * unit;
  const int64_t first = std::min(length, block * static_cast<int64_t>(i));
  s.offset[axis] += first;
  s.extent[axis] = std::min(block, length - first);
  if (s.extent[axis] == 0) s.extent = zeros_like(s.extent);
}

std::string_view name_of(Split s) {
  return s == Split::replicate ? "replicate" : s == Split::row_wise ? "row_wise" : "column_wise";
}

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
  for (uint32_t p = 0; p < pes; ++p) {
    Shard s;
    s.owner = placement == Placement::single ? 0 : p;
    s.offset = zeros_like(plan.whole);
    s.extent = plan.whole;
    if (!shared) take_block(s, axis, p, pes);
    plan.shards.push_back(s);
  }
  return plan;
}

ShardPlan plan_shards(const CubePePolicy& policy, DType dtype, const Dims& shape,
                      const std::vector<uint32_t>& cube_of_pe) {
  if (cube_of_pe.empty()) throw std::invalid_argument("a tensor cannot be placed over no PE");
  const bool split = policy.cube != Split::replicate || policy.pe != Split::replicate;
  if (split && shape.rank() == 0) throw std::invalid_argument("a tensor of rank 0 cannot be split over PEs");
  ShardPlan plan;
  plan.dtype = dtype;
  plan.whole = shape;
  std::vector<uint32_t> cubes, pes_of;  // by the cube's position
  std::vector<uint32_t> cube_at, pe_at;
  for (const uint32_t cube : cube_of_pe) {
    const auto at = std::find(cubes.begin(), cubes.end(), cube);
    cube_at.push_back(static_cast<uint32_t>(at - cubes.begin()));
    if (at == cubes.end()) {
      cubes.push_back(cube);
      pes_of.push_back(0);
    }
    pe_at.push_back(pes_of[cube_at.back()]++);
  }
  const auto take = [&](Shard& s, Split by, uint32_t i, uint32_t n) {
    if (by != Split::replicate) take_block(s, by == Split::row_wise ? 0 : shape.rank() - 1, i, n);
  };
  for (uint32_t p = 0; p < cube_of_pe.size(); ++p) {
    Shard s;
    s.owner = p;
    s.offset = zeros_like(shape);
    s.extent = shape;
    take(s, policy.cube, cube_at[p], static_cast<uint32_t>(cubes.size()));
    take(s, policy.pe, pe_at[p], pes_of[cube_at[p]]);
    plan.shards.push_back(s);
  }
  return plan;
}

ShardPlan plan_interleaved(DType dtype, const Dims& shape, uint64_t bytes) {
  if (bytes == 0 || bytes % size_of(dtype) != 0)
    throw std::invalid_argument("blocks of " + std::to_string(bytes) + " bytes do not hold whole elements");
  const auto block = static_cast<int64_t>(bytes / size_of(dtype));
  const int64_t elements = shape.elements();
  ShardPlan plan;
  plan.dtype = dtype;
  plan.whole = {elements};
  for (int64_t first = 0; first < elements; first += block)
    plan.shards.push_back({static_cast<uint32_t>(plan.shards.size()), {first}, {std::min(block, elements - first)}});
  return plan;
}

void for_each_run(const ShardPlan& plan, uint32_t shard,
                  const std::function<void(int64_t in_whole, int64_t in_shard, int64_t count)>& visit) {
  const uint64_t item = size_of(plan.dtype);
  for_each_row(plan, shard, [&](uint64_t in_whole, uint64_t in_shard, uint64_t n) {
    visit(static_cast<int64_t>(in_whole / item), static_cast<int64_t>(in_shard / item), static_cast<int64_t>(n / item));
  });
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
