// Built with the flags of this path (CMakeLists.txt); without them the path does not exist.
#if defined(__AVX512F__) && defined(__AVX512BW__) && defined(__AVX512DQ__) && defined(__AVX512VL__)
#define KERNBENCH_PATH kernels_avx512
#include "kernbench/phase2/eval/kernels_body.inc"
#else
#include "kernbench/phase2/eval/kernels.h"
const kernbench::Kernels* kernbench::detail::kernels_avx512() {
  return nullptr;
}
#endif
