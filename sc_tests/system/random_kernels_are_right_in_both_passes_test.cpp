// Random kernels on a platform, two after another on each of two PEs, all over the same memory: what Phase 1 knew of
// memory and what Phase 2 computes, for any number of threads, equal to the bit a sequential machine that runs the same
// op functions one by one, and plain arithmetic that knows none of them says that the values are right.
#include <gtest/gtest.h>

#include <map>

#include "../phase2/plain_machine.h"
#include "../phase2/random_programs.h"
#include "kernbench/phase2/graph/executor.h"
#include "kernbench/phase2/io/random.h"
#include "kernbench/phase2/log/memory_op_log.h"
#include "random_kernel.h"
#include "system_support.h"

namespace kernbench::testing {
namespace {

struct Counts {
  uint64_t ops = 0, computed = 0;
  PlainComparison plain;
};

class ComparedRun : public RandomKernelRun {
 public:
  using RandomKernelRun::RandomKernelRun;

  /// Empty, or what was wrong.
  std::string run(Counts& counts) {
    const std::string fault = simulate();
    return fault.empty() ? compare(counts) : fault;
  }

 private:
  std::string compare(Counts& counts) const {
    SequentialMachine machine(start);
    PlainMachine by_hand(start);
    std::map<uint64_t, Bytes> outputs;
    for (const OpRecord* r : in_effect_order(log.records())) {
      const OpDesc& d = *r->desc;
      if (carries_its_bytes(d) && machine.source_of(d) != *d.data)
        return "op " + std::to_string(r->op_id) + " (" + d.name + ") carries other bytes than its source has";
      const Bytes& out = outputs[r->op_id] = machine.run(d);
      const std::string departs = counts.plain.compare(d, out.data(), by_hand.run(d));
      if (!departs.empty()) return "op " + std::to_string(r->op_id) + ": " + departs;
    }
    std::string wrong = difference(platform->system().image(), machine, true, false);
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
      const ReplayResult got = replay(log.records(), start, options);
      counts.computed += got.computed;
      if (wrong.empty()) wrong = difference(got.memory, machine);
      if (!wrong.empty()) return std::to_string(threads) + " threads: " + wrong;
    }
    counts.ops += outputs.size();
    return "";
  }
};

TEST(RandomKernels, equal_a_sequential_machine_and_plain_arithmetic_for_any_number_of_threads) {
  const unsigned seed = chosen_seed();
  SCOPED_TRACE("KERNBENCH_SEED=" + std::to_string(seed));
  Counts all;
  for (unsigned round = 0; round < 30; ++round) {
    const std::string told = in_child([&] {
      Counts counts;
      const std::string wrong = ComparedRun(seed + round).run(counts);
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
