// SPDX-License-Identifier: Apache-2.0
// Schedules along a tree of some kind (chain, binomial tree, grid), and what is made of them. Only for the files of
// this folder; collectives rules §12.5.
#pragma once

#include <vector>

#include "kernbench/kernel_api/collectives/lane.h"

namespace kernbench::ccl {

/// A member's ports in a phase: where it takes what comes, in order, and where it sends it on.
struct Flow {
  std::vector<std::string> from, to;
};
/// Of a reduction towards the root, and of a broadcast from it.
Flow reduce_flow(const Phase&, int64_t member);
Flow broadcast_flow(const Phase&, int64_t member);

/// The reduction at the root; no value elsewhere.
tl::Tensor flow_reduce(const Lane&, const Phase&, int64_t member, const tl::Tensor&, const std::string& op);
/// The root's value, everywhere. `n` elements.
tl::Tensor flow_broadcast(const Lane&, const Phase&, int64_t member, const tl::Tensor&, int64_t n, DType, const Final&);

/// Every member's vector goes once around the ring; all add them up in order of member: the same bits. `order`: member
/// by position.
tl::Tensor rotate(const Lane&, const std::vector<int64_t>& order, int64_t member, const tl::Tensor&,
                  const std::string& op, const std::string& next, const std::string& prev);

tl::Tensor hierarchical_all_reduce(tl::Context&, const Group&, const tl::Tensor&, const std::string& op, const Final&);

}  // namespace kernbench::ccl
