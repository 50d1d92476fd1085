// SPDX-License-Identifier: Apache-2.0
// In which order a reduction's schedule combines the members' vectors: for references, which round where the kernel
// does (collectives rules §12.5). Plain functions.
#pragma once

#include <functional>
#include <vector>

#include "kernbench/kernel_api/collectives/collective.h"

namespace kernbench::ccl {

/// A member's elements of some range of the vector.
using Values = std::vector<double>;
/// op(what is here, what came), rounded.
using Combine = std::function<Values(const Values& here, const Values& came)>;

/// The reduction of a range that lies in one block (of member `block`; ring and halving only) over all members. `own`:
/// what a PE of the launch has.
Values reduced_in_order(const Group&, int64_t block, const std::function<Values(int64_t pe)>& own, const Combine&);

}  // namespace kernbench::ccl
