// SPDX-License-Identifier: Apache-2.0
// Does a blocked run end with a report of all waits, and are the TCM's regions and buffers kept?
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <regex>

#include "kernbench/phase2/op/errors.h"
#include "kernbench/platform/run/run.h"
#include "kernbench/systemc_models/core/registry.h"
#include "kernbench/systemc_models/pe/pe_gemm.h"
#include "kernbench/systemc_models/pe/pe_scheduler.h"
#include "system_support.h"

namespace kernbench::testing::nothing_hangs_or_is_lost {
namespace {

/// A matrix unit that never completes a tile.
class LosesTiles : public Engine {
 public:
  /// Accepts the parameters of the block that it replaces.
  using Parameters = PeGemmParameters;
  LosesTiles(sc_core::sc_module_name name, const ComponentConfig& config, const Parameters& parameters)
      : Engine(name, config, parameters) {
    add_unit(Stage::gemm, 1, true);
  }
  static ImplSpec spec() { return spec_of<Parameters>("custom.loses_tiles", "pe_gemm", "never ends a service"); }

 private:
  void begin(uint8_t, uint16_t) override {}
};

}  // namespace

KERNBENCH_REGISTER_COMPONENT(LosesTiles)

namespace {

/// small.yaml with every match of `what` replaced.
std::unique_ptr<Platform> small_with(const std::string& what, const std::string& by) {
  const std::string before = read_file(topology_path("small.yaml"));
  const std::string after = std::regex_replace(before, std::regex(what), by);
  EXPECT_NE(before, after) << "small.yaml has no " << what;
  return platform_from_text(after);
}

RunOptions options_for(const std::string& kernel, const Platform& platform, size_t pes) {
  RunOptions o;
  o.kernel = kernel;
  o.pes.clear();
  for (size_t p = 0; p < pes; ++p) o.pes += (p ? "," : "") + platform.graph().pes[p].id;
  return o;
}

TEST(StuckRun, ends_with_a_report_of_who_waits_for_whom) {
  const auto platform = small_with(R"(pe_gemm:(\s*)attrs:)", "pe_gemm:$1impl: custom.loses_tiles$1attrs:");
  RunOptions o = options_for("gemm", *platform, 1);
  o.params = {{"m", "64"}, {"n", "64"}, {"k", "256"}};
  try {
    run_kernel(*platform, std::move(o));
    FAIL() << "a run whose tiles are lost came to an end";
  } catch (const RunError& e) {
    const std::string report = e.what();
    EXPECT_NE(report.find("nothing can move"), std::string::npos) << report;
    EXPECT_NE(report.find(platform->graph().pes[0].id), std::string::npos) << report;
    EXPECT_NE(report.find("kernel waits for composite_gemm"), std::string::npos) << report;
    EXPECT_NE(report.find("GEMM is in service"), std::string::npos) << report;
    EXPECT_NE(report.find("FETCH holds an item: the next queue is full"), std::string::npos) << report;
    EXPECT_NE(report.find("feed loop waits for"), std::string::npos) << report;
  }
}

TEST(Completion, reported_twice_is_a_caught_bug) {
  const auto platform = platform_from_file(topology_path("small.yaml"));
  PeCommand command;
  PeItem tile;
  tile.command = &command;
  tile.token = true;  // not in flight: it was reported before
  auto& scheduler = dynamic_cast<PeScheduler&>(*platform->pes().pe(0).scheduler);
  PePort from_engine(scheduler);
  tlm::tlm_phase phase = tlm::BEGIN_RESP;
  sc_core::sc_time delay = sc_core::SC_ZERO_TIME;
  EXPECT_THROW(from_engine.nb_transport_bw(tile, phase, delay), std::logic_error);
}

/// Allocates more than the allocatable TCM.
void asks_for_too_much(tl::Context& tl, const tl::Args&) {
  const auto a = tl.zeros({1024, 1024, 2}, DType::f32);
  const auto b = tl.zeros({1024, 1024, 2}, DType::f32);
  tl.wait(a);
  tl.wait(b);
}

KernelSpec greedy() {
  KernelSpec s;
  s.name = "asks_for_too_much";
  s.help = "exhausts the TCM";
  s.function = asks_for_too_much;
  return s;
}

const RegisterKernel registered{greedy()};

TEST(Tcm, exhausted_says_what_was_asked_what_is_free_and_on_which_pe) {
  const auto platform = platform_from_file(topology_path("default.yaml"));
  try {
    run_kernel(*platform, options_for("asks_for_too_much", *platform, 1));
    FAIL() << "16 MB fit 15 MB";
  } catch (const RunError& e) {
    const std::string message = e.what();
    for (const char* word : {"TCM exhausted", "8388608 bytes asked", "bytes free", "sip0.cube0.pe0"})
      EXPECT_NE(message.find(word), std::string::npos) << message;
    EXPECT_EQ(message.find('\n'), std::string::npos) << message;
  }
}

/// Time and place of a tile's buffer.
struct Buffer {
  uint64_t offset = 0;
  double from = 0, to = 0;
};
using Buffers = std::map<std::pair<uint64_t, uint32_t>, Buffer>;  // by composite and tile

class BufferLog : public OpLogSink {
 public:
  explicit BufferLog(Buffers& buffers) : buffers_(buffers) {}
  void record(OpRecord&& r) override {
    if (!r.is_token) return;
    Buffer& b = buffers_[{r.token.composite_op_id, r.token.tile_id}];
    b.offset = r.token.buffer_offset;
    b.from = r.token.fed_ns;
    b.to = std::max(b.to, r.t_end);
  }

 private:
  Buffers& buffers_;
};

TEST(Tcm, tile_buffers_of_a_composite_never_overlap_while_alive) {
  const auto platform = small_with(R"(reserved_mb: [0-9.]+)", "reserved_mb: 0.1");
  RunOptions o = options_for("gemm", *platform, 1);
  o.params = {{"m", "100"}, {"n", "75"}, {"k", "256"}};
  Buffers buffers;  // a copy, because the log is destroyed after the run
  o.log = std::make_unique<BufferLog>(buffers);
  run_kernel(*platform, std::move(o));
  // Tiles of 32 x 32 x 64 in f32: (32·64 + 64·32 + 32·32)·4 bytes; ⌊0.1 MB / that⌋ = 5 buffers.
  constexpr uint64_t kTile = 20480;
  constexpr auto kReserved = static_cast<uint64_t>(0.1 * 1048576);
  ASSERT_EQ(buffers.size(), 4u * 3u * 4u);
  std::map<uint64_t, std::vector<Buffer>> by_offset;
  for (const auto& [tile, b] : buffers) {
    EXPECT_EQ(b.offset % kTile, 0u);
    EXPECT_LE(b.offset + kTile, kReserved);
    by_offset[b.offset].push_back(b);
  }
  EXPECT_GT(by_offset.size(), 1u);
  for (auto& [offset, uses] : by_offset) {
    std::sort(uses.begin(), uses.end(), [](const auto& a, const auto& b) { return a.from < b.from; });
    for (size_t i = 1; i < uses.size(); ++i) EXPECT_LE(uses[i - 1].to, uses[i].from + 1e-9) << "buffer at " << offset;
  }
}

}  // namespace
}  // namespace kernbench::testing::nothing_hangs_or_is_lost
