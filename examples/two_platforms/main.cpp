// SPDX-License-Identifier: Apache-2.0
// Two systems in one simulation: what the first one's kernel has produced is the input of the second one's.
#include <iostream>
#include <vector>

#include "kernbench/platform/job.h"
#include "kernbench/platform/platform.h"

struct Rack : sc_core::sc_module {
  kernbench::Platform left, right;
  kernbench::Job pick, pick_again;

  Rack(const sc_core::sc_module_name& name, const std::string& yaml)
      : sc_module(name),
        left("left", yaml),
        right("right", yaml),
        pick(left, {"gather", {{"n", "16"}, {"rows", "32"}, {"cols", "64"}}}),
        pick_again(right, {"gather", {{"n", "4"}, {"rows", "16"}, {"cols", "64"}}}) {
    SC_HAS_PROCESS(Rack);
    SC_THREAD(run);
  }

  void run() {
    pick.place_random("x", 1);
    pick.place("idx", every_second(16));
    pick.start();
    wait(pick.completed());
    report(pick, left);
    pick_again.place("x", pick.read_back("y"));
    pick_again.place("idx", every_second(4));
    pick_again.start();
    wait(pick_again.completed());
    report(pick_again, right);
  }

  static kernbench::HostTensor every_second(int32_t count) {
    std::vector<int32_t> rows;
    for (int32_t i = 0; i < count; ++i) rows.push_back(2 * i);
    return kernbench::HostTensor::from(kernbench::DType::i32, {count}, rows);
  }

  static void report(const kernbench::Job& job, const kernbench::Platform& platform) {
    std::cout << platform.name() << ": " << job.kernel().name << " from " << job.result().start_ns << " to "
              << job.result().response.done_ns << " ns, now " << sc_core::sc_time_stamp() << "\n";
  }
};

int sc_main(int argc, char** argv) try {
  Rack rack("rack", argc > 1 ? argv[1] : "system.yaml");
  sc_core::sc_start();
  return 0;
} catch (const std::exception& e) {
  std::cerr << "two_platforms: " << e.what() << "\n";
  return 2;
}
