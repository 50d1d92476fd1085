// SPDX-License-Identifier: Apache-2.0
// The elements that a mask skips in the result of a gather or an atomic (access rules §16).
#pragma once

#include "kernbench/phase2/memory/memory_image.h"

namespace kernbench::phase2 {

/// Sets the skipped elements of the op's result to their value.
void fill_left_out(const OpDesc&, MemoryImage&);

}  // namespace kernbench::phase2
