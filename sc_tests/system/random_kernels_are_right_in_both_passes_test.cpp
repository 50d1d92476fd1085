// Random kernels on a platform, two after another on each of two PEs, all over the same memory: what Phase 1 knew of
// memory and what Phase 2 computes, for any number of threads, equal to the bit a sequential machine that runs the same
// op functions one by one, and plain arithmetic that knows none of them says that the values are right.
#include <gtest/gtest.h>

#include <map>

#include "../phase2/plain_machine.h"
#include "../phase2/random_programs.h"
#include "kernbench/phase2/executor.h"
#include "kernbench/phase2/memory_op_log.h"
#include "kernbench/phase2/random.h"
#include "random_kernel.h"
#include "system_support.h"

namespace kernbench::testing {
namespace {

constexpr uint64_t kHbmAt = 4096, kDecisionsAt = 1 << 20, kBytes = 6144;
constexpr int64_t kDecisions = 64;

struct Counts {
  uint64_t ops = 0, computed = 0;
  PlainComparison plain;
};

/// Programs one after the other in one simulation, on memory that begins as values of mixed types.
class RandomRun {
 public:
  explicit RandomRun(unsigned seed) : seed_(seed), platform_(platform_from_file(topology_path("small.yaml"))) {
    const uint64_t sram_at = platform_->pe_cpu(0).sram().addr;
    memory_ = {tl::Ptr(Space::hbm, kHbmAt, DType::f32),
               tl::Ptr(Space::sram, sram_at, DType::f32),
               kBytes,
               kBytes,
               tl::Ptr(Space::hbm, kDecisionsAt, DType::i32),
               kDecisions};
    MemoryImage& image = platform_->image();
    for (const tl::Ptr& to : {memory_.hbm, memory_.sram}) {
      uint64_t at = to.addr;
      for (DType t : {DType::f32, DType::f16, DType::bf16, DType::f8e4m3, DType::f8e5m2, DType::i8}) {
        const Bytes part = random_tensor(t, {static_cast<int64_t>(kBytes / 6 / size_of(t))}, ++seed, 3);
        image.write({to.space, kNoPe}, at, part.data(), part.size());
        at += part.size();
      }
    }
    const Bytes decisions = random_tensor(DType::i32, {kDecisions}, ++seed);
    image.write({Space::hbm, kNoPe}, kDecisionsAt, decisions.data(), decisions.size());
    start_ = image.snapshot();
    platform_->attach_log(&log_);
    platform_->keep_pending_values();
  }

  /// Empty, or what was wrong.
  std::string run(Counts& counts) {
    for (size_t pe = 0; pe < 2; ++pe) launch(pe, 2, 0);
    sc_core::sc_start();
    if (!fault_.empty()) return fault_;
    if (ended_ != 4) return "not all kernels have ended";
    return compare(counts);
  }

 private:
  void launch(size_t pe, int kernels, double start_ns) {
    const unsigned seed = seed_ * 97 + static_cast<unsigned>(pe * 10) + static_cast<unsigned>(kernels);
    const auto kernel = [this, seed](PeBackend& backend) {
      tl::Context tl(backend);
      RandomKernel(tl, memory_, seed, seed % 2 == 0).run(40);
      tl.finish();
    };
    platform_->pe_cpu(pe).launch(kernel, start_ns, [this, pe, kernels](const PeCpu::Outcome& outcome) {
      fault_ += outcome.fault;
      ++ended_;
      if (kernels > 1 && fault_.empty()) launch(pe, kernels - 1, outcome.end_ns);
    });
  }

  std::string compare(Counts& counts) const {
    SequentialMachine machine(start_);
    PlainMachine by_hand(start_);
    std::map<uint64_t, Bytes> outputs;
    for (const OpRecord* r : in_effect_order(log_.records())) {
      const OpDesc& d = *r->desc;
      if (carries_its_bytes(d) && machine.source_of(d) != *d.data)
        return "op " + std::to_string(r->op_id) + " (" + d.name + ") carries other bytes than its source has";
      const Bytes& out = outputs[r->op_id] = machine.run(d);
      const std::string departs = counts.plain.compare(d, out.data(), by_hand.run(d));
      if (!departs.empty()) return "op " + std::to_string(r->op_id) + ": " + departs;
    }
    std::string wrong = difference(platform_->image(), machine, true, false);
    if (!wrong.empty()) return "Phase 1: " + wrong;
    for (int threads : {1, 2, 3, 8}) {
      ReplayOptions options;
      options.threads = threads;
      options.keep_tcm = true;
      // Where ops are checked, replay computes also what Phase 1 did for tl.materialize.
      const auto check = [&](const ReplayedOp& op) {
        const Bytes out(op.output, op.output + op.record.desc->output.nbytes());
        if (wrong.empty() && out != outputs.at(op.record.op_id))
          wrong = "op " + std::to_string(op.record.op_id) + " (" + op.record.desc->name + ") gives other bits";
      };
      if (threads != 2) options.check = check;
      const ReplayResult got = replay(log_.records(), start_, options);
      counts.computed += got.computed;
      if (wrong.empty()) wrong = difference(got.memory, machine);
      if (!wrong.empty()) return std::to_string(threads) + " threads: " + wrong;
    }
    counts.ops += outputs.size();
    return "";
  }

  unsigned seed_;
  std::unique_ptr<Platform> platform_;
  SharedMemory memory_;
  MemoryImage start_;
  MemoryOpLog log_;
  std::string fault_;
  int ended_ = 0;
};

TEST(RandomKernels, equal_a_sequential_machine_and_plain_arithmetic_for_any_number_of_threads) {
  const unsigned seed = chosen_seed();
  SCOPED_TRACE("KERNBENCH_SEED=" + std::to_string(seed));
  Counts all;
  for (unsigned round = 0; round < 30; ++round) {
    const std::string told = in_child([&] {
      Counts counts;
      const std::string wrong = RandomRun(seed + round).run(counts);
      if (!wrong.empty()) return wrong;
      const PlainComparison& p = counts.plain;
      std::ostringstream text;
      text << "right " << counts.ops << ' ' << counts.computed << ' ' << p.points << ' ' << p.ranges << ' '
           << p.anything;
      return text.str();
    });
    std::istringstream text(told);
    std::string right;
    Counts c;
    text >> right >> c.ops >> c.computed >> c.plain.points >> c.plain.ranges >> c.plain.anything;
    ASSERT_EQ(right, "right") << "round " << round << ": " << told;
    all.ops += c.ops;
    all.computed += c.computed;
    all.plain.points += c.plain.points;
    all.plain.ranges += c.plain.ranges;
    all.plain.anything += c.plain.anything;
  }
  EXPECT_GT(all.ops, 3000u);
  EXPECT_GT(all.computed, 3000u);
  EXPECT_LT(all.plain.anything, (all.plain.points + all.plain.ranges) / 3);
  EXPECT_GT(all.plain.ranges, all.plain.points / 100);
  RecordProperty("ops", std::to_string(all.ops));
  RecordProperty("computed", std::to_string(all.computed));
  RecordProperty("points", std::to_string(all.plain.points));
  RecordProperty("ranges", std::to_string(all.plain.ranges));
  RecordProperty("anything", std::to_string(all.plain.anything));
}

}  // namespace
}  // namespace kernbench::testing
