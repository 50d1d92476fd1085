// SPDX-License-Identifier: Apache-2.0
// A shard's elements as contiguous runs of the complete tensor.
#pragma once

#include <cstdint>
#include <functional>

#include "kernbench/kernel_api/placement.h"

namespace kernbench {

/// Calls visit(first element in the complete tensor, first element in the shard, elements) for every contiguous run of
/// a shard, in the shard's order.
void for_each_run(const ShardPlan&, uint32_t shard,
                  const std::function<void(int64_t in_whole, int64_t in_shard, int64_t count)>& visit);

}  // namespace kernbench
