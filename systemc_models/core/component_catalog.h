// SPDX-License-Identifier: Apache-2.0
// The registered blocks (registry.h) as plain data, for users that do not create instances.
#pragma once

#include "kernbench/systemc_models/core/impl_catalog.h"

namespace kernbench::core {

/// The catalog of the process.
const ImplCatalog& component_catalog();

}  // namespace kernbench::core
