// SPDX-License-Identifier: Apache-2.0
// Cuts a value into the shards of a plan. A generated value need not exist as a whole.
#pragma once

#include <cstdint>
#include <cstring>
#include <functional>
#include <vector>

#include "kernbench/kernel_api/host_tensor.h"
#include "kernbench/kernel_api/shard_runs.h"
#include "kernbench/phase2/memory/memory_image.h"

namespace kernbench::launch {

/// Writes elements of a value from `first` on, in row-major order.
using ElementSource = std::function<void(int64_t first, int64_t count, uint8_t* out)>;

/// Of a value that lives until the source is no longer used.
inline ElementSource source_of(const HostTensor& value) {
  return [&value](int64_t first, int64_t count, uint8_t* out) {
    const size_t item = size_of(value.dtype);
    std::memcpy(out, value.bytes.data() + static_cast<size_t>(first) * item, static_cast<size_t>(count) * item);
  };
}

/// The contents of these shards, adjacent in one buffer, which uses large pages if it is large, even for small shards.
std::vector<SharedBytes> shard_bytes(const ShardPlan&, const std::vector<uint32_t>& shards, const ElementSource&);
/// The same, but each shard is generated at its first read; unread shards take neither time nor memory. The source is
/// kept until the bytes are released.
std::vector<SharedBytes> later_shard_bytes(const ShardPlan&, const std::vector<uint32_t>& shards, const ElementSource&);

}  // namespace kernbench::launch
