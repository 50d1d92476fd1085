// Built with the flags of this path (CMakeLists.txt); without them the path does not exist.
#if defined(__AVX2__) && defined(__FMA__) && defined(__F16C__)
#define KERNBENCH_PATH kernels_avx2
#include "kernbench/phase2/eval/kernels_body.inc"
#else
#include "kernbench/phase2/eval/kernels.h"
const kernbench::Kernels* kernbench::detail::kernels_avx2() {
  return nullptr;
}
#endif
