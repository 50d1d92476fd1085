// SPDX-License-Identifier: Apache-2.0
// What the memory delivers over time while a GEMM runs, and how busy its engines were in all.
#include <cstdio>

#include "kernbench/platform/job.h"
#include "kernbench/platform/observe/statistics.h"

int sc_main(int, char* argv[]) {
  kernbench::Platform device("device", kernbench::compile_file(argv[1], {{"pe0.pe_gemm.freq_ghz", 0.5}}));
  kernbench::Statistics statistics(device);
  statistics.every(sc_core::sc_time(200, sc_core::SC_NS), [](const kernbench::StatisticsSnapshot& s) {
    std::printf("%6.0f ns  %6.1f GB/s\n", s.end_ns(), s.sum("hbm*", "read_bytes") / s.duration_ns());
  });
  kernbench::JobOptions options;
  options.kernel = "gemm";
  options.params = {{"m", "128"}, {"n", "128"}, {"k", "128"}};
  kernbench::Job job(device, options);
  job.run();
  const kernbench::StatisticsSnapshot all = statistics.snapshot();
  std::printf("%.1f ns, GEMM busy %.1f %%\n", all.duration_ns(),
              100 * all.value("pe0.pe_gemm", "busy_ns") / all.duration_ns());
  std::fputs(all.csv().c_str(), stdout);
  return 0;
}
