// SPDX-License-Identifier: Apache-2.0
// Schedules along a chain, a binomial tree or a grid, and collectives made of them. Internal to this folder;
// collectives rules §12.5.
#pragma once

#include <vector>

#include "kernbench/kernel_api/collectives/lane.h"

namespace kernbench::ccl {

/// The ports of a member in a phase: those from which it receives, in order, and those to which it forwards.
struct Flow {
  std::vector<std::string> from, to;
};
/// For a reduction towards the root, and for a broadcast from it.
Flow reduce_flow(const Phase&, int64_t member);
Flow broadcast_flow(const Phase&, int64_t member);

/// The reduction at the root; no value elsewhere.
tl::Tensor flow_reduce(const Lane&, const Phase&, int64_t member, const tl::Tensor&, const std::string& op);
/// The root's value, on all members. `n` elements.
tl::Tensor flow_broadcast(const Lane&, const Phase&, int64_t member, const tl::Tensor&, int64_t n, DType, const Final&);

/// Every member's vector passes once around the ring. All members add them in member order, so their bits are equal.
/// `order`: member by position.
tl::Tensor rotate(const Lane&, const std::vector<int64_t>& order, int64_t member, const tl::Tensor&,
                  const std::string& op, const std::string& next, const std::string& prev);

tl::Tensor hierarchical_all_reduce(tl::Context&, const Group&, const tl::Tensor&, const std::string& op, const Final&);

}  // namespace kernbench::ccl
