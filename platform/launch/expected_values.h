// SPDX-License-Identifier: Apache-2.0
// The expected values of a kernel's reference, for verification.
#pragma once

#include "kernbench/kernel_api/registry.h"
#include "kernbench/phase2/check/verify.h"

namespace kernbench::launch {

inline ReferenceValues reference_values(const Expected& e) {
  return {values_of(e.value.dtype, e.value.bytes.data(), static_cast<size_t>(e.value.elements())),
          {e.scale.begin(), e.scale.end()},
          {e.away.begin(), e.away.end()}};
}

}  // namespace kernbench::launch
