// SPDX-License-Identifier: Apache-2.0
// For scripts/latency-load. `packet_arrivals TOPOLOGY TRACE` plays the requests of a trace like `kernbench traffic`. In
// their order, it prints the time in ns at which the memory has served the last byte of each. (`traffic` prints the
// time of the response.) Addresses must be distinct.
#include <fmt/format.h>

#include <fstream>
#include <iostream>
#include <unordered_map>

#include "kernbench/platform/elaborate/fabric_watch.h"
#include "kernbench/platform/platform.h"
#include "kernbench/platform/work/traffic.h"
#include "kernbench/systemc_models/fabric/transaction.h"

namespace {

class Arrivals : public kernbench::FabricObserver {
 public:
  void memory_request(const kernbench::MemoryTarget&, const kernbench::FabricTransaction& x, kernbench::MemoryStep step,
                      double t) override {
    if (step == kernbench::MemoryStep::finished) at_[x.address] = t;
  }
  double of(uint64_t address) const { return at_.at(address); }

 private:
  std::unordered_map<uint64_t, double> at_;
};

}  // namespace

int sc_main(int argc, char** argv) {
  if (argc != 3) {
    std::cerr << "packet_arrivals TOPOLOGY TRACE\n";
    return 2;
  }
  try {
    sc_core::sc_set_time_resolution(1, sc_core::SC_FS);
    kernbench::Platform platform("platform", argv[1]);
    Arrivals arrivals;
    kernbench::watch_fabric(platform.machine(), arrivals, kernbench::FabricParts::blocks);
    std::ifstream trace(argv[2]);
    const auto traffic = kernbench::read_traffic(trace, argv[2], platform);
    kernbench::run_traffic(platform, traffic.requests, nullptr, traffic.groups);
    for (const kernbench::TrafficRequest& r : traffic.requests) fmt::print("{:.6f}\n", arrivals.of(r.address));
  } catch (const std::exception& e) {
    std::cerr << e.what() << "\n";
    return 1;
  }
  return 0;
}
