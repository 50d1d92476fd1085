// SPDX-License-Identifier: Apache-2.0
// The traffic of each pseudo-channel for an access, against a model that cuts it chunk by chunk as in timing rules §4.
#include <gtest/gtest.h>

#include <numeric>
#include <random>
#include <string>

#include "kernbench/systemc_models/fabric/route.h"
#include "kernbench/systemc_models/memory/hbm_pc.h"
#include "kernbench/systemc_models/memory/system.h"

namespace kernbench::testing::channels_move_what_chunks_say {
namespace {

struct Channels {
  uint32_t count;
  uint64_t interleave, burst;
  bool hash;
};

/// Block by block, digit by digit.
size_t channel_of(const Channels& c, uint64_t offset) {
  uint64_t block = offset / c.interleave;
  if (!c.hash) return block % c.count;
  uint64_t channel = 0;
  for (; c.count > 1 && block > 0; block /= c.count) channel ^= block % c.count;
  return channel;
}

/// chunk(channel, bytes of its complete bursts), in address order.
template <class Chunk>
void for_each_chunk(const Channels& c, uint64_t offset, Rows rows, Chunk chunk) {
  if (rows.stride == rows.bytes) rows = {1, rows.count * rows.bytes, 0};
  for (uint64_t row = 0; row < rows.count; ++row) {
    uint64_t at = offset + row * rows.stride;
    for (const uint64_t end = at + rows.bytes; at < end;) {
      const uint64_t chunk_end = std::min(end, (at / c.interleave + 1) * c.interleave);
      uint64_t bursts = 0;
      for (uint64_t burst = at / c.burst; burst * c.burst < chunk_end; ++burst) ++bursts;
      chunk(channel_of(c, at), bursts * c.burst);
      at = chunk_end;
    }
  }
}

std::vector<uint64_t> by_chunks(const Channels& c, uint64_t offset, const Rows& rows) {
  std::vector<uint64_t> moved(c.count, 0);
  for_each_chunk(c, offset, rows, [&](size_t channel, uint64_t bytes) { moved[channel] += bytes; });
  return moved;
}

void expect_alike(const Channels& c, uint64_t offset, const Rows& rows) {
  const ChannelInterleave interleave(c.count, c.interleave, c.burst, c.hash);
  std::vector<uint64_t> moved(c.count, 0), alike(c.count, 0);
  interleave.visit(
      offset, rows, [&](size_t channel, uint64_t bytes) { moved[channel] += bytes; },
      [&](uint64_t turns) {
        for (uint64_t& m : moved) m += turns * c.interleave;
      });
  interleave.visit_alike(
      offset, rows, [&](size_t channel, uint64_t bytes, uint64_t n) { alike[channel] += bytes * n; },
      [&](uint64_t bytes, uint64_t n) {
        for (uint64_t& m : alike) m += bytes * n;
      });
  ASSERT_EQ(alike, moved) << "rows that are alike at once";
  ASSERT_EQ(moved, by_chunks(c, offset, rows))
      << c.count << " channels, interleave " << c.interleave << ", burst " << c.burst << ", hash " << c.hash
      << ", offset " << offset << ", rows " << rows.count << " x " << rows.bytes << " stride " << rows.stride;
  ASSERT_EQ(interleave.channel_of(offset), channel_of(c, offset));
}

TEST(Channels, move_what_chunks_say) {
  std::mt19937_64 random(30);
  const auto from = [&](uint64_t low, uint64_t high) { return low + random() % (high - low + 1); };
  const auto any_of = [&](std::vector<uint64_t> v) { return v[random() % v.size()]; };
  for (int i = 0; i < 10000; ++i) {
    Channels c;
    c.hash = random() % 2 == 0;
    c.count = static_cast<uint32_t>(c.hash ? any_of({1, 2, 4, 8, 16, 64, 1024}) : any_of({1, 2, 3, 5, 8, 12, 32, 100}));
    c.burst = any_of({1, 3, 32, 48, 64, 256});
    c.interleave = c.burst * any_of({1, 2, 3, 4, 7, 8, 16});
    const uint64_t turn = c.count * c.interleave;
    Rows rows;
    rows.count = from(1, 60);
    rows.bytes = any_of({from(1, c.burst), from(1, c.interleave), from(1, 3 * turn), c.interleave, turn});
    rows.stride =
        any_of({rows.bytes, from(0, 4 * turn), rows.bytes + from(1, c.burst), c.interleave * from(1, 40),
                turn * from(1, 9), turn * c.count, turn * from(1, 9) / any_of({2, 3, 4, 5, 8}), turn << from(0, 8)});
    if (rows.count == 1) rows.stride = 0;
    if (rows.bytes > 1000000) rows.count = std::min<uint64_t>(rows.count, 3);
    expect_alike(c, random() >> from(16, 60), rows);
    if (HasFatalFailure()) return;
  }
}

TEST(Channels, move_nothing_of_nothing_and_a_memory_full_of_rows) {
  const Channels c{8, 256, 64, true};
  expect_alike(c, 130, {1, 0, 0});
  expect_alike(c, 130, {100000, 8, 4104});
  expect_alike(c, 130, {100000, 8, 8192});
  expect_alike(c, uint64_t{3} << 60 | 1 << 12, {3000, 300, uint64_t{1} << 47});
  expect_alike(c, 0, {100000, 64, 64});
  expect_alike({8, 256, 64, false}, 77, {100000, 300, 2048});
}

class OpenHbmPc : public HbmPc {
 public:
  OpenHbmPc(sc_core::sc_module_name name, const ComponentConfig& config, const Parameters& p) : HbmPc(name, config, p) {
    serve_flit_by_flit();  // the service is unchanged
  }
  using HbmPc::serve;
};

HbmPcState idle(size_t channels) {
  const std::vector<double> none(channels);
  return {std::vector<TurningServer>(channels), none, none, none};
}

/// Sequential transactions; each latency breakdown and each end is bit-identical. `tick_ns`: unit of all times.
void expect_same_times(const char* name, System& system, const Channels& c, double bw_gbs, double tick_ns) {
  HbmPcParameters p;
  p.overhead_ns = 3 * tick_ns;
  p.pseudo_channels = c.count;
  p.interleave_bytes = c.interleave;
  p.burst_bytes = c.burst;
  p.pc_bw_gbs = bw_gbs;
  p.hash = c.hash ? "xor" : "none";
  OpenHbmPc memory(name, system, p);
  memory.set_base(1 << 20);
  Route route;
  route.read_inner_bw = route.write_inner_bw = 128;
  FabricTransaction x(nullptr);
  x.route = &route;
  std::mt19937_64 random(c.interleave + c.burst);
  std::vector<double> free(c.count, 0.0);
  HbmPcState state = idle(c.count);
  double now = 0;
  for (int i = 0; i < 300; ++i) {
    now += static_cast<double>(random() % 5000) * tick_ns;
    x.time_ns = now;
    x.rows = {1 + random() % 40, 1 + random() % 5000, 0};
    const uint64_t turns = c.interleave * c.count << random() % 6;
    if (x.rows.count > 1) x.rows.stride = x.rows.bytes + random() % 2 * (random() % 9000);
    if (x.rows.count > 1 && turns > x.rows.bytes && random() % 2 == 0) x.rows.stride = turns;
    x.nbytes = x.rows.count * x.rows.bytes;
    x.address = memory.base() + random() % (1 << 25);

    const double queued = now + p.overhead_ns, path = static_cast<double>(x.nbytes) / 128;
    double finish = queued + path, latest = path, finish_at_zero_load = p.overhead_ns + path;
    std::vector<double> alone(c.count, 0.0), until(c.count, p.overhead_ns);
    for_each_chunk(c, x.address - memory.base(), x.rows, [&](size_t channel, uint64_t bytes) {
      const double ns = static_cast<double>(bytes) / bw_gbs;
      free[channel] = std::max(free[channel], queued) + ns;
      finish = std::max(finish, free[channel]);
      latest = std::max(latest, alone[channel] += ns);
      finish_at_zero_load = std::max(finish_at_zero_load, until[channel] += ns);
    });
    ASSERT_EQ(memory.at_zero_load({route, x.write, x.address, x.nbytes, x.rows}).finish_ns, finish_at_zero_load)
        << name << i;
    const Service s = memory.serve(state, Request(x));
    ASSERT_EQ(s.finish_ns, finish) << name << i;
    ASSERT_EQ(s.header_leaves_ns, queued);
    const double drain = (p.overhead_ns + latest) - p.overhead_ns;
    ASSERT_EQ(s.drain_ns, drain);
    ASSERT_EQ(s.queue_ns, finish - queued - drain);
  }
}

TEST(Channels, are_free_when_chunks_say) {
  System system;
  expect_same_times("turns", system, {8, 256, 64, false}, 32, 1.0 / 128);
  expect_same_times("hashed", system, {8, 256, 64, true}, 32, 1.0 / 128);
  expect_same_times("one", system, {1, 4096, 1, true}, 64, 1.0 / 128);
  expect_same_times("slow", system, {4, 64, 32, true}, 0.5, 1.0 / 128);
  // If nothing is exact, the same additions are made in the same order.
  expect_same_times("hbm2e", system, {16, 256, 64, true}, 25.6, 0.01);
  expect_same_times("odd", system, {3, 512, 1, false}, 21.3, 0.017);
  expect_same_times("odd_blocks", system, {5, 144, 48, false}, 21.7, 0.1);
}

}  // namespace
}  // namespace kernbench::testing::channels_move_what_chunks_say
