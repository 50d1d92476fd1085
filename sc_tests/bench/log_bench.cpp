// SPDX-License-Identifier: Apache-2.0
// The cost of the op log in Phase 1. It plays the composites of a file of `kernbench pipeline` without a log or with
// one in
// memory. (The command itself always has a log, from which it gets times.)
//   log_bench FILE.yaml FILE.json none|memory|build
// Prints the CPU seconds of the simulation, without reading, elaboration and output. With `build` it ends before the
// simulation, for counts of instructions.
#include <cstdio>
#include <cstring>
#include <ctime>
#include <fstream>
#include <systemc>

#include "kernbench/phase2/log/memory_op_log.h"
#include "kernbench/platform/platform.h"
#include "kernbench/platform/work/command_driver.h"
#include "kernbench/platform/work/pipeline.h"

namespace {

double cpu_s() {
  timespec t;
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
  return static_cast<double>(t.tv_sec) + static_cast<double>(t.tv_nsec) * 1e-9;
}

/// Submits every composite at its time.
void submit(kernbench::CommandDriver& driver, kernbench::Platform& platform, kernbench::PipelineWork& work) {
  for (auto& part : work.pes) {
    for (auto& e : part.composites) driver.submit(part.index, *e.command, e.submit_ns);
  }
  platform.machine().run_ahead();
  platform.routes().close();
}

}  // namespace

int sc_main(int argc, char* argv[]) {
  using namespace kernbench;
  const std::string mode = argc == 4 ? argv[3] : "";
  if (mode != "none" && mode != "memory" && mode != "build") {
    std::fprintf(stderr, "log_bench: expected FILE.yaml FILE.json none|memory|build\n");
    return 2;
  }
  try {
    Platform& platform = *new Platform("system", argv[1]);  // never destroyed, because the process is about to end
    std::ifstream in(argv[2]);
    PipelineWork work = read_pipeline_work(in, argv[2], platform);
    auto& log = *new MemoryOpLog;
    if (mode == "memory") platform.attach_log(&log);
    auto& driver = *new CommandDriver("command_driver", platform);
    submit(driver, platform, work);
    if (mode == "build") return 0;
    const double before = cpu_s();
    sc_core::sc_start();
    std::printf("simulation %.6g s\n", cpu_s() - before);
  } catch (const std::exception& e) {
    std::fprintf(stderr, "log_bench: %s\n", e.what());
    return 1;
  }
  return 0;
}
