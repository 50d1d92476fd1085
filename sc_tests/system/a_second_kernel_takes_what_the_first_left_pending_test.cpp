// SPDX-License-Identifier: Apache-2.0
// Two consecutive kernels: the first stores a pending value; the second loads it and computes with it. Phase 2 gives
// the correct values. Reading them earlier is a fault, except with tl.materialize or `materialize: outputs`.
#include <gtest/gtest.h>

#include <sstream>

#include "kernbench/kernel_api/tl.h"
#include "kernbench/phase2/graph/executor.h"
#include "kernbench/phase2/log/memory_op_log.h"
#include "kernbench/systemc_models/pe/kernel_runner.h"
#include "system_support.h"

namespace kernbench::testing {
namespace {

constexpr MemoryImage::SpaceKey kHbm{Space::hbm, kNoPe};
constexpr int64_t kElements = 8;
const tl::Ptr kX(Space::hbm, 0, DType::f32), kY(Space::hbm, 4096, DType::f32), kZ(Space::hbm, 8192, DType::f32);

using Body = std::function<void(tl::Context&)>;

/// Runs `first` on the first PE, and `second` on another one as soon as the first has ended. Returns the second one's
/// fault.
class TwoKernels {
 public:
  explicit TwoKernels(const std::string& options = "")
      : platform(platform_from_text(read_file(topology_path("small.yaml")) + options)) {
    std::vector<float> x;
    for (int i = 0; i < kElements; ++i) x.push_back(static_cast<float>(i));
    platform->system().image().write(kHbm, 0, x.data(), 4 * kElements);
    start = platform->system().image().snapshot();
    platform->attach_log(&log);
  }
  std::string run(const Body& first, const Body& second) {
    std::string fault = "the second kernel did not end";
    launch(0, first, 0, [&](const KernelOutcome& one) {
      ASSERT_EQ(one.fault, "");
      launch(1, second, one.end_ns, [&](const KernelOutcome& two) { fault = two.fault; });
    });
    sc_core::sc_start();
    return fault;
  }
  std::string replayed() const {
    ReplayOptions options;
    options.threads = 1;
    return text(replay(log.records(), start, options).memory);
  }
  static std::string text(const MemoryImage& memory) {
    float z[kElements];
    memory.read(kHbm, kZ.addr, z, sizeof z);
    return text(z);
  }
  static std::string text(const float* z) {
    std::ostringstream s;
    for (int i = 0; i < kElements; ++i) s << z[i] << ' ';
    return s.str();
  }

  std::unique_ptr<Platform> platform;
  MemoryImage start;
  MemoryOpLog log;

 private:
  void launch(size_t pe, const Body& body, double start_ns, std::function<void(const KernelOutcome&)> on_end) {
    platform->pes().runner(pe).launch(
        [body](PeBackend& backend) {
          tl::Context context(backend);
          body(context);
          context.finish();
        },
        start_ns, std::move(on_end));
  }
};

void doubles(tl::Context& tl) {
  const auto x = tl.load(kX, {kElements});
  tl.store(kY, x + x);
}

void squares(tl::Context& tl) {
  const auto y = tl.load(kY, {kElements});
  tl.store(kZ, y * y);
}

void looks_and_squares(tl::Context& tl) {
  const auto y = tl.load(kY, {kElements});
  if (y(1) == 2) squares(tl);
}

void materializes_and_squares(tl::Context& tl) {
  const auto y = tl.materialize(tl.load(kY, {kElements}));
  if (y(1) == 2) squares(tl);
}

const char* const kSquares = "0 4 16 36 64 100 144 196 ";

TEST(TwoKernelPrograms, compute_on_what_is_pending) {
  EXPECT_EQ(in_child([] {
              TwoKernels program;
              const std::string fault = program.run(doubles, squares);
              if (!fault.empty()) return fault;
              if (program.platform->system().image().state_of(kHbm, kZ.addr, 4).state != MemoryImage::State::pending)
                return std::string("not pending");
              return program.replayed();
            }),
            kSquares);
}

TEST(TwoKernelPrograms, fail_where_the_second_looks_at_it) {
  const std::string fault = in_child([] { return TwoKernels().run(doubles, looks_and_squares); });
  EXPECT_NE(fault.find("pending"), std::string::npos) << fault;
  EXPECT_NE(fault.find("made by op 'add'"), std::string::npos) << fault;
  EXPECT_NE(fault.find("sip0.cube0.pe1"), std::string::npos) << fault;
}

TEST(TwoKernelPrograms, may_look_at_what_they_materialize) {
  EXPECT_EQ(in_child([] {
              TwoKernels program;
              program.platform->system().keep_pending_values();
              const std::string fault = program.run(doubles, materializes_and_squares);
              return fault.empty() ? program.replayed() : fault;
            }),
            kSquares);
}

TEST(TwoKernelPrograms, are_told_what_to_set_where_nothing_is_kept_to_materialize_from) {
  const std::string fault = in_child([] { return TwoKernels().run(doubles, materializes_and_squares); });
  EXPECT_NE(fault.find("`materializes = true`"), std::string::npos) << fault;
  EXPECT_NE(fault.find("a_second_kernel_takes_what_the_first_left_pending_test.cpp:"), std::string::npos) << fault;
}

/// The value of z that an external reader gets when both kernels have ended, or the op that makes it.
std::string read_outside(const std::string& options) {
  return in_child([&] {
    TwoKernels program(options);
    const std::string fault = program.run(doubles, squares);
    if (!fault.empty()) return fault;
    float z[kElements] = {};
    const auto maker = program.platform->system().read_from_outside(Space::hbm, kZ.addr, z, sizeof z);
    if (maker) return "pending: " + maker->op;
    if (program.platform->system().image().state_of(kHbm, kZ.addr, 4).state != MemoryImage::State::pending)
      return std::string("memory itself has changed");
    return TwoKernels::text(z);
  });
}

TEST(ReadFromOutside, of_pending_bytes_is_refused_and_names_the_op) {
  EXPECT_EQ(read_outside(""), "pending: mul");
  EXPECT_EQ(read_outside("\nmaterialize: none\n"), "pending: mul");
}

TEST(ReadFromOutside, gives_the_values_where_the_topology_says_materialize_outputs) {
  EXPECT_EQ(read_outside("\nmaterialize: outputs\n"), kSquares);
}

}  // namespace
}  // namespace kernbench::testing
