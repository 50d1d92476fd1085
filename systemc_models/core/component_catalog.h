// SPDX-License-Identifier: Apache-2.0
// The blocks that are registered (registry.h), as plain data: for who asks what there is and makes none.
#pragma once

#include "kernbench/systemc_models/core/impl_catalog.h"

namespace kernbench::core {

/// Of the process.
const ImplCatalog& component_catalog();

}  // namespace kernbench::core
