// SPDX-License-Identifier: Apache-2.0
// A system from YAML under a module of one's own, and a kernel on all of its PEs.
#include <iostream>

#include "kernbench/platform/platform.h"
#include "kernbench/platform/run/run.h"
#include "kernbench/platform/topology/build/compiler.h"
#include "kernbench/systemc_models/core/registry.h"

struct Board : sc_core::sc_module {
  kernbench::Platform device;
  Board(const sc_core::sc_module_name& name, const char* yaml)
      : sc_module(name), device("device", kernbench::topology::compile_file(yaml, kernbench::component_catalog())) {}
};

int sc_main(int argc, char** argv) try {
  Board board("board", argc > 1 ? argv[1] : "system.yaml");
  kernbench::RunOptions options;
  options.kernel = "gemm";
  options.params = {{"m", "64"}, {"n", "64"}, {"k", "64"}};
  options.verify = true;
  const kernbench::RunReport report = kernbench::run_kernel(board.device, std::move(options));
  std::cout << report.kernel << " on " << board.device.name() << ": " << report.end_ns << " ns, "
            << (report.passed ? "verified" : "wrong") << "\n";
  return report.passed ? 0 : 1;
} catch (const std::exception& e) {
  std::cerr << "minimal: " << e.what() << "\n";
  return 2;
}
