// SPDX-License-Identifier: Apache-2.0
// What `kernbench run` does, as a function: a kernel's verdict, its energy and its page.
#include <iostream>

#include "kernbench/platform/entry/run.h"

int main() try {
  kernbench::spec::RunSpec spec;
  spec.set("topology", "small.yaml");
  spec.set("kernel", "gemm");
  spec.set("energy", "n7.yaml");
  spec.set("explain", "true");
  spec.set("report", "gemm.html");
  for (const char* size : {"64", "128"}) {
    for (const char* name : {"m=", "n=", "k="}) spec.list("param").push_back(std::string(name) + size);
    const kernbench::RunRecord run = kernbench::run(spec);
    std::cout << size << ": " << run.number("sim_ns") << " ns, " << run.number("energy_j") << " J\n";
    for (const std::string& sentence : run.verdict) std::cout << "  " << sentence << "\n";
    spec.list("param").clear();
  }
} catch (const std::exception& e) {
  std::cerr << e.what() << "\n";
  return 1;
}
