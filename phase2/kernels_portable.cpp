#define KERNBENCH_PATH kernels_portable
#include "kernbench/phase2/kernels_body.inc"
