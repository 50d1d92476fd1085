// SPDX-License-Identifier: Apache-2.0
// The latency breakdown of a segment, by hand, part by part, on the machine of the collectives contract's examples; and
// the waits of servers and calls. oracle/ shows that breakdowns sum in every mode on random programs.
#include <gtest/gtest.h>

#include "queue_programs.h"

namespace kernbench::testing::every_segment_is_accounted_for {
namespace {

constexpr double kExact = 1e-9;
using Parts = std::map<std::string, double>;

/// The breakdown has exactly these parts. They sum to the time from the call of the send to the end of the slot read.
void expect_account(const SegmentAccount& a, const Parts& expected, double from_call_to_read) {
  double sum = 0;
  for (const SegmentPart& part : kSegmentParts) {
    const auto it = expected.find(part.name);
    EXPECT_NEAR(a.*part.ns, it == expected.end() ? 0 : it->second, kExact) << part.name;
    sum += a.*part.ns;
  }
  EXPECT_NEAR(sum, from_call_to_read, kExact);
}

double stall(const Played& p, int pe, const std::string& reason) {
  for (const QueueServerStatistics& s : p.platform->pes().pe(static_cast<size_t>(pe)).ipcq->queue_statistics()) {
    for (const auto& [name, ns] : s.stalls) {
      if (name == reason) return ns;
    }
  }
  return -1;
}

Played from_0_to_1(const Star& s, int messages, int bytes) {
  Programs p;
  p.connect(0, "E", 1, "W");
  for (int i = 0; i < messages; ++i) p.send(0, "E", bytes, true);
  for (int i = 0; i < messages; ++i) p.recv(1, "W", bytes);
  return play(star(s), p);
}

TEST(SegmentAccount, of_one_message_alone) {
  const Played p = from_0_to_1({}, 1, 1024);
  expect_account(
      p.call(0, 0).accounts[0],
      {{"call_ns", 2}, {"overhead_ns", 5}, {"wire_ns", 2}, {"drain_ns", 16}, {"slot_write_ns", 2}, {"slot_read_ns", 2}},
      29);
  EXPECT_NEAR(stall(p, 1, "no_message"), 25, kExact);  // from 2 to 27
  EXPECT_NEAR(stall(p, 0, "no_slot"), 0, kExact);
}

TEST(SegmentAccount, of_the_same_in_flits) {
  Star s;
  s.timing = "links: flit, response: routed, flit_bytes: 256";
  const Played p = from_0_to_1(s, 1, 1024);
  // Four flits of 4 ns, and the last one also over the second link.
  expect_account(
      p.call(0, 0).accounts[0],
      {{"call_ns", 2}, {"overhead_ns", 5}, {"wire_ns", 2}, {"drain_ns", 20}, {"slot_write_ns", 2}, {"slot_read_ns", 2}},
      33);
  EXPECT_EQ(stall(p, 1, "inbound_busy"), -1);  // there is no inbound server
}

/// One slot: each segment waits until the one before was read and its credit has returned, every 34.25 ns.
TEST(SegmentAccount, of_segments_that_wait_for_slots) {
  Star s;
  s.ipcq = "slots: 1, slot_bytes: 1024";
  Programs programs;
  programs.connect(0, "E", 1, "W");
  programs.send(0, "E", 8192);
  programs.recv(1, "W", 8192);
  const Played p = play(star(s), programs);
  for (int i = 0; i < 8; ++i) {
    expect_account(p.call(0, 0).accounts[static_cast<size_t>(i)],
                   {{"call_ns", 2},
                    {"slot_wait_ns", 34.25 * i},
                    {"overhead_ns", 5},
                    {"wire_ns", 2},
                    {"drain_ns", 16},
                    {"slot_write_ns", 2},
                    {"slot_read_ns", 2}},
                   29 + 34.25 * i);
  }
  EXPECT_NEAR(stall(p, 0, "no_slot"), 7 * 34.25, kExact);
  EXPECT_NEAR(stall(p, 0, "comm_busy"), 0, kExact);
  EXPECT_NEAR(stall(p, 1, "no_message"), 25 + 7 * 34.25, kExact);
}

/// cut_through: vc_comm is free when the data would have passed, the link a header later.
TEST(SegmentAccount, of_a_message_behind_another_on_its_links) {
  Star s;
  s.timing = "links: cut_through, response: ideal, header_bytes: 16";
  const Played p = from_0_to_1(s, 2, 1024);
  expect_account(p.call(0, 1).accounts[0],
                 {{"call_ns", 2},
                  {"comm_wait_ns", 14},
                  {"overhead_ns", 5},
                  {"wire_ns", 2},
                  {"link_queue_ns", 0.25},
                  {"drain_ns", 16},
                  {"slot_write_ns", 2},
                  {"slot_read_ns", 2}},
                 45.25 - 2);
  EXPECT_NEAR(stall(p, 0, "comm_busy"), 14, kExact);
}

/// Two PEs send to a third at the same time. The second header arrives with the first one, and its data drain after
/// those.
TEST(SegmentAccount, of_two_that_meet_at_their_receiver) {
  Star s;
  s.pes = 3;
  Programs programs;
  programs.connect(0, "out", 2, "a");
  programs.connect(1, "out", 2, "b");
  for (int pe = 0; pe < 2; ++pe) programs.send(pe, "out", 1024);
  programs.recv(2, "b", 1024);
  programs.recv(2, "a", 1024);
  const Played p = play(star(s), programs);
  const Parts alone = {{"call_ns", 2},   {"overhead_ns", 5},   {"wire_ns", 2},
                       {"drain_ns", 16}, {"slot_write_ns", 2}, {"slot_read_ns", 2}};
  Parts first = alone, second = alone;
  second["inbound_wait_ns"] = 16;          // visible at 43, read from then to 45
  first["receive_wait_ns"] = 45 + 2 - 27;  // visible at 27; its receive is called at 45
  expect_account(p.call(0, 0).accounts[0], first, 49);
  expect_account(p.call(1, 0).accounts[0], second, 45);
  EXPECT_NEAR(stall(p, 2, "inbound_busy"), 16, kExact);
  EXPECT_NEAR(stall(p, 2, "slot_reader_busy"), 0, kExact);
}

/// A slow slot: the second one waits for the writer, and both receives are posted before the first segment can be read.
TEST(SegmentAccount, of_what_waits_for_slow_slots) {
  Star s;
  s.ipcq += ", write_bw_gbs: {tcm: 32}, read_bw_gbs: {tcm: 8}";  // 32 and 128 ns
  Programs programs;
  programs.connect(0, "E", 1, "W");
  for (int i = 0; i < 2; ++i) programs.send(0, "E", 1024, true);
  for (int i = 0; i < 2; ++i) programs.recv(1, "W", 1024, true);
  const Played p = play(star(s), programs);
  // Arrived at 25 and 41, visible at 57 and 89, read from 57 to 185 and to 313.
  expect_account(p.call(0, 1).accounts[0],
                 {{"call_ns", 2},
                  {"comm_wait_ns", 14},
                  {"overhead_ns", 5},
                  {"wire_ns", 2},
                  {"drain_ns", 16},
                  {"writer_wait_ns", 16},
                  {"slot_write_ns", 32},
                  {"reader_wait_ns", 96},
                  {"slot_read_ns", 128}},
                 313 - 2);
  EXPECT_NEAR(stall(p, 1, "slot_writer_busy"), 16, kExact);
  EXPECT_NEAR(stall(p, 1, "slot_reader_busy"), 96, kExact);
}

/// credit_blocks: the receive waits for its credit.
TEST(SegmentAccount, ends_before_the_credit) {
  Star s;
  s.ipcq += ", credit_blocks: true";
  const Played p = from_0_to_1(s, 1, 1024);
  EXPECT_NEAR(stall(p, 1, "credit"), 7.25, kExact);
}

/// A store-and-forward switch has the complete message before it passes on its header.
TEST(SegmentAccount, of_a_message_that_is_stored_and_forwarded) {
  std::string yaml = star({});
  const std::string sw = "{overhead_ns: 5.0}";
  yaml.replace(yaml.find(sw), sw.size(), "{overhead_ns: 5.0, store_and_forward: true}");
  Programs programs;
  programs.connect(0, "E", 1, "W");
  programs.send(0, "E", 1024);
  programs.recv(1, "W", 1024);
  expect_account(play(yaml, programs).call(0, 0).accounts[0],
                 {{"call_ns", 2},
                  {"overhead_ns", 5},
                  {"wire_ns", 2},
                  {"store_forward_ns", 16},
                  {"drain_ns", 16},
                  {"slot_write_ns", 2},
                  {"slot_read_ns", 2}},
                 45);
}

/// For a queue: all its segments.
TEST(QueueTraffic, adds_up_what_came_through) {
  const Played p = from_0_to_1({}, 2, 2048);
  EXPECT_TRUE(p.platform->pes().pe(0).ipcq->queue_traffic().empty());
  const std::vector<QueueTraffic> all = p.platform->pes().pe(1).ipcq->queue_traffic();
  ASSERT_EQ(all.size(), 1u);
  EXPECT_EQ(all[0].from + " " + all[0].port + " " + all[0].to + " " + all[0].peer_port,
            "sip0.cube0.pe0 E sip1.cube0.pe0 W");
  EXPECT_EQ(all[0].messages, 2u);
  EXPECT_EQ(all[0].segments, 4u);
  EXPECT_EQ(all[0].bytes, 4096u);
  SegmentAccount sum;
  for (size_t call = 0; call < 2; ++call) {
    for (const SegmentAccount& a : p.call(0, call).accounts) sum.add(a);
  }
  for (const SegmentPart& part : kSegmentParts) EXPECT_NEAR(all[0].account.*part.ns, sum.*part.ns, kExact) << part.name;
}

}  // namespace
}  // namespace kernbench::testing::every_segment_is_accounted_for
