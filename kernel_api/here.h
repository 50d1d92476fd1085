// SPDX-License-Identifier: Apache-2.0
// Where a call stands in a kernel's source.
#pragma once

/// The last parameters of a call that may be a fault; C++20 would say std::source_location.
#define KERNBENCH_TL_HERE const char *file = __builtin_FILE(), int line = __builtin_LINE()
