// SPDX-License-Identifier: Apache-2.0
// The kernel's time resolution belongs to the simulation; the owner of sc_main sets it. The model's own times are equal
// at any resolution: of transactions at ports, LT and AT, and of a kernel. Each resolution runs in a separate process.
#include <gtest/gtest.h>

#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <map>
#include <set>
#include <sstream>

#include "kernbench/platform/run/run.h"
#include "tapped_system.h"
#include "tlm_support.h"

namespace kernbench::testing {
namespace {

void print_times(const std::string& links) {
  topology::Overrides o;
  o.links = topology::Links(links);
  o.response = topology::Response::routed;
  std::string text = read_file(topology_path("small.yaml"));
  text.replace(text.find("  # ports:                     # "), 9,
               "  ports: [{at: r0c0, distance_mm: 0.37, bw_gbs: 61.3}, "
               "{at: r3c1, distance_mm: 0.11, bw_gbs: 47.9}] #");
  auto platform = platform_from_text(text, o);
  LtInitiator lt("lt", [](LtInitiator& me) {
    sc_core::wait(sc_core::sc_time(50, sc_core::SC_US));  // after the other's are done
    for (uint64_t i = 0; i < 20; ++i) {
      Shape s;
      s.command = i % 2 ? tlm::TLM_READ_COMMAND : tlm::TLM_WRITE_COMMAND;
      s.address = (3 << 20) + i * 211;
      s.data.resize(1 + i * 37);
      me.access(s);
    }
  });
  lt.socket.bind(platform->port("sip0.cube0.port0").socket<32>());
  std::deque<AtInitiator::Issued> issued;
  for (uint64_t i = 0; i < 20; ++i) {
    Shape& s = issued.emplace_back().shape;
    s.command = i % 2 ? tlm::TLM_READ_COMMAND : tlm::TLM_WRITE_COMMAND;
    s.address = (5 << 20) + i * 173;
    s.data.resize(1 + i * 53);
  }
  AtInitiator at("at", [&](AtInitiator& me) {
    for (AtInitiator::Issued& i : issued) me.issue(i);
  });
  at.socket.bind(platform->port("sip0.cube1.port1").socket<32>());
  std::vector<OpRecord> records;
  auto copy = std::make_unique<LogCopy>();
  copy->to = &records;
  platform->attach_log(copy.get());
  sc_core::sc_start(sc_core::sc_time(200, sc_core::SC_US));
  RunOptions options;
  options.kernel = "gemm";
  options.params = {{"m", "64"}, {"n", "48"}, {"k", "40"}};
  options.log = std::move(copy);
  run_kernel(*platform, std::move(options));
  for (const OpRecord& r : records) std::printf("%s %.9f\n", r.foreign ? "port" : "kernel", r.t_end - r.t_start);
}

/// The output of a process with that resolution, in order.
std::string times_at(const std::string& tick_fs, const std::string& links) {
  const std::string command = "KERNBENCH_TEST_TICK_FS=" + tick_fs + " KERNBENCH_TEST_LINKS=" + links + " '" +
                              std::filesystem::read_symlink("/proc/self/exe").string() +
                              "' --gtest_filter=TimesAtAResolution.are_the_same_at_ten 2>&1";
  FILE* pipe = popen(command.c_str(), "r");
  std::map<std::string, std::multiset<std::string>> times;
  char line[512];
  while (pipe && std::fgets(line, sizeof line, pipe)) {
    std::istringstream words(line);
    std::string who, ns;
    if (words >> who >> ns && (who == "port" || who == "kernel")) times[who].insert(ns);
  }
  if (pipe) pclose(pipe);
  std::ostringstream all;
  for (const auto& [who, values] : times) {
    all << who << " " << values.size() << ":";
    for (const std::string& v : values) all << " " << v;
    all << "\n";
  }
  return all.str();
}

TEST(TimesAtAResolution, are_the_same_at_ten) {
  if (const char* links = std::getenv("KERNBENCH_TEST_LINKS")) return print_times(links);
  for (const std::string links : {"ideal", "flit"}) {
    const std::string exact = times_at("1", links);
    ASSERT_NE(exact.find("port 40:"), std::string::npos) << exact;
    ASSERT_NE(exact.find("kernel "), std::string::npos) << exact;
    for (uint64_t tick = 10; tick <= 1'000'000'000; tick *= 10)
      EXPECT_EQ(times_at(std::to_string(tick), links), exact) << links << ", " << tick << " fs";
  }
}

}  // namespace
}  // namespace kernbench::testing
