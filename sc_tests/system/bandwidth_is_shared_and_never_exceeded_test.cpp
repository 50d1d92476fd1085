// SPDX-License-Identifier: Apache-2.0
// Many PEs at once on the default machine: no link or pseudo-channel ever exceeds its bandwidth, a hot slice is shared
// fairly, and PEs on their own slices hardly disturb each other. Bytes are counted from outside, by request, without
// the models' own breakdowns.
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <tuple>

#include "kernbench/platform/topology/route/path_router.h"
#include "system_support.h"

namespace kernbench::testing::bandwidth_is_shared_and_never_exceeded {
namespace {

constexpr uint64_t kRead = 16384;
constexpr double kSlack = 1e-9;  // of a bandwidth: rounding of sums

std::unique_ptr<Platform> default_machine(topology::Links links) {
  topology::Overrides overrides;
  overrides.links = links;
  overrides.response = topology::Response::routed;
  return platform_from_file(topology_path("default.yaml"), overrides);
}

const topology::Memory& slice_of_pe(Platform& platform, size_t pe) {
  return platform.graph().memories[platform.pes().local_memory(pe)];
}

/// `reads` per PE, all issued at 0; its channel issues one at a time.
std::vector<TrafficRequest> reads_of(const Platform& platform, size_t pe, uint64_t base, uint64_t reads,
                                     uint64_t nbytes = kRead) {
  std::vector<TrafficRequest> all;
  for (uint64_t i = 0; i < reads; ++i) {
    TrafficRequest q;
    q.initiator = platform.graph().pes[pe].blocks.at("pe_dma");
    q.address = base + i * nbytes;
    q.nbytes = nbytes;
    all.push_back(q);
  }
  return all;
}

struct Served {
  TrafficRequest request;
  double done_ns = 0;
};

std::vector<Served> play(Platform& platform, const std::vector<TrafficRequest>& requests) {
  const std::vector<TrafficResult> results = run_traffic(platform, requests);
  std::vector<Served> served;
  for (size_t i = 0; i < requests.size(); ++i) served.push_back({requests[i], results[i].done_ns});
  std::stable_sort(served.begin(), served.end(),
                   [](const Served& a, const Served& b) { return a.done_ns < b.done_ns; });
  return served;
}

/// Everything that is complete at an instant has passed its links and channels since 0. So at every completion the
/// bytes so far are at most bandwidth x time. Returns the maximum utilisation of a server, by kind.
struct Most {
  double link = 0, channel = 0;
};

Most expect_no_server_exceeded(Platform& platform, const std::vector<Served>& served) {
  const topology::Graph& g = platform.graph();
  std::map<uint32_t, double> of_edge;
  std::map<std::pair<uint32_t, uint64_t>, double> of_channel;
  Most most;
  for (const Served& s : served) {
    const topology::Memory& m = *g.memory_at(s.request.address);
    const topology::Node& hbm = g.nodes[m.node];
    const auto path = platform.routes().paths().find_path(s.request.initiator, m.node);
    for (const uint32_t e : platform.routes().paths().reversed(path)) {
      double& bytes = of_edge[e];
      bytes += static_cast<double>(s.request.nbytes);
      const double share = bytes / (g.effective_bw(e) * s.done_ns);
      most.link = std::max(most.link, share);
    }
    const auto channels = static_cast<uint64_t>(hbm.attrs.integer("pseudo_channels", 0));
    const auto interleave = static_cast<uint64_t>(hbm.attrs.integer("interleave_bytes", 0));
    for (uint64_t at = 0; at < s.request.nbytes; at += interleave) {
      double& bytes = of_channel[{m.node, (s.request.address - m.base + at) / interleave % channels}];
      bytes += static_cast<double>(std::min(interleave, s.request.nbytes - at));
      const double share = bytes / (hbm.attrs.number("pc_bw_gbs", 0) * s.done_ns);
      most.channel = std::max(most.channel, share);
    }
  }
  EXPECT_LE(most.channel, 1 + kSlack);
  if (g.timing.links != topology::Links::ideal) {  // any number of messages cross an ideal link at once
    EXPECT_LE(most.link, 1 + kSlack);
  }
  return most;
}

class HotSlice : public ::testing::TestWithParam<std::tuple<topology::Links, size_t>> {};

TEST_P(HotSlice, serves_its_readers_fairly_and_never_more_than_its_channels_can) {
  const auto& [links, pes] = GetParam();
  const auto platform = default_machine(links);
  constexpr uint64_t kReads = 100;
  std::vector<TrafficRequest> requests;
  for (size_t pe = 0; pe < pes; ++pe) {
    const auto more = reads_of(*platform, pe, slice_of_pe(*platform, 0).base + pe * kReads * kRead, kReads);
    requests.insert(requests.end(), more.begin(), more.end());
  }
  const std::vector<Served> served = play(*platform, requests);
  const Most most = expect_no_server_exceeded(*platform, served);

  // While all still read: until the first one has finished.
  std::map<uint32_t, uint64_t> done;
  double end = 0, total = 0;
  for (const Served& s : served) {
    total += kRead;
    end = s.done_ns;
    if (++done[s.request.initiator] == kReads) break;
  }
  ASSERT_EQ(done.size(), pes);
  const double mean = total / kRead / static_cast<double>(pes);
  if (links == topology::Links::flit) {
    for (const auto& [pe, reads] : done) {
      EXPECT_GE(static_cast<double>(reads), 0.95 * mean) << platform->graph().nodes[pe].id;
      EXPECT_LE(static_cast<double>(reads), 1.05 * mean) << platform->graph().nodes[pe].id;
    }
  }
  EXPECT_LE(total / end, 256.0);
  if (pes > 1) {  // a single PE has one read in flight and cannot saturate the slice
    EXPECT_GE(total / end, 0.95 * 256.0);
    EXPECT_GE(most.channel, 0.95) << "the bound is reached, so it would show if it were passed";
  }
}

INSTANTIATE_TEST_SUITE_P(of, HotSlice,
                         ::testing::Combine(::testing::Values(topology::Links::ideal, topology::Links::cut_through,
                                                              topology::Links::flit),
                                            ::testing::Values<size_t>(1, 2, 4, 8)),
                         [](const auto& p) {
                           return std::string(topology::name_of(std::get<0>(p.param))) + "_" +
                                  std::to_string(std::get<1>(p.param));
                         });

/// Bandwidth that PE 0's slice gives `pes` readers of 64 KiB while all of them read, GB/s.
double hot_slice_gbs(topology::Links links, size_t pes) {
  const auto platform = default_machine(links);
  constexpr uint64_t kReads = 8, kLong = 65536;
  std::vector<TrafficRequest> requests;
  for (size_t pe = 0; pe < pes; ++pe) {
    const auto more = reads_of(*platform, pe, slice_of_pe(*platform, 0).base + pe * kReads * kLong, kReads, kLong);
    requests.insert(requests.end(), more.begin(), more.end());
  }
  std::map<uint32_t, uint64_t> done;
  double bytes = 0;
  for (const Served& s : play(*platform, requests)) {
    bytes += kLong;
    if (++done[s.request.initiator] == kReads) return bytes / s.done_ns;
  }
  return 0;
}

class HotSliceOfLongReads : public ::testing::TestWithParam<size_t> {};

/// A wait for a link that overlaps with the channels' own wait is not counted twice (timing rules §4).
TEST_P(HotSliceOfLongReads, gives_its_bandwidth_in_cut_through_as_with_flits) {
  const auto gbs = [](topology::Links links) {
    return std::stod(in_child([&] { return std::to_string(hot_slice_gbs(links, GetParam())); }));
  };
  const double headers = gbs(topology::Links::cut_through), flits = gbs(topology::Links::flit);
  EXPECT_GE(headers, 0.95 * 256.0);
  EXPECT_GE(flits, 0.95 * 256.0);
  EXPECT_LE(headers, 256.0);
  EXPECT_LE(flits, 256.0);
  EXPECT_NEAR(headers / flits, 1, 0.05);
}

INSTANTIATE_TEST_SUITE_P(of, HotSliceOfLongReads, ::testing::Values<size_t>(1, 2, 3, 8, 128),
                         ::testing::PrintToStringParamName());

class OwnSlices : public ::testing::TestWithParam<topology::Links> {};

TEST_P(OwnSlices, give_128_pes_at_least_four_fifths_of_their_peak) {
  const auto platform = default_machine(GetParam());
  constexpr uint64_t kReads = 32;
  std::vector<TrafficRequest> requests;
  for (size_t pe = 0; pe < 128; ++pe) {
    const auto more = reads_of(*platform, pe, slice_of_pe(*platform, pe).base, kReads);
    requests.insert(requests.end(), more.begin(), more.end());
  }
  const std::vector<Served> served = play(*platform, requests);
  expect_no_server_exceeded(*platform, served);
  const double aggregate = 128.0 * kReads * kRead / served.back().done_ns;
  EXPECT_GE(aggregate, 0.8 * 128 * 256);
  EXPECT_LE(aggregate, 128.0 * 256);
}

// 128 PEs of one SIP read from the slices of the first cube: every PE of a row of cubes uses the same UCIe ports.
TEST_P(OwnSlices, of_one_cube_read_by_all_its_sip_exceed_no_link_on_the_way) {
  const auto platform = default_machine(GetParam());
  std::vector<TrafficRequest> requests;
  for (size_t pe = 0; pe < 128; ++pe) {
    const auto more = reads_of(*platform, pe, slice_of_pe(*platform, pe % 8).base + pe / 8 * 2 * kRead, 2);
    requests.insert(requests.end(), more.begin(), more.end());
  }
  const Most most = expect_no_server_exceeded(*platform, play(*platform, requests));
  if (GetParam() != topology::Links::ideal) {
    EXPECT_GE(most.link, 0.8) << "some link is the bottleneck";
  }
}

INSTANTIATE_TEST_SUITE_P(of, OwnSlices,
                         ::testing::Values(topology::Links::ideal, topology::Links::cut_through, topology::Links::flit),
                         [](const auto& p) { return topology::name_of(p.param); });

}  // namespace
}  // namespace kernbench::testing::bandwidth_is_shared_and_never_exceeded
