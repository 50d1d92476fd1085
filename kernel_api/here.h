// SPDX-License-Identifier: Apache-2.0
// The source location of a kernel's call.
#pragma once

/// Last parameters of a call that may fail. C++20 has std::source_location for this.
#define KERNBENCH_TL_HERE const char *file = __builtin_FILE(), int line = __builtin_LINE()
