// SPDX-License-Identifier: Apache-2.0
// What a block's attributes are, whether a file gives them or not. Plain C++: no SystemC here.
#pragma once

#include <utility>
#include <vector>

#include "kernbench/systemc_models/core/impl_catalog.h"

namespace kernbench::core {

/// Every attribute of an implementation with its value, given or by default, in the order in which it declares them. A
/// number is a double, also where a whole one is given; a map has all names that the block knows. Those that have no
/// value are left out.
std::vector<std::pair<const AttrSpec*, AttrValue>> effective_attributes(const ImplSpec&, const Attributes& given);

}  // namespace kernbench::core
