// SPDX-License-Identifier: Apache-2.0
// Runs and jobs one after the other, in a simulation that a clock of the user's keeps going for ever.
#include <iostream>

#include "kernbench/platform/job.h"
#include "kernbench/platform/platform.h"
#include "kernbench/platform/run/run.h"

int sc_main(int argc, char** argv) try {
  kernbench::Platform device("device", std::string(argc > 1 ? argv[1] : "system.yaml"));
  sc_core::sc_clock clock("clock", sc_core::sc_time(1, sc_core::SC_NS));

  kernbench::JobOptions options{"vector_add", {{"n", "4096"}}};
  options.verify = true;
  kernbench::Job job(device, options);
  const auto report = [&job](const char* how) {
    const double took = job.result().response.done_ns - job.result().start_ns;
    std::cout << how << ": " << took << " ns, " << (job.verify().passed ? "verified" : "wrong") << "\n";
  };
  for (uint64_t seed : {1, 2}) {
    job.place_random("a", seed);
    job.place_random("b", seed + 10);
    if (!job.run().response.ok()) throw std::runtime_error(job.result().response.text);
    report("run");
  }

  kernbench::RunOptions gemm;
  gemm.kernel = "gemm";
  gemm.params = {{"m", "64"}, {"n", "64"}, {"k", "64"}};
  gemm.verify = true;
  const kernbench::RunReport r = kernbench::run_kernel(device, std::move(gemm));
  std::cout << r.kernel << ": " << r.end_ns << " ns, " << (r.passed ? "verified" : "wrong") << "\n";

  job.start();
  int slices = 0;
  for (; job.running(); ++slices) sc_core::sc_start(sc_core::sc_time(100, sc_core::SC_NS));
  std::cout << slices << " slices of 100 ns\n";
  report("in slices");
  return 0;
} catch (const std::exception& e) {
  std::cerr << "beside_a_clock: " << e.what() << "\n";
  return 2;
}
