// SPDX-License-Identifier: Apache-2.0
/* A tool in C: a platform from YAML, tensors in over a port, a kernel, the result out. */
#include <kernbench/platform/c_api/kernbench_c.h>
#include <stdio.h>
#include <stdlib.h>

enum { kElements = 8 };

/* Every call says whether it could be done, and kernbench_last_error() why not. */
static void done(int status) {
  if (status == KERNBENCH_OK) return;
  fprintf(stderr, "c_host: %s\n", kernbench_last_error());
  exit(status == KERNBENCH_BAD_INPUT ? 2 : 1);
}

static void say(const char* what) {
  double ns;
  done(kernbench_now(&ns));
  printf("%.3f ns: %s\n", ns, what);
}

static uint64_t address_of(kernbench_job* job, const char* tensor) {
  uint64_t address, bytes;
  done(kernbench_job_range(job, tensor, 0, &address, &bytes));
  return address;
}

int main(int argc, char** argv) {
  kernbench_platform* npu;
  kernbench_port* cpu;
  kernbench_job* add;
  const kernbench_pair params[] = {{"n", "8"}};
  float a[kElements], b[kElements], sum[kElements];
  for (int i = 0; i < kElements; ++i) {
    a[i] = (float)i;
    b[i] = (float)(10 * i);
  }

  done(kernbench_create("npu", argc > 1 ? argv[1] : "system.yaml", NULL, 0, &npu));
  done(kernbench_open_port(npu, "cpu", &cpu));
  done(kernbench_add_job(npu, "vector_add", params, 1, NULL, 0, &add));

  done(kernbench_write(cpu, address_of(add, "a"), a, sizeof a));
  done(kernbench_write(cpu, address_of(add, "b"), b, sizeof b));
  say("tensors are in the device");
  done(kernbench_job_run(add));
  say("the kernel is done");
  done(kernbench_read(cpu, address_of(add, "c"), sum, sizeof sum));
  say("the result is in the host");

  for (int i = 0; i < kElements; ++i) printf("%g%s", sum[i], i + 1 < kElements ? " " : "\n");
  done(kernbench_destroy(npu));
  return 0;
}
