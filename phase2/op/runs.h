// SPDX-License-Identifier: Apache-2.0
// A strided tensor as byte ranges.
#pragma once

#include <cstdint>

#include "kernbench/phase2/op/op.h"

namespace kernbench::phase2 {

/// Splits a tensor into `outer` (walked like an odometer, last dimension fastest) and runs of `run` contiguous
/// elements. A contiguous tensor is one run; a slice of a row-major matrix is one run a row.
struct RunShape {
  Dims outer;
  Dims outer_strides;  ///< elements
  int64_t run = 1;     ///< elements

  explicit RunShape(const TensorRef& t) {
    int last = t.shape.rank() - 1;
    for (; last >= 0; --last) {
      if (t.shape[last] == 1) continue;
      if (t.strides[last] != run) break;
      run *= t.shape[last];
    }
    for (int i = 0; i <= last; ++i) {
      if (t.shape[i] == 1) continue;
      outer.push_back(t.shape[i]);
      outer_strides.push_back(t.strides[i]);
    }
  }
};

/// The tensor with every dimension of stride 0 reduced to extent 1, so that each element occurs once.
inline TensorRef without_repeats(TensorRef t) {
  for (int i = 0; i < t.shape.rank(); ++i) {
    if (t.strides[i] == 0 && t.shape[i] > 1) t.shape[i] = 1;
  }
  return t;
}

/// A strided source with fewer bytes than this is copied into one buffer. The runs of larger ones are shared.
constexpr uint64_t kShortRun = 64;

inline bool has_short_runs(const TensorRef& t, uint64_t below = kShortRun) {
  const RunShape runs(t);
  return runs.outer.rank() > 0 && static_cast<uint64_t>(runs.run) * size_of(t.dtype) < below;
}

/// Calls f(addr, nbytes) for every run of a tensor as if it lay in one piece at `addr`.
template <class F>
void for_each_linear_run(const TensorRef& t, uint64_t addr, F&& f) {
  if (t.shape.elements() == 0) return;
  const RunShape r(t);
  const uint64_t item = size_of(t.dtype);
  const uint64_t nbytes = static_cast<uint64_t>(r.run) * item;
  std::array<int64_t, kMaxRank> at{};
  for (;;) {
    f(addr, nbytes);
    int d = r.outer.rank() - 1;
    for (; d >= 0; --d) {
      addr += static_cast<uint64_t>(r.outer_strides[d]) * item;
      if (++at[d] < r.outer[d]) break;
      addr -= static_cast<uint64_t>(r.outer_strides[d] * r.outer[d]) * item;
      at[d] = 0;
    }
    if (d < 0) return;
  }
}

/// Calls f(physical address, nbytes) for every run in row-major order. A dimension of stride 0 repeats its runs; a run
/// that lies in several physical pieces is several.
template <class F>
void for_each_run(const TensorRef& t, F&& f) {
  if (!t.scattered()) {
    for_each_linear_run(t, t.addr, f);
    return;
  }
  for_each_linear_run(t, 0, [&](uint64_t offset, uint64_t n) { t.translation->for_each_range(offset, n, f); });
}

}  // namespace kernbench::phase2
