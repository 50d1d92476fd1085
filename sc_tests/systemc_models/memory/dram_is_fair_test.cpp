// SPDX-License-Identifier: Apache-2.0
// builtin.hbm_dram under an endless stream: no request waits for ever, and a limit costs the stream little.
// docs/memory_models.md has the limits: writes in a drain, row hits before an older request, age.
#include <gtest/gtest.h>

#include <fmt/format.h>

#include <algorithm>
#include <cstdio>

#include "kernbench/platform/topology/graph/faults.h"
#include "kernbench/systemc_models/fabric/memory_target.h"
#include "system_support.h"

namespace kernbench::testing::dram_is_fair {
namespace {

constexpr uint64_t kFar = uint64_t{128} << 20;  // another row of the bank with offset 0
const char* const kModes[] = {"ideal", "cut_through", "flit"};

std::string machine(const std::string& links, const std::string& attrs) {
  return "ns_per_mm: 0.01\ntiming: {links: " + links + R"(, response: routed}
nodes:
- {id: writer, kind: port, attrs: {outstanding: 48}}
- {id: reader, kind: port}
- {id: r, kind: router}
- {id: hbm, kind: hbm_ctrl, impl: builtin.hbm_dram, attrs: {)" +
         attrs + R"(}}
links:
- {from: writer, to: r, distance_mm: 1, bw_gbs: 256}
- {from: reader, to: r, distance_mm: 1, bw_gbs: 256}
- {from: r, to: hbm, distance_mm: 1, bw_gbs: 256}
memories:
- {node: hbm, space: hbm, base: 0, size: 268435456}
)";
}

struct Load {
  const char* who;
  bool write;
  uint64_t first, nbytes, count;
  double at_ns = 0;
};

/// End of the last access of each load, ns; as text, because it runs in a separate process.
std::vector<double> last_done(const std::string& links, const std::string& attrs, const std::vector<Load>& loads) {
  const std::string text = in_child([&] {
    const auto platform = platform_from_text(machine(links, attrs));
    std::vector<TrafficRequest> requests;
    for (const Load& l : loads) {
      for (uint64_t i = 0; i < l.count; ++i)
        requests.push_back(
            request(*platform, l.at_ns, l.who, l.write ? "write" : "read", l.first + i * l.nbytes, l.nbytes));
    }
    const auto results = run_traffic(*platform, requests);
    std::string all;
    size_t at = 0;
    for (const Load& l : loads) {
      double last = 0;
      for (uint64_t i = 0; i < l.count; ++i) last = std::max(last, results[at++].done_ns);
      all += fmt::format("{} ", last);
    }
    return all;
  });
  std::vector<double> done;
  for (size_t at = 0, end = 0; at < text.size(); at = end + 1) {
    end = text.find(' ', at);
    done.push_back(std::stod(text.substr(at, end - at)));
  }
  return done;
}

class DramIsFair : public ::testing::TestWithParam<const char*> {};

TEST_P(DramIsFair, a_read_waits_for_one_drain) {
  for (const char* preset : {"preset: hbm2, refresh: none", "preset: hbm3", "preset: hbm2e, refresh: per_bank"}) {
    const Load writes{"writer", true, 0, 16384, 400}, read{"reader", false, kFar, 64, 1, 5000};
    const auto done = last_done(GetParam(), preset, {writes, read});
    EXPECT_GT(done[0], 10000) << "the writer is not there long enough";
    EXPECT_LT(done[1], 6000) << preset;
  }
}

TEST_P(DramIsFair, a_streaming_reader_keeps_its_share) {
  for (const char* preset : {"preset: hbm2", "preset: hbm3"}) {
    // The writer runs until the reads end.
    const Load writes{"writer", true, 0, 16384, 400}, reads{"reader", false, kFar, 4096, 200};
    const double alone = last_done(GetParam(), preset, {reads})[0];
    const auto both = last_done(GetParam(), preset, {writes, reads});
    EXPECT_LT(both[1], both[0]) << preset;
    EXPECT_GT(alone / both[1], 0.4) << preset;
  }
}

/// Endless row hits, and one request for another row of their bank.
TEST_P(DramIsFair, row_hits_do_not_keep_a_row_closed) {
  const std::string one_bank =
      "preset: hbm2, refresh: none, channels: 1, pseudo_channels: 1, bank_groups: 1, banks: 1, mapping: row column "
      "byte";
  // The hits are repeated reads of one row.
  const auto done_with = [&](const char* bounds) {
    return std::stod(in_child([&] {
      const auto platform = platform_from_text(machine(GetParam(), one_bank + bounds));
      std::vector<TrafficRequest> requests;
      for (int i = 0; i < 4000; ++i) requests.push_back(request(*platform, 0, "writer", "read", (i % 32) * 32, 32));
      requests.push_back(request(*platform, 100, "reader", "read", 1 << 20, 32));
      return fmt::format("{}", run_traffic(*platform, requests).back().done_ns);
    }));
  };
  const double bounded = done_with(", row_hits: 16"), aged = done_with(", row_hits: 100000, max_age: 500");
  const double never = done_with(", row_hits: 100000, max_age: 1000000");
  EXPECT_LT(bounded, never / 2);
  EXPECT_LT(aged, never / 2);
}

TEST_P(DramIsFair, what_goes_alone_is_as_fast_as_without_bounds) {
  for (const bool write : {false, true}) {
    const Load stream{"writer", write, 0, 16384, 100};
    const double bounded = last_done(GetParam(), "preset: hbm3", {stream})[0];
    const double free =
        last_done(GetParam(), "preset: hbm3, write_drain: 64, row_hits: 100000, max_age: 1000000", {stream})[0];
    EXPECT_LT(bounded, free * 1.05);
  }
}

INSTANTIATE_TEST_SUITE_P(Modes, DramIsFair, ::testing::ValuesIn(kModes),
                         [](const auto& mode) { return std::string(mode.param); });

/// A write's data arrive with its flits: they do not use a slow or fast path again, and bursts do not wait for the rest
/// of their write. Links of `gbs`; completed writes, and the bursts that the memory wrote.
std::pair<double, double> lone_write(const char* links, int flit_bytes, int gbs, uint64_t address, uint64_t nbytes) {
  const std::string text = in_child([&] {
    std::string yaml = machine(links + fmt::format(", flit_bytes: {}", flit_bytes), "refresh: none");
    const std::string of_file = "bw_gbs: 256", wanted = fmt::format("bw_gbs: {}.0", gbs);
    for (size_t at = yaml.find(of_file); at != std::string::npos; at = yaml.find(of_file, at + wanted.size()))
      yaml.replace(at, of_file.size(), wanted);
    const auto platform = platform_from_text(yaml);
    // The read comes much later, when all waiting writes are done.
    const auto r = run_traffic(*platform, {request(*platform, 0, "writer", "write", address, nbytes),
                                           request(*platform, 1e6, "reader", "read", kFar, 32)});
    double bursts = 0;
    const Component& hbm = platform->component(platform->graph().index_of.at("hbm"));
    for (const MemoryCounter& c : dynamic_cast<const MemoryTarget&>(hbm).counters()) {
      if (std::string(c.name) == "write_bursts") bursts = c.value;
    }
    return fmt::format("{} {} {}", r[0].done_ns, bursts, r[0].formula_ns);
  });
  double done = 0, bursts = 0, formula = 0;
  std::sscanf(text.c_str(), "%lf %lf %lf", &done, &bursts, &formula);
  EXPECT_NEAR(done, formula, 3) << links << " " << flit_bytes << " " << gbs << " " << address << " " << nbytes;
  return {done, bursts};
}

TEST(DramWithFlits, a_write_pays_its_way_once) {
  for (const int gbs : {16, 128, 256, 1000}) {
    for (const int flit_bytes : {16, 48, 256}) {
      for (const auto& [address, nbytes] : {std::pair<uint64_t, uint64_t>{0, 16384}, {7, 5000}, {31, 2}}) {
        const auto [done, bursts] = lone_write("flit", flit_bytes, gbs, address, nbytes);
        const auto [header, header_bursts] = lone_write("cut_through", flit_bytes, gbs, address, nbytes);
        EXPECT_EQ(bursts, header_bursts);
        // Each of two links transfers its first flit additionally, and a clock edge or two are added.
        EXPECT_NEAR(done, header, 2.0 * flit_bytes / gbs + 3) << gbs << " " << flit_bytes << " " << address;
      }
    }
  }
}

/// Reads of queued writes are answered from the queue, at the data bus's rate.
TEST(DramForwards, no_faster_than_the_bus) {
  const std::string small = "preset: hbm2, refresh: none, channels: 1, pseudo_channels: 1, write_high: 64";
  // 32 bytes per burst of 2 ns.
  const auto done = last_done("ideal", small, {{"writer", true, 0, 32, 40}, {"reader", false, 0, 32, 40, 30}});
  EXPECT_GT(done[1], 30 + 39 * 2);
}

TEST(DramTimings, that_cannot_make_progress_are_refused) {
  for (const char* attrs : {"preset: hbm2, tRCDRD: 3600", "preset: hbm2, tRCDRD: 3600, refresh: per_bank",
                            "preset: hbm2, tRCDWR: 3600", "preset: hbm2, tACT: 3600"}) {
    try {
      platform_from_text(machine("ideal", attrs));
      ADD_FAILURE() << attrs;
    } catch (const topology::TopologyError& e) {
      EXPECT_NE(std::string(e.what()).find("tREFI"), std::string::npos) << e.what();
    }
  }
}

}  // namespace
}  // namespace kernbench::testing::dram_is_fair
