// SPDX-License-Identifier: Apache-2.0
// Built with the compiler flags of this set (CMakeLists.txt). Without these flags the set does not exist.
#if defined(__AVX512F__) && defined(__AVX512BW__) && defined(__AVX512DQ__) && defined(__AVX512VL__)
#define KERNBENCH_SET arithmetic_avx512
#define Eigen Eigen_avx512
#include "kernbench/phase2/eval/arithmetic.inc"
#else
#include "kernbench/phase2/eval/arithmetic.h"
const kernbench::Arithmetic* kernbench::detail::arithmetic_avx512() {
  return nullptr;
}
#endif
