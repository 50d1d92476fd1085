#define KERNBENCH_PATH kernels_portable
#include "kernbench/phase2/eval/kernels_body.inc"
