// A value cut into the shards of a plan, where they are needed: what is made element by element need not be whole
// before.
#pragma once

#include <cstdint>
#include <cstring>
#include <functional>
#include <memory>
#include <vector>

#include "kernbench/kernel_api/host_tensor.h"
#include "kernbench/kernel_api/shard_runs.h"
#include "kernbench/phase2/memory/bulk_bytes.h"
#include "kernbench/phase2/memory/memory_image.h"

namespace kernbench {

/// Writes so many elements of a value from `first` on, in row-major order.
using ElementSource = std::function<void(int64_t first, int64_t count, uint8_t* out)>;

/// Of a value that stays until the source is not used any more.
inline ElementSource source_of(const HostTensor& value) {
  return [&value](int64_t first, int64_t count, uint8_t* out) {
    const size_t item = size_of(value.dtype);
    std::memcpy(out, value.bytes.data() + static_cast<size_t>(first) * item, static_cast<size_t>(count) * item);
  };
}

/// What the shards of these numbers hold, one behind the other in one buffer: on large pages where all of it is large,
/// however small a shard is.
inline std::vector<SharedBytes> shard_bytes(const ShardPlan& plan, const std::vector<uint32_t>& shards,
                                            const ElementSource& source) {
  uint64_t total = 0;
  for (const uint32_t p : shards) total += plan.nbytes(p);
  const std::shared_ptr<uint8_t[]> buffer(new uint8_t[total]);  // every byte of it is written below
  ask_for_large_pages(buffer.get(), total);
  std::vector<SharedBytes> all;
  uint8_t* shard = buffer.get();
  for (const uint32_t p : shards) {
    for_each_run(plan, p, [&](int64_t in_whole, int64_t in_shard, int64_t count) {
      source(in_whole, count, shard + static_cast<size_t>(in_shard) * size_of(plan.dtype));
    });
    all.push_back({std::shared_ptr<const void>(buffer, shard), shard, plan.nbytes(p)});
    shard += plan.nbytes(p);
  }
  return all;
}

}  // namespace kernbench
