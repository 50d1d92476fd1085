// Replay gives what a sequential machine gives that runs the ops one by one in the order of their effects, bit for bit
// and for any number of threads, on random programs with overlaps, views, reuse of TCM and every kind of op.
#include <gtest/gtest.h>

#include <map>

#include "kernbench/phase2/executor.h"
#include "random_programs.h"

namespace kernbench::testing {
namespace {

TEST(Replay, equals_a_sequential_machine_on_random_programs_for_any_number_of_threads) {
  const unsigned seed = chosen_seed();
  SCOPED_TRACE("KERNBENCH_SEED=" + std::to_string(seed));
  uint64_t computed = 0;
  for (unsigned round = 0; round < 60; ++round) {
    const Program p = Generator(seed + round).make(150);
    SequentialMachine machine(p.initial_hbm, p.initial_tcm);
    std::map<uint64_t, Bytes> outputs;
    for (const OpRecord* r : in_effect_order(p.records)) outputs[r->op_id] = machine.run(*r->desc);
    for (int threads : {1, 2, 5}) {
      ReplayOptions options;
      options.threads = threads;
      options.keep_tcm = true;
      options.check = [&](const ReplayedOp& op) {
        const Bytes out(op.output, op.output + op.record.desc->output.nbytes());
        EXPECT_EQ(difference(out, outputs.at(op.record.op_id)), "")
            << "op " << op.record.op_id << " " << op.record.desc->name << " " << name_of(op.record.desc->output.dtype)
            << " " << op.record.desc->output.shape.to_string();
      };
      const ReplayResult got = replay(p.records, p.image, options);
      computed += got.computed;
      EXPECT_EQ(got.ops, p.records.size());
      Bytes bytes(kHbmBytes);
      got.memory.read({Space::hbm, kNoPe}, 0, bytes.data(), kHbmBytes);
      ASSERT_EQ(difference(bytes, machine.hbm_bytes()), "") << "round " << round << " threads " << threads;
      for (uint32_t pe = 0; pe < kPes; ++pe) {
        Bytes local(kTcmBytes);
        got.memory.read({Space::tcm, pe}, 0, local.data(), kTcmBytes);
        ASSERT_EQ(difference(local, machine.tcm_bytes()[pe]), "")
            << "round " << round << " threads " << threads << " PE " << pe;
      }
    }
  }
  EXPECT_GT(computed, 1000u);
}

}  // namespace
}  // namespace kernbench::testing
