// SPDX-License-Identifier: Apache-2.0
// A value cut into the shards of a plan, where they are needed: what is made element by element need not be whole
// before.
#pragma once

#include <cstdint>
#include <cstring>
#include <functional>
#include <vector>

#include "kernbench/kernel_api/host_tensor.h"
#include "kernbench/kernel_api/shard_runs.h"
#include "kernbench/phase2/memory/memory_image.h"

namespace kernbench::launch {

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
std::vector<SharedBytes> shard_bytes(const ShardPlan&, const std::vector<uint32_t>& shards, const ElementSource&);
/// The same, each shard made when somebody looks at its bytes: those that nobody looks at take neither time nor memory.
/// The source is kept until the bytes are let go.
std::vector<SharedBytes> later_shard_bytes(const ShardPlan&, const std::vector<uint32_t>& shards, const ElementSource&);

}  // namespace kernbench::launch
