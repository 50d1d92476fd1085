// SPDX-License-Identifier: Apache-2.0
// Built with the compiler flags of this set (CMakeLists.txt). Without these flags the set does not exist.
#if defined(__AVX2__) && defined(__FMA__)
#define KERNBENCH_SET arithmetic_avx2
#define Eigen Eigen_avx2
#include "kernbench/phase2/eval/arithmetic.inc"
#else
#include "kernbench/phase2/eval/arithmetic.h"
const kernbench::Arithmetic* kernbench::detail::arithmetic_avx2() {
  return nullptr;
}
#endif
