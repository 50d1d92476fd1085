// SPDX-License-Identifier: Apache-2.0
// The values of a block's attributes, given in a file or by default. Plain C++, no SystemC.
#pragma once

#include <utility>
#include <vector>

#include "kernbench/systemc_models/core/impl_catalog.h"

namespace kernbench::core {

/// Every attribute of an implementation with its given or default value, in declaration order. Numbers are doubles,
/// also integers. Maps include all names that the block uses. Attributes without a value are omitted.
std::vector<std::pair<const AttrSpec*, AttrValue>> effective_attributes(const ImplSpec&, const Attributes& given);

}  // namespace kernbench::core
