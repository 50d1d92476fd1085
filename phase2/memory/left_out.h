// SPDX-License-Identifier: Apache-2.0
// What a mask leaves out of a gather's or an atomic's result (access rules §16).
#pragma once

#include "kernbench/phase2/memory/memory_image.h"

namespace kernbench::phase2 {

/// Gives the elements of its result that the op's mask leaves out their value.
void fill_left_out(const OpDesc&, MemoryImage&);

}  // namespace kernbench::phase2
