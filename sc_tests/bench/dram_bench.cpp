// SPDX-License-Identifier: Apache-2.0
// DRAM controllers without a platform, in cycles.
//
//   dram_bench check COMMANDS            mixed traffic on every preset, refresh and page policy until COMMANDS
//                                        were seen; prints how many of them break a JEDEC rule
//   dram_bench trace PATTERN COUNT READS WRITES LOAD
//                                        prints lines `CYCLE R|W OFFSET` of 32 bytes: PATTERN sequential, random,
//                                        strided (4 KiB) or hot_row (nine of ten in one row); READS consecutive reads,
//                                        then WRITES writes; LOAD % of a pseudo-channel's 32 bytes in 2 cycles
//                                        (0: all at once)
//   dram_bench play TRACE OUTSTANDING ATTRIBUTE=VALUE...
//                                        plays these lines on one pseudo-channel with OUTSTANDING requests in flight
//                                        (0: unlimited). Prints GB/s, the mean latency of reads, and the CPU time of
//                                        the play
#include <cstdio>
#include <cstring>
#include <ctime>
#include <fstream>
#include <string>

#include "../systemc_models/memory/dram_support.h"

namespace {
using namespace kernbench;
using namespace kernbench::testing;

int check(uint64_t commands) {
  uint64_t seen = 0, broken = 0, seed = 0;
  for (; seen < commands; ++seed) {
    HbmDramParameters p;
    p.preset = dram_presets()[seed % 3];
    p.stack_ids = 1u << seed / 3 % 2;
    p.page_policy = seed / 6 % 2 ? "closed" : "open";
    p.refresh = seed / 12 % 2 ? "per_bank" : "all_bank";
    p.scheduler = seed / 24 % 8 == 7 ? "fcfs" : "fr_fcfs";
    checked(p);
    DramController dram(p.config(), p.mapping);
    CheckedCommands checker(p.config(), timings_of(p.config()));
    dram.observe(&checker);
    auto accesses = mixed_accesses(100000, seed, uint64_t{1} << 30, 20000);
    play(dram, accesses, seed % 5 == 0 ? 0 : 1 << seed % 9);
    seen += checker.commands();
    for (const auto& [rule, n] : checker.violations()) {
      broken += n;
      std::printf("seed %llu: %s broken %llu times\n", static_cast<unsigned long long>(seed), rule.c_str(),
                  static_cast<unsigned long long>(n));
    }
  }
  std::printf("%llu commands of %llu runs, %llu break a rule\n", static_cast<unsigned long long>(seen),
              static_cast<unsigned long long>(seed), static_cast<unsigned long long>(broken));
  return broken > 0;
}

int print_trace(const std::string& pattern, uint64_t count, uint64_t reads, uint64_t writes, double load) {
  constexpr uint64_t kSpan = uint64_t{1} << 29;
  std::mt19937_64 random(1);
  for (uint64_t i = 0; i < count; ++i) {
    uint64_t offset = i * 32 % kSpan;
    if (pattern == "strided") offset = i * 4096 % kSpan;
    if (pattern == "random") offset = random() % kSpan / 32 * 32;
    if (pattern == "hot_row") {
      const bool hot = random() % 10 < 9;
      const uint64_t any = random() % kSpan;
      offset = hot ? any % 32 * 128 : any / 32 * 32;  // a column of one bank's row 0
    }
    const auto cycle = static_cast<unsigned long long>(load > 0 ? static_cast<double>(i) * 200 / load : 0);
    std::printf("%llu %c %llu\n", cycle, i % (reads + writes) < reads ? 'R' : 'W',
                static_cast<unsigned long long>(offset));
  }
  return 0;
}

int run_trace(const char* file, size_t outstanding, int settings, char** setting) {
  Attributes given;
  given.set("channels", int64_t{1});
  given.set("pseudo_channels", int64_t{1});
  given.set("mapping", std::string("row bank column group byte"));
  for (int i = 0; i < settings; ++i) {
    const std::string text = setting[i];
    const size_t equals = text.find('=');
    const std::string name = text.substr(0, equals), value = text.substr(equals + 1);
    const bool number = value.find_first_not_of("0123456789") == std::string::npos;
    given.set(name, number ? AttrValue(int64_t{std::stoll(value)}) : AttrValue(value));
  }
  const HbmDramParameters p = checked(parameters_of<HbmDramParameters>().from(given));
  std::vector<DramAccess> accesses;
  std::ifstream in(file);
  long long cycle = 0;
  char op = 0;
  for (std::string offset; in >> cycle >> op >> offset;)
    accesses.push_back({cycle, op == 'W', std::stoull(offset, nullptr, 0), 32});
  DramController dram(p.config(), p.mapping);
  const std::clock_t begin = std::clock();
  play(dram, accesses, outstanding);
  const double cpu = static_cast<double>(std::clock() - begin) / CLOCKS_PER_SEC;
  Cycle last = 0;
  double latency = 0, reads = 0;
  for (const DramAccess& a : accesses) {
    last = std::max(last, a.done);
    if (a.write) continue;
    latency += static_cast<double>(a.done - a.at);
    ++reads;
  }
  const double ns = p.config().timing.tCK_ps / 1000.0;
  const DramCounts c = dram.counts();
  std::printf(
      "%.3f GB/s, mean read latency %.2f ns, %.3f s CPU; %llu activates, hits %llu misses %llu conflicts %llu\n",
      32.0 * static_cast<double>(accesses.size()) / (static_cast<double>(last - accesses.front().at) * ns),
      reads > 0 ? latency / reads * ns : 0, cpu, static_cast<unsigned long long>(c.activates),
      static_cast<unsigned long long>(c.row_hits), static_cast<unsigned long long>(c.row_misses),
      static_cast<unsigned long long>(c.row_conflicts));
  return 0;
}

}  // namespace

int sc_main(int argc, char** argv) {
  if (argc == 3 && std::strcmp(argv[1], "check") == 0) return check(std::stoull(argv[2]));
  if (argc == 7 && std::strcmp(argv[1], "trace") == 0)
    return print_trace(argv[2], std::stoull(argv[3]), std::stoull(argv[4]), std::stoull(argv[5]), std::stod(argv[6]));
  if (argc >= 4 && std::strcmp(argv[1], "play") == 0)
    return run_trace(argv[2], std::stoull(argv[3]), argc - 4, argv + 4);
  std::fprintf(stderr,
               "dram_bench check COMMANDS | trace PATTERN COUNT READS WRITES LOAD | play TRACE OUTSTANDING "
               "ATTRIBUTE=VALUE...\n");
  return 2;
}
