// SPDX-License-Identifier: Apache-2.0
// The option --isa, shared by several commands.
#pragma once

#include <string>

#include "kernbench/phase2/eval/isa.h"

namespace kernbench::phase2 {

/// The instruction set of that name. InputError if there is none, or if this machine lacks it.
Isa isa_of(const std::string& name);

}  // namespace kernbench::phase2
