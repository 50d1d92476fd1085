// SPDX-License-Identifier: Apache-2.0
/* What `kernbench run` does, as a function: a kernel's verdict, its energy and its page. */
#include <kernbench/platform/c_api/kernbench_c.h>
#include <stdio.h>

int main(void) {
  const kernbench_pair options[] = {{"topology", "small.yaml"}, {"kernel", "gemm"},
                                    {"param", "m=64"},          {"param", "n=64"},
                                    {"param", "k=64"},          {"energy", "n7.yaml"},
                                    {"explain", "true"},        {"report", "gemm_c.html"}};
  kernbench_record* run;
  double ns, joules;
  const char* verdict;
  if (kernbench_run("run", options, sizeof options / sizeof *options, &run) != KERNBENCH_OK ||
      kernbench_record_figure(run, "sim_ns", &ns) != KERNBENCH_OK ||
      kernbench_record_figure(run, "energy_j", &joules) != KERNBENCH_OK ||
      kernbench_record_verdict(run, &verdict) != KERNBENCH_OK) {
    fprintf(stderr, "%s\n", kernbench_last_error());
    return 1;
  }
  printf("64: %g ns, %g J\n%s\n", ns, joules, verdict);
  return 0;
}
