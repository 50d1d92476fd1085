// SPDX-License-Identifier: Apache-2.0
// The order in which a reduction's schedule combines the members' vectors. References use it, because they round where
// the kernel does (collectives rules §12.5). Plain functions.
#pragma once

#include <functional>
#include <vector>

#include "kernbench/kernel_api/collectives/collective.h"

namespace kernbench::ccl {

/// A member's elements in some range of the vector.
using Values = std::vector<double>;
/// op(local value, received value), rounded.
using Combine = std::function<Values(const Values& here, const Values& came)>;

/// The reduction over all members of a range inside one block (of member `block`; only for ring and halving). `own`:
/// the values of a PE of the launch.
Values reduced_in_order(const Group&, int64_t block, const std::function<Values(int64_t pe)>& own, const Combine&);

}  // namespace kernbench::ccl
