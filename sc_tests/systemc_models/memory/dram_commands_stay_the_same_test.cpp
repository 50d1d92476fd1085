// SPDX-License-Identifier: Apache-2.0
// The commands of a DRAM controller, their cycles and the ends of accesses are those recorded here, whatever the
// controller keeps between two commands. The cases cover presets, refreshes, row policies, schedulers, stack IDs,
// limits against starvation, short queues and turn-rounds of the data bus.
#include <gtest/gtest.h>

#include <fmt/format.h>

#include "dram_support.h"

namespace kernbench::testing {
namespace {

/// Digest of all commands of a controller, in order.
class Digest : public DramCommandObserver {
 public:
  void add(uint64_t value) { digest_ = (digest_ ^ value) * 0x9E3779B97F4A7C15u, digest_ ^= digest_ >> 29; }
  void command(const DramCommand& c) override {
    const DramPlace& p = c.place;
    for (const uint64_t value :
         {uint64_t(c.op), uint64_t(c.cycle), uint64_t{p.channel}, uint64_t{p.pc}, uint64_t{p.stack_id},
          uint64_t{p.group}, uint64_t{p.bank}, uint64_t{p.row}, uint64_t{p.column}})
      add(value);
    ++commands_;
  }
  uint64_t value() const { return digest_; }
  uint64_t commands() const { return commands_; }

 private:
  uint64_t digest_ = 1, commands_ = 0;
};

struct Recorded {
  const char *preset, *refresh;
  uint64_t digest;
};

constexpr Recorded kRecorded[] = {
    {"hbm2", "all_bank", 0x0BDD6AFA401E2A1A},  {"hbm2", "per_bank", 0x90CAFB7B6088ACE9},
    {"hbm2", "none", 0xF10FA147FFBFD7BD},      {"hbm2e", "all_bank", 0x8E21469C2044FF3C},
    {"hbm2e", "per_bank", 0x1AB0B94596B8D6D6}, {"hbm2e", "none", 0xEA0EB9708BC35F00},
    {"hbm3", "all_bank", 0x4783BE358664A1D6},  {"hbm3", "per_bank", 0xF10CEAFAD7E9A044},
    {"hbm3", "none", 0xCC0301443B1DC699},
};

TEST(DramCommands, stay_the_same) {
  uint64_t commands = 0, seed = 0;
  for (const Recorded& r : kRecorded) {
    Digest digest;
    for (const char* page : {"open", "closed"}) {
      for (const uint32_t channels : {1u, 4u}) {
        HbmDramParameters p;
        p.preset = r.preset;
        p.refresh = r.refresh;
        p.page_policy = page;
        p.channels = channels;
        p.stack_ids = 1u << ++seed % 3;
        p.scheduler = seed % 5 == 0 ? "fcfs" : "fr_fcfs";
        if (seed % 4 == 1) p.row_hits = 3, p.max_age = 90;
        if (seed % 7 < 2) p.read_queue = 6, p.write_queue = 9, p.write_high = 7, p.write_low = 2;
        DramController dram(checked(p).config(), p.mapping);
        dram.observe(&digest);
        auto accesses = mixed_accesses(3500, seed, uint64_t{1} << (seed % 3 == 2 ? 18 : 28), 20000);
        play(dram, accesses, seed % 3 == 0 ? 0 : 12 << seed % 3);
        for (const DramAccess& a : accesses) digest.add(static_cast<uint64_t>(a.done));
      }
    }
    EXPECT_EQ(digest.value(), r.digest) << r.preset << ' ' << r.refresh << fmt::format(" 0x{:016X}", digest.value());
    commands += digest.commands();
  }
  EXPECT_GT(commands, 400000u) << commands;
}

}  // namespace
}  // namespace kernbench::testing
