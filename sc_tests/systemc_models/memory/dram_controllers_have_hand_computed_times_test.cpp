// SPDX-License-Identifier: Apache-2.0
// builtin.hbm_dram by hand: cycles of accesses, and the commands that they need. Timings of preset hbm2: tACT 2, tRCDRD
// 12, tCL 17, tBURST 2, tRP 14, tRAS 28, tFAW 16, tRRDS 4, tCWL 7, tWTRS 4, tWTRL 9, tRTW 18, tRFC 350.
#include <gtest/gtest.h>

#include "dram_support.h"
#include "system_support.h"

namespace kernbench::testing::dram_controllers_have_hand_computed_times {
namespace {

/// One pseudo-channel; offsets: 5 bits byte, 2 group, 5 column, 2 bank, row.
HbmDramParameters one_channel() {
  HbmDramParameters p;
  p.channels = 1;
  p.pseudo_channels = 1;
  p.mapping = "row bank column group byte";
  p.refresh = "none";
  return p;
}

uint64_t place(unsigned row, unsigned bank, unsigned column, unsigned group) {
  return ((uint64_t{row} << 2 | bank) << 5 | column) << 7 | group << 5;
}

struct Played {
  std::vector<DramAccess> accesses;
  KeptCommands commands;
  DramCounts counts;
  Cycle took(size_t i) const { return accesses[i].done - accesses[i].at; }
};

Played play(const HbmDramParameters& p, std::vector<DramAccess> accesses) {
  Played result;
  DramController dram(checked(p).config(), p.mapping);
  dram.observe(&result.commands);
  play(dram, accesses);
  result.accesses = std::move(accesses);
  result.counts = dram.counts();
  return result;
}

TEST(DramTimes, of_a_closed_bank_an_open_row_and_another_row) {
  const Played r = play(
      one_channel(), {{0, false, place(0, 0, 0, 0)}, {100, false, place(0, 0, 1, 0)}, {200, false, place(1, 0, 0, 0)}});
  EXPECT_EQ(r.took(0), 1 + 12 + 17 + 2) << "ACT in its second cycle, RD, data";
  EXPECT_EQ(r.took(1), 17 + 2);
  EXPECT_EQ(r.took(2), 14 + 12 + 17 + 2) << "PRE, ACT ends tRP later";
  EXPECT_EQ(r.counts.row_misses, 1u);
  EXPECT_EQ(r.counts.row_hits, 1u);
  EXPECT_EQ(r.counts.row_conflicts, 1u);
  EXPECT_EQ(r.counts.activates, 2u);
  EXPECT_EQ(r.counts.precharges, 1u);
}

/// Time of the data bus by cause, from the last access's arrival to its data; without zeros.
std::map<Resource, Cycle> spent(const HbmDramParameters& p, std::vector<DramAccess> accesses) {
  DramController dram(checked(p).config(), p.mapping);
  dram.keep_history(0);
  play(dram, accesses);
  const DramAccess& last = accesses.back();
  const DramTimes times = dram.spent(0, last.at, last.done);
  std::map<Resource, Cycle> all;
  Cycle sum = 0;
  for (size_t i = 0; i < times.size(); ++i) {
    sum += times[i];
    if (times[i] != 0) all[kDramTimes[i]] = times[i];
  }
  EXPECT_EQ(sum, last.done - last.at);
  return all;
}

TEST(DramTimes, are_spent_on_what_the_access_waits_for) {
  using R = Resource;
  using Spent = std::map<Resource, Cycle>;
  const HbmDramParameters p = one_channel();
  const DramAccess first{0, false, place(0, 0, 0, 0)};
  EXPECT_EQ(spent(p, {first}), (Spent{{R::rows, 13}, {R::hbm, 2}, {R::memory, 17}})) << "ACT, tRCDRD; data; tCL";
  EXPECT_EQ(spent(p, {first, {100, false, place(0, 0, 1, 0)}}), (Spent{{R::hbm, 2}, {R::memory, 17}})) << "open row";
  EXPECT_EQ(spent(p, {first, {100, false, place(1, 0, 0, 0)}}), (Spent{{R::banks, 26}, {R::hbm, 2}, {R::memory, 17}}))
      << "tRP, tRCDRD";
  EXPECT_EQ(spent(p, {first, {0, false, place(0, 0, 1, 0)}}),
            (Spent{{R::rows, 13}, {R::banks, 1}, {R::hbm, 4}, {R::memory, 17}}))
      << "tCCDL is a cycle longer than the burst";
  HbmDramParameters one = p;
  one.read_queue = 1;
  EXPECT_EQ(spent(one, {first, {0, false, place(0, 1, 0, 0)}}),
            (Spent{{R::rows, 13}, {R::hbm, 4}, {R::dram_queue, 12}, {R::memory, 17}}))
      << "with a place it would have opened its row beside the first";
  HbmDramParameters refreshed = p;
  refreshed.refresh = "all_bank";
  EXPECT_GT(spent(refreshed, {{3900, false, place(0, 0, 0, 0)}}).at(R::refresh), 300) << "tRFC 350";
}

TEST(DramTimes, of_a_drained_write_do_not_touch_who_came_in_its_place) {
  HbmDramParameters p = one_channel();
  DramController dram(checked(p).config(), p.mapping);
  DramTransfer t;
  t.write = true;
  t.rows = Rows{1, 32, 32};
  dram.submit(t, 0);
  while (dram.run(dram.next()).empty()) continue;
  t = {};  // the write is in the queue and is drained later: its ACT follows
  t.offset = place(0, 1, 0, 0);
  t.rows = Rows{1, 32, 32};
  t.ready = 500;
  dram.submit(t, 1);
  for (Cycle next = dram.next(); next != kNoCycle; next = dram.next()) dram.run(next);
  EXPECT_EQ(t.begin, 500);
}

TEST(DramTimes, of_another_row_wait_for_the_first_to_have_been_open) {
  const Played r = play(one_channel(), {{0, false, place(0, 0, 0, 0)}, {1, false, place(1, 0, 0, 0)}});
  EXPECT_EQ(r.accesses[1].done, 1 + 28 + 14 + 12 + 17 + 2) << "tRAS from the ACT at 1, then as above";
}

TEST(DramTimes, of_reads_in_one_row_are_bursts_apart) {
  std::vector<DramAccess> all;
  for (unsigned i = 0; i < 8; ++i) all.push_back({0, false, place(0, 0, i, 0)});
  EXPECT_EQ(play(one_channel(), all).accesses[7].done, 1 + 12 + 7 * 3 + 17 + 2) << "one bank group: tCCDL = 3";
  all.clear();
  for (unsigned i = 0; i < 8; ++i) all.push_back({0, false, place(0, 0, i / 4, i % 4)});
  const Played r = play(one_channel(), all);
  EXPECT_EQ(r.commands.cycles(DramOp::ACT), (std::vector<Cycle>{1, 5, 9, 13})) << "tRRDS";
  // After the RD at 1 + tRCDRD: tCCDS to another group, tCCDL in one; rows are open at 13, 17, 21, 25.
  EXPECT_EQ(r.commands.cycles(DramOp::RD), (std::vector<Cycle>{13, 16, 18, 21, 23, 25, 27, 29}));
  EXPECT_EQ(r.accesses[7].done, 29 + 17 + 2);
}

TEST(DramTimes, of_five_rows_wait_for_the_window_of_four) {
  HbmDramParameters p = one_channel();
  p.tFAW = 30;
  std::vector<DramAccess> all;
  for (unsigned i = 0; i < 5; ++i) all.push_back({0, false, place(0, i / 4, 0, i % 4)});
  const Played r = play(p, all);
  EXPECT_EQ(r.commands.cycles(DramOp::ACT), (std::vector<Cycle>{1, 5, 9, 13, 31}));
  EXPECT_EQ(r.accesses[4].done, 31 + 12 + 17 + 2);
}

TEST(DramTimes, of_a_read_that_meets_a_refresh) {
  HbmDramParameters p = one_channel();
  p.refresh = "all_bank";
  const Played r = play(p, {{3800, false, place(0, 0, 0, 0)}, {3901, false, place(0, 0, 1, 0)}});
  EXPECT_EQ(r.took(0), 32);
  EXPECT_EQ(r.commands.cycles(DramOp::PREA), std::vector<Cycle>{3900}) << "due at tREFI";
  EXPECT_EQ(r.commands.cycles(DramOp::REF), std::vector<Cycle>{3914});
  EXPECT_EQ(r.accesses[1].done, 3914 + 350 + 12 + 17 + 2) << "tRFC, then a row that the refresh has closed";
  p.refresh = "per_bank";
  const Played s = play(p, {{229, false, place(0, 0, 0, 0)}, {244, false, place(0, 0, 1, 0)}});
  EXPECT_EQ(s.commands.cycles(DramOp::PRE), std::vector<Cycle>{230 + 28}) << "tRAS; the first one is due at 3900 / 16";
  EXPECT_EQ(s.commands.cycles(DramOp::REFSB), std::vector<Cycle>{258 + 14});
  EXPECT_EQ(s.accesses[1].done, 272 + 160 + 12 + 17 + 2) << "tRFCSB";
}

TEST(DramTimes, of_refreshes_while_nobody_asks_come_when_they_are_due) {
  HbmDramParameters p = one_channel();
  p.refresh = "all_bank";
  const Played r = play(p, {{0, false, place(0, 0, 0, 0)}, {12000, false, place(0, 0, 0, 0)}});
  EXPECT_EQ(r.commands.cycles(DramOp::PREA), std::vector<Cycle>{3900});
  EXPECT_EQ(r.commands.cycles(DramOp::REF), (std::vector<Cycle>{3914, 7800, 11700}));
  EXPECT_EQ(r.accesses[1].done, 11700 + 350 + 12 + 17 + 2);
}

TEST(DramTimes, of_writes_end_in_the_queue_and_are_drained_by_watermarks) {
  HbmDramParameters p = one_channel();
  p.write_queue = 8;
  p.write_high = 4;
  p.write_low = 1;
  std::vector<DramAccess> all;
  for (unsigned i = 0; i < 8; ++i) all.push_back({0, false, place(0, 0, i, 0)});
  for (unsigned i = 0; i < 4; ++i) all.push_back({20, true, place(0, 0, 8 + i, 0)});
  const Played r = play(p, all);
  EXPECT_EQ(r.took(8), 0) << "it has a place";
  // Reads at 13, 16, 19. At 20 there are four writes: WR tRTW after the last RD, three of them tCCDL apart.
  EXPECT_EQ(r.commands.cycles(DramOp::WR), (std::vector<Cycle>{37, 40, 43, 91}));
  // One write is left. Reads continue tCWL + tBURST + tWTRL after the last WR; the write follows tRTW after the last
  // read.
  EXPECT_EQ(r.commands.cycles(DramOp::RD), (std::vector<Cycle>{13, 16, 19, 61, 64, 67, 70, 73}));
  EXPECT_EQ(43 + 7 + 2 + 9, 61);
  EXPECT_EQ(73 + 18, 91);
}

TEST(DramTimes, of_a_read_of_what_waits_to_be_written_are_a_cycle) {
  HbmDramParameters p = one_channel();
  std::vector<DramAccess> all;
  for (unsigned i = 0; i < 16; ++i) all.push_back({0, false, place(0, 0, i, 0)});
  all.push_back({10, true, place(1, 0, 0, 0)});
  all.push_back({11, false, place(1, 0, 0, 0)});
  const Played r = play(p, all);
  EXPECT_EQ(r.took(17), 1);
  EXPECT_EQ(r.counts.forwarded, 1u);
}

TEST(DramTimes, of_requests_for_the_open_row_come_before_older_ones) {
  HbmDramParameters p = one_channel();
  const std::vector<DramAccess> all = {
      {0, false, place(0, 0, 0, 0)}, {1, false, place(1, 0, 0, 0)}, {2, false, place(0, 0, 1, 0)}};
  const Played first_ready = play(p, all);
  EXPECT_LT(first_ready.accesses[2].done, first_ready.accesses[1].done);
  EXPECT_EQ(first_ready.counts.activates, 2u);
  p.scheduler = "fcfs";
  const Played in_order = play(p, all);
  EXPECT_GT(in_order.accesses[2].done, in_order.accesses[1].done);
  EXPECT_EQ(in_order.counts.activates, 3u);
}

TEST(DramTimes, of_closed_pages_are_the_same_for_one_row_and_for_another) {
  HbmDramParameters p = one_channel();
  p.page_policy = "closed";
  const Played r =
      play(p, {{0, false, place(0, 0, 0, 0)}, {100, false, place(0, 0, 1, 0)}, {200, false, place(1, 0, 0, 0)}});
  for (size_t i = 0; i < 3; ++i) EXPECT_EQ(r.took(i), 32) << i;
  EXPECT_EQ(r.commands.cycles(DramOp::RDA).size(), 3u);
  const Played row = play(p, {{0, false, place(0, 0, 0, 0)}, {0, false, place(0, 0, 1, 0)}});
  EXPECT_EQ(row.commands.cycles(DramOp::RD).size(), 1u) << "another one for the row is in the queue";
}

TEST(DramTimes, do_not_depend_on_how_much_waits_before_the_queues) {
  HbmDramParameters p = one_channel();
  std::vector<DramAccess> pieces;
  for (uint64_t at = 0; at < 1 << 20; at += 32) pieces.push_back({0, false, at});
  const Played whole = play(p, {{0, false, 0, 1 << 20}}), cut = play(p, pieces);
  EXPECT_EQ(whole.accesses[0].done, cut.accesses.back().done) << "32768 bursts, of which 4096 are cut ahead";
  EXPECT_EQ(whole.counts.reads, 32768u);
}

// On a platform.

/// A DMA before a memory with four channels; 64 bytes at a time.
std::string machine(const std::string& links, const std::string& attributes) {
  return R"(ns_per_mm: 0.01
timing: {links: )" +
         links + R"(, flit_bytes: 64, response: routed}
nodes:
- {id: a, kind: pe_dma, attrs: {rd_engines: 8, wr_engines: 8}}
- {id: r, kind: router}
- {id: hbm, kind: hbm_ctrl, impl: builtin.hbm_dram, attrs: {overhead_ns: 3, )" +
         attributes + R"(}}
links:
- {from: a, to: r, distance_mm: 100.0, bw_gbs: 64.0}
- {from: r, to: hbm, distance_mm: 100.0, bw_gbs: 64.0}
memories: [{node: hbm, space: hbm, base: 4096, size: 1073741824}]
)";
}

TrafficRequest request(const Platform& platform, double issue_ns, bool write, uint64_t offset, uint64_t nbytes) {
  TrafficRequest q;
  q.issue_ns = issue_ns;
  q.initiator = platform.graph().index_of.at("a");
  q.write = write;
  q.address = 4096 + offset;
  q.nbytes = nbytes;
  return q;
}

double lone_latency_ns(const std::string& links, bool write, uint64_t nbytes, bool formula) {
  return std::stod(in_child([&] {
    const auto platform = platform_from_text(machine(links, "refresh: none"));
    const auto r = run_traffic(*platform, {request(*platform, 0, write, 0, nbytes)});
    return std::to_string(formula ? r[0].formula_ns : r[0].done_ns);
  }));
}

TEST(HbmDram, takes_whole_requests_in_every_link_mode) {
  // Four wires of 1 ns, 3 ns overhead, 32 cycles for a closed bank (the two bursts of 64 bytes are in one row, tCCDL
  // apart).
  EXPECT_NEAR(lone_latency_ns("ideal", false, 64, false), 4 + 3 + 32 + 3, 1e-6);
  EXPECT_NEAR(lone_latency_ns("cut_through", false, 64, false), 4 + 3 + 32 + 3, 1e-6);
  EXPECT_NEAR(lone_latency_ns("flit", false, 64, false), 4 + 3 + 32 + 3 + 2, 1e-6)
      << "one flit of 64 bytes, which takes 1 ns onto each of two links once it is there";
  EXPECT_NEAR(lone_latency_ns("cut_through", true, 64, false), 4 + 3 + 1, 1e-6) << "as long as its data are on the way";
}

TEST(HbmDram, alone_takes_what_the_formula_says) {
  for (const char* links : {"ideal", "cut_through", "flit"}) {
    for (const bool write : {false, true}) {
      for (const uint64_t nbytes : {32, 64, 1000, 16384}) {
        const double took = lone_latency_ns(links, write, nbytes, false);
        const double formula = lone_latency_ns(links, write, nbytes, true);
        EXPECT_GE(took, formula - 1e-6) << links << ' ' << write << ' ' << nbytes;
        // A clock edge; with flits, the formula lets a read's flits leave evenly.
        const double more = links == std::string("flit") ? formula / 8 : 1;
        EXPECT_LE(took, formula + more) << links << ' ' << write << ' ' << nbytes;
      }
    }
  }
}

TEST(HbmDram, is_told_by_hand_what_does_not_go_together) {
  const auto fault = [](auto change) -> std::string {
    HbmDramParameters p;
    change(p);
    try {
      checked(p);
    } catch (const std::invalid_argument& e) {
      return e.what();
    }
    return "";
  };
  using P = HbmDramParameters;
  EXPECT_EQ(fault([](P&) {}), "");
  EXPECT_EQ(fault([](P& p) { p.write_high = 65; }), "write_high: found 65; legal: at most write_queue 64");
  EXPECT_EQ(fault([](P& p) { p.write_low = 48; }), "write_low: found 48; legal: less than write_high 48");
  EXPECT_EQ(fault([](P& p) { p.tRC = 20; }), "tRC: found 20; legal: from tRAS 28");
  EXPECT_EQ(fault([](P& p) { p.tCCDS = 1; }), "tCCDS: found 1; legal: from tBURST 2");
  EXPECT_EQ(fault([](P& p) { p.tRTW = 5; }), "tRTW: found 5; legal: from tCL + tBURST - tCWL 12");
  EXPECT_EQ(fault([](P& p) { p.tREFI = 300; }),
            "tREFI: found 300; legal: from tRFC and a row's ACT, column and PRE to the next ACT, 408");
  EXPECT_EQ(fault([](P& p) { p.page_bytes = 16; }), "page_bytes: found 16; legal: from burst_bytes 32");
  EXPECT_NE(fault([](P& p) { p.banks = 3; }).find("banks: found 3, expected"), std::string::npos);
  EXPECT_EQ(fault([](P& p) { p.mapping = "row bank"; }),
            "mapping: found 'row bank'; legal: 'row' first and 'byte' last");
}

TEST(DramAddressMapping, takes_fields_from_the_highest_bits_to_the_lowest) {
  const DramGeometry g = [] {
    HbmDramParameters p;
    p.stack_ids = 2;
    return p.config().geometry;
  }();
  const DramBitFields m("row stack_id bank column group channel pc column:2 byte", g);
  // byte 5, column 2, pc 1, channel 2, group 2, column 3, bank 2, stack_id 1, row
  const DramPlace p = m.place_of(0b101'1'10'011'01'11'1'10'00000);
  DramPlace expected;
  expected.row = 0b101;
  expected.stack_id = 1;
  expected.bank = 0b10;
  expected.column = 0b01110;
  expected.group = 0b01;
  expected.channel = 0b11;
  expected.pc = 1;
  EXPECT_EQ(p, expected);
  EXPECT_EQ(m.period(), uint64_t{1} << 18);
}

TEST(DramAddressMapping, of_spread_fields_is_one_to_one_and_sends_every_stride_everywhere) {
  HbmDramParameters p;
  const DramBitFields m(p.mapping, p.config().geometry);
  std::set<std::array<uint32_t, 7>> seen;
  const uint64_t bursts = 1 << 16;
  for (uint64_t b = 0; b < bursts; ++b) {
    const DramPlace q = m.place_of(b * 32);
    seen.insert({q.channel, q.pc, q.stack_id, q.group, q.bank, q.row, q.column});
  }
  EXPECT_EQ(seen.size(), bursts);
  for (uint64_t stride = 64; stride <= 1 << 20; stride *= 2) {
    std::set<std::pair<uint32_t, uint32_t>> channels;
    for (uint64_t i = 0; i < 4096; ++i) {
      const DramPlace q = m.place_of(i * stride);
      channels.insert({q.channel, q.pc});
    }
    EXPECT_EQ(channels.size(), 8u) << stride;
  }
}

TEST(DramAddressMapping, tells_what_is_wrong_with_its_fields) {
  const auto fault = [](const std::string& fields) -> std::string {
    try {
      DramBitFields(fields, HbmDramParameters().config().geometry);
    } catch (const std::invalid_argument& e) {
      return e.what();
    }
    return "";
  };
  EXPECT_EQ(fault("row rank byte"),
            "found 'rank'; legal: fields row, stack_id, group, bank, column, channel, pc, byte");
  EXPECT_EQ(fault("row bank:x byte"), "found 'bank:x'; legal: a number of bits behind ':'");
  EXPECT_EQ(fault("row:3 byte"), "found 'row:3'; legal: one plain 'row'");
  EXPECT_EQ(fault("row bank bank byte"), "found 'bank'; legal: one part of a field without ':BITS'");
  EXPECT_EQ(fault("row bank:3 byte"), "found 'bank:3'; legal: at most the 2 bits that are left of the field");
  EXPECT_EQ(fault("row bank column group channel byte"),
            "found 'row bank column group channel byte'; legal: 1 more bits of 'pc'");
}

}  // namespace
}  // namespace kernbench::testing::dram_controllers_have_hand_computed_times
