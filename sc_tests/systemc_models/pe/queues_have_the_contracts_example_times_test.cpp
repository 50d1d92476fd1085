// SPDX-License-Identifier: Apache-2.0
// Do inter-PE queues have the times of the example table at the end of the collectives contract, to 1e-9 ns?
// Collectives of the table are written here as their sends and receives.
#include <gtest/gtest.h>

#include "queue_programs.h"

namespace kernbench::testing {
namespace {

constexpr double kExact = 1e-9;

/// One message from PE 0 to PE 1.
Played one_message(const Star& s, int bytes) {
  Programs p;
  p.connect(0, "E", 1, "W");
  p.send(0, "E", bytes);
  p.recv(1, "W", bytes);
  return play(star(s), p);
}

TEST(QueueExamples, one_message) {
  const Played p = one_message({}, 1024);
  const SegmentTimes& s = p.sent(0, 0);
  EXPECT_NEAR(s.slot_ns, 2, kExact);
  EXPECT_NEAR(s.grant_ns, 2, kExact);
  EXPECT_NEAR(s.arrival_ns, 9, kExact);
  EXPECT_NEAR(s.visible_ns, 27, kExact);
  EXPECT_NEAR(s.credit_ns, 36.25, kExact);
  EXPECT_NEAR(p.call(0, 0).return_ns, 2, kExact);
  EXPECT_NEAR(p.call(0, 0).done_ns, 18, kExact);
  EXPECT_NEAR(p.call(1, 0).return_ns, 29, kExact);
}

TEST(QueueExamples, a_receive_that_waits_for_its_credit) {
  Star s;
  s.ipcq += ", credit_blocks: true";
  EXPECT_NEAR(one_message(s, 1024).call(1, 0).return_ns, 36.25, kExact);
}

TEST(QueueExamples, a_message_of_eight_segments_in_four_slots) {
  EXPECT_NEAR(one_message({}, 8192).call(1, 0).return_ns, 141, kExact);
}

TEST(QueueExamples, in_two_slots) {
  Star s;
  s.ipcq = "slots: 2, slot_bytes: 1024";
  EXPECT_NEAR(one_message(s, 8192).call(1, 0).return_ns, 147.75, kExact);
}

TEST(QueueExamples, in_one_slot) {
  Star s;
  s.ipcq = "slots: 1, slot_bytes: 1024";
  EXPECT_NEAR(one_message(s, 8192).call(1, 0).return_ns, 268.75, kExact);
}

TEST(QueueExamples, in_flits) {
  Star s;
  s.timing = "links: flit, response: routed, flit_bytes: 256";
  const Played p = one_message(s, 1024);
  EXPECT_NEAR(p.sent(0, 0).arrival_ns, 29, kExact);
  EXPECT_NEAR(p.sent(0, 0).visible_ns, 31, kExact);
  EXPECT_NEAR(p.call(1, 0).return_ns, 33, kExact);
  EXPECT_NEAR(p.sent(0, 0).credit_ns, 40.5, kExact);
}

TEST(QueueExamples, cut_through_with_headers) {
  Star s;
  s.timing = "links: cut_through, response: ideal, header_bytes: 16";
  Programs p;
  p.connect(0, "E", 1, "W");
  for (int i = 0; i < 2; ++i) p.send(0, "E", 1024);
  for (int i = 0; i < 2; ++i) p.recv(1, "W", 1024);
  const Played played = play(star(s), p);
  EXPECT_NEAR(played.sent(0, 1).grant_ns, 18, kExact);
  EXPECT_NEAR(played.sent(0, 1).arrival_ns, 18.25 + 7, kExact);
  EXPECT_NEAR(played.sent(0, 0).visible_ns, 27, kExact);
  EXPECT_NEAR(played.sent(0, 1).visible_ns, 43.25, kExact);
}

TEST(QueueExamples, barrier_of_two) {
  Programs p;
  p.connect(1, "up", 0, "left");
  p.recv(0, "left", 0);
  p.send(0, "left", 0);
  p.send(1, "up", 0);
  p.recv(1, "up", 0);
  const Played played = play(star({}), p);
  EXPECT_NEAR(played.call(0, 1).return_ns, 11, kExact);
  EXPECT_NEAR(played.call(1, 1).return_ns, 18, kExact);
}

TEST(QueueExamples, two_send_to_a_third) {
  Star s;
  s.pes = 3;
  Programs p;
  p.connect(0, "out", 2, "a");
  p.connect(1, "out", 2, "b");
  for (int pe = 0; pe < 2; ++pe) p.send(pe, "out", 1024);
  p.recv(2, "a", 1024);
  p.recv(2, "b", 1024);
  const Played played = play(star(s), p);
  EXPECT_NEAR(played.sent(0, 0).visible_ns, 27, kExact);
  EXPECT_NEAR(played.sent(1, 0).visible_ns, 43, kExact);
  EXPECT_NEAR(played.call(2, 1).return_ns, 45, kExact);
}

/// From PE 0 to PE 3, over the two between.
double chain_ns(const std::string& ipcq, int messages, int bytes) {
  Star s;
  s.pes = 4;
  s.ipcq = ipcq;
  Programs p;
  for (int pe = 0; pe < 3; ++pe) p.connect(pe, "next", pe + 1, "prev");
  for (int m = 0; m < messages; ++m) {
    for (int pe = 0; pe < 4; ++pe) {
      if (pe > 0) p.recv(pe, "prev", bytes);
      if (pe < 3) p.send(pe, "next", bytes);
    }
  }
  return play(star(s), p).end_ns;
}

TEST(QueueExamples, chain_in_one_segment) {
  EXPECT_NEAR(chain_ns("slots: 4, slot_bytes: 4096", 1, 4096), 267, kExact);
}
TEST(QueueExamples, chain_in_four_segments) {
  EXPECT_NEAR(chain_ns("slots: 4, slot_bytes: 1024", 1, 4096), 231, kExact);
}
TEST(QueueExamples, chain_in_four_messages) {
  EXPECT_NEAR(chain_ns("slots: 4, slot_bytes: 1024", 4, 1024), 135, kExact);
}

/// The messages of a ring all_reduce over four PEs; each of the first three receives is followed by a reduction.
double ring_ns(int block, bool reduces) {
  Star s;
  s.pes = 4;
  Programs p;
  for (int pe = 0; pe < 4; ++pe) p.connect(pe, "next", (pe + 1) % 4, "prev");
  for (int pe = 0; pe < 4; ++pe) {
    for (int step = 0; step < 6; ++step) {
      p.send(pe, "next", block, true);
      p.recv(pe, "prev", block);
      if (reduces && step < 3) p.math(pe);
    }
  }
  return play(star(s), p).end_ns;
}

TEST(QueueExamples, ring_of_4_kib) {
  EXPECT_NEAR(ring_ns(1024, false), 174, kExact);
}
TEST(QueueExamples, ring_of_4_kib_with_math) {
  EXPECT_NEAR(ring_ns(1024, true), 195, kExact);
}
TEST(QueueExamples, ring_of_1_kib) {
  EXPECT_NEAR(ring_ns(256, false), 84, kExact);
}

/// Sends and receives along one axis of a 4 × 4 grid: from its ends to the root, or back (collectives rules §12.5).
class Grid {
 public:
  explicit Grid(int bytes) : bytes_(bytes) {
    for (int y = 0; y < 4; ++y) {
      for (int x = 0; x < 4; ++x) {
        if (x < 3) programs_.connect(at(x, y), "E", at(x + 1, y), "W");
        if (y < 3) programs_.connect(at(x, y), "S", at(x, y + 1), "N");
      }
    }
  }
  double all_reduce_ns(int rx, int ry) {
    for (int y = 0; y < 4; ++y) {
      for (int x = 0; x < 4; ++x) {
        const int pe = at(x, y);
        reduce(pe, x, rx, "W", "E");
        if (x == rx) {
          reduce(pe, y, ry, "N", "S");
          broadcast(pe, y, ry, "N", "S");
        }
        broadcast(pe, x, rx, "W", "E");
      }
    }
    Star s;
    s.pes = 16;
    return play(star(s), programs_).end_ns;
  }

 private:
  static int at(int x, int y) { return y * 4 + x; }
  void take(int pe, const char* port) {
    programs_.recv(pe, port, bytes_);
    programs_.math(pe);
  }
  void reduce(int pe, int i, int root, const char* low, const char* high) {
    if (i < root) {
      if (i > 0) take(pe, low);
      programs_.send(pe, high, bytes_, true);
    } else if (i > root) {
      if (i < 3) take(pe, high);
      programs_.send(pe, low, bytes_, true);
    } else {
      if (root > 0) take(pe, low);
      if (root < 3) take(pe, high);
    }
  }
  void broadcast(int pe, int i, int root, const char* low, const char* high) {
    if (i < root) programs_.recv(pe, high, bytes_);
    if (i > root) programs_.recv(pe, low, bytes_);
    if (i <= root && i > 0) programs_.send(pe, low, bytes_, true);
    if (i >= root && i < 3) programs_.send(pe, high, bytes_, true);
  }

  const int bytes_;
  Programs programs_;
};

TEST(QueueExamples, grid_from_its_centre) {
  EXPECT_NEAR(Grid(1024).all_reduce_ns(2, 2), 282, kExact);
}
TEST(QueueExamples, grid_from_its_corner) {
  EXPECT_NEAR(Grid(1024).all_reduce_ns(0, 0), 390, kExact);
}
TEST(QueueExamples, small_grid_from_its_centre) {
  EXPECT_NEAR(Grid(64).all_reduce_ns(2, 2), 128.25, kExact);
}
TEST(QueueExamples, small_grid_from_its_corner) {
  EXPECT_NEAR(Grid(64).all_reduce_ns(0, 0), 165, kExact);
}

/// Slot write and read of 1,024 bytes at a receiver behind its own router.
void expect_slot_ns(const std::string& tier, double expected) {
  Star s;
  s.ipcq += ", tier: " + tier;
  std::string yaml = star(s);
  const std::string link = "- {from: sip1.cube0.pe0.pe_dma, to: sw, distance_mm: 100.0, bw_gbs: 64.0}\n";
  yaml.replace(yaml.find(link), link.size(),
               "- {from: r, to: sw, distance_mm: 99.0, bw_gbs: 64.0}\n"
               "- {from: sip1.cube0.pe0.pe_dma, to: r, distance_mm: 1.0}\n"
               "- {from: r, to: ram, distance_mm: 1.0, bw_gbs: 128.0}\n"
               "- {from: r, to: hbm, distance_mm: 1.0, bw_gbs: 256.0}\n"
               "memories:\n- {node: ram, space: sram, base: 0, size: 65536}\n"
               "- {node: hbm, space: hbm, base: 65536, size: 65536}\n");
  yaml.insert(yaml.find("links:\n"), "- {id: r, kind: router}\n- {id: ram, kind: sram}\n- {id: hbm, kind: hbm_ctrl}\n");
  Programs programs;
  programs.connect(0, "E", 1, "W");
  programs.send(0, "E", 1024);
  programs.recv(1, "W", 1024);
  const Played p = play(yaml, programs);
  EXPECT_NEAR(p.sent(0, 0).visible_ns - p.sent(0, 0).arrival_ns - 16, expected, kExact);
  EXPECT_NEAR(p.call(1, 0).queue.reads[0].end_ns - p.call(1, 0).queue.reads[0].start_ns, expected, kExact);
}

TEST(QueueExamples, slots_in_sram) {
  expect_slot_ns("sram", 12.02);
}
TEST(QueueExamples, slots_in_hbm) {
  expect_slot_ns("hbm", 14.02);
}

}  // namespace
}  // namespace kernbench::testing
