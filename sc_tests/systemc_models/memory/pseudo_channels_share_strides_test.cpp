// SPDX-License-Identifier: Apache-2.0
// Pseudo-channels, by hand: the channel of a block, the cost of a short access, and the time of a second read over the
// same link. Timing rules §4.
#include <gtest/gtest.h>

#include <string>

#include "kernbench/systemc_models/memory/hbm_pc.h"
#include "system_support.h"

namespace kernbench::testing {
namespace {

/// A DMA, and a memory of four channels of 16 GB/s in blocks of 64 bytes, behind a router; the link is 64 GB/s.
std::unique_ptr<Platform> machine(const std::string& attributes, const std::string& links) {
  return platform_from_text(R"(ns_per_mm: 0.01
timing: {links: )" + links + R"(, flit_bytes: 64, response: routed}
nodes:
- {id: a, kind: pe_dma}
- {id: b, kind: pe_dma}
- {id: r, kind: router}
- {id: hbm, kind: hbm_ctrl, impl: builtin.hbm_pc,
   attrs: {pseudo_channels: 4, interleave_bytes: 64, pc_bw_gbs: 16)" +
                            attributes + R"(}}
links:
- {from: a, to: r, distance_mm: 100.0, bw_gbs: 64.0}
- {from: b, to: r, distance_mm: 100.0, bw_gbs: 64.0}
- {from: r, to: hbm, distance_mm: 100.0, bw_gbs: 64.0}
memories: [{node: hbm, space: hbm, base: 4096, size: 1048576}]
)");
}

TrafficRequest read_of(const std::string& id, const Platform& platform, uint64_t offset, uint64_t nbytes) {
  TrafficRequest q;
  q.initiator = platform.graph().index_of.at(id);
  q.address = 4096 + offset;
  q.nbytes = nbytes;
  return q;
}

struct Read {
  const char* initiator;
  uint64_t offset;
};

/// End of several reads at 0, minus the path of a header (4 wires).
double all_done_ns(const std::string& attributes, const std::string& links, std::vector<Read> reads, uint64_t nbytes) {
  return std::stod(in_child([&] {
    const auto platform = machine(attributes, links);
    std::vector<TrafficRequest> requests;
    for (const Read& r : reads) requests.push_back(read_of(r.initiator, *platform, r.offset, nbytes));
    double latest = 0;
    for (const TrafficResult& r : run_traffic(*platform, requests)) latest = std::max(latest, r.done_ns);
    return std::to_string(latest - 4);
  }));
}

double pair_ns(const std::string& attributes, uint64_t first, uint64_t second, uint64_t nbytes) {
  return all_done_ns(attributes, "cut_through", {{"a", first}, {"b", second}}, nbytes);
}

TEST(PseudoChannels, take_blocks_in_turn) {
  EXPECT_NEAR(pair_ns("", 0, 64, 64), 4, 1e-6) << "two channels; the second header waits for the link meanwhile";
  EXPECT_NEAR(pair_ns("", 0, 256, 64), 8, 1e-6) << "one channel";
}

TEST(PseudoChannels, with_xor_take_strides_of_whole_turns_to_others) {
  EXPECT_NEAR(pair_ns(", hash: xor", 0, 256, 64), 4, 1e-6) << "blocks 0 and 4 = 10 in base 4: channels 0 and 1";
  EXPECT_NEAR(pair_ns(", hash: xor", 64, 256, 64), 8, 1e-6) << "blocks 1 and 4: both channel 1";
  EXPECT_NEAR(pair_ns(", hash: xor", 0, 5 * 64, 64), 8, 1e-6) << "block 5 = 11 in base 4: channel 0";
  EXPECT_NEAR(pair_ns(", hash: xor", 0, 16 * 64, 64), 4, 1e-6) << "block 16 = 100 in base 4: channel 1";
}

TEST(PseudoChannels, move_whole_bursts) {
  const auto alone = [](const std::string& links, uint64_t offset, uint64_t nbytes) {
    return all_done_ns(", burst_bytes: 32", links, {{"a", offset}}, nbytes);
  };
  EXPECT_NEAR(alone("cut_through", 0, 4), 2, 1e-6);
  EXPECT_NEAR(alone("cut_through", 30, 4), 4, 1e-6) << "across the edge of two bursts";
  EXPECT_NEAR(alone("cut_through", 62, 4), 2, 1e-6) << "one burst each of two channels";
  EXPECT_NEAR(alone("flit", 0, 4), 2 + 2 * 4.0 / 64, 1e-6) << "bytes on links are not rounded";
}

TEST(PseudoChannels, cover_the_wait_for_the_link_that_their_data_take) {
  EXPECT_NEAR(pair_ns("", 0, 16384, 16384), 2 * 16384 / 64.0, 1e-6) << "not three times: the second's header waits";
}

TEST(PseudoChannels, are_told_by_hand_what_does_not_go_together) {
  HbmPcParameters p;
  p.pseudo_channels = 3;
  p.interleave_bytes = 64;
  p.pc_bw_gbs = 16;
  EXPECT_NO_THROW(checked(p));
  p.hash = "xor";
  EXPECT_THROW(checked(p), std::invalid_argument);
  p.hash = "none";
  p.burst_bytes = 48;
  EXPECT_THROW(checked(p), std::invalid_argument);
}

}  // namespace
}  // namespace kernbench::testing
