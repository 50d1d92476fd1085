// SPDX-License-Identifier: Apache-2.0
// Replay equals a sequential machine that runs the ops one by one in the order of their effects, bit for bit and for
// any number of threads. Uses random programs with overlaps, views, reuse of TCM and every kind of op. Plain arithmetic
// without op functions also agrees with every op's output within rounding.
#include <gtest/gtest.h>

#include <map>

#include "kernbench/phase2/graph/executor.h"
#include "plain_machine.h"
#include "random_programs.h"

namespace kernbench::testing {
namespace {

TEST(Replay, equals_a_sequential_machine_on_random_programs_for_any_number_of_threads) {
  const unsigned seed = chosen_seed();
  SCOPED_TRACE("KERNBENCH_SEED=" + std::to_string(seed));
  uint64_t computed = 0;
  PlainComparison plain;
  for (unsigned round = 0; round < 60; ++round) {
    const Program p = Generator(seed + round).make(150);
    SequentialMachine machine(p.image);
    PlainMachine by_hand(p.image);
    std::map<uint64_t, Bytes> outputs;
    for (const OpRecord* r : in_effect_order(p.records)) {
      const Bytes& out = outputs[r->op_id] = machine.run(*r->desc);
      ASSERT_EQ(plain.compare(*r->desc, out.data(), by_hand.run(*r->desc)), "")
          << "round " << round << " op " << r->op_id;
    }
    for (int threads : {1, 2, 3, 8}) {
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
      ASSERT_EQ(difference(got.memory, machine), "") << "round " << round << " threads " << threads;
    }
  }
  EXPECT_GT(computed, 1000u);
  // Plain arithmetic cannot follow a value if bytes of an inexact value are read as another type.
  EXPECT_LT(plain.anything, (plain.points + plain.ranges) / 3);
  EXPECT_GT(plain.ranges, plain.points / 100);
  RecordProperty("points", std::to_string(plain.points));
  RecordProperty("ranges", std::to_string(plain.ranges));
  RecordProperty("anything", std::to_string(plain.anything));
}

}  // namespace
}  // namespace kernbench::testing
