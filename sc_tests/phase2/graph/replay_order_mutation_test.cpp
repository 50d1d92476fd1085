// SPDX-License-Identifier: Apache-2.0
// The comparison with a sequential machine detects a single violated dependency. Two neighbours in the order of effects
// are swapped that depend on each other in exactly one way. Independent neighbours may be swapped.
#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <set>
#include <utility>

#include "kernbench/phase2/graph/executor.h"
#include "kernbench/phase2/op/runs.h"
#include "random_programs.h"

namespace kernbench::testing {
namespace {

using Byte = std::pair<uint32_t, uint64_t>;  ///< PE of a TCM or kNoPe, address

struct Touched {
  std::set<Byte> reads, writes;
};

void add_bytes(const TensorRef& t, std::set<Byte>& to) {
  for_each_run(t, [&](uint64_t addr, uint64_t n) {
    for (uint64_t i = 0; i < n; ++i) to.emplace(t.space == Space::tcm ? t.pe : kNoPe, addr + i);
  });
}

Touched touched_by(const OpDesc& d) {
  Touched t;
  const bool has_data = d.type == CommandType::store && d.data && d.operands.size() == 1;
  for (const Operand& o : inputs_of(d)) {
    if (!o.is_scalar && !has_data) add_bytes(o.ref, t.reads);
  }
  add_bytes(d.output, t.writes);
  return t;
}

size_t common(const std::set<Byte>& a, const std::set<Byte>& b) {
  return static_cast<size_t>(std::count_if(a.begin(), a.end(), [&](const Byte& x) { return b.count(x) > 0; }));
}

/// The dependency of the second of two neighbours on the first.
struct Dependence {
  size_t raw, war, waw;  ///< bytes
  bool partial;          ///< the common bytes are neither all bytes of the first nor all of the second
};

Dependence dependence(const OpDesc& first, const OpDesc& second) {
  const Touched a = touched_by(first), b = touched_by(second);
  Dependence d{common(a.writes, b.reads), common(a.reads, b.writes), common(a.writes, b.writes), false};
  d.partial = d.raw > 0 && d.raw < a.writes.size() && d.raw < b.reads.size();
  return d;
}

class Neighbours : public ::testing::Test {
 protected:
  /// Swaps neighbours that `pick` selects, one pair at a time, and counts how often the result then differs from that
  /// of the sequential machine with the correct order.
  void swap_pairs(const std::function<bool(const Dependence&)>& pick, unsigned enough) {
    const unsigned seed = chosen_seed();
    SCOPED_TRACE("KERNBENCH_SEED=" + std::to_string(seed));
    for (unsigned round = 0; swapped < enough; ++round) {
      ASSERT_LT(round, 400u) << "too few pairs of this kind";
      Program p = Generator(seed + round).make(60);
      SequentialMachine machine(p.image);
      const std::vector<const OpRecord*> order = in_effect_order(p.records);
      for (const OpRecord* r : order) machine.run(*r->desc);
      // Gives each op a separate instant in the same order, so that two can be exchanged.
      for (size_t i = 0; i < order.size(); ++i) {
        set_instant(*order[i], static_cast<double>(i));
        const_cast<OpRecord*>(order[i])->dependency_ids.clear();  // NOLINT: this test owns the program
      }
      ASSERT_FALSE(differs(p, machine)) << "as it is";
      for (size_t i = 0; i + 1 < order.size() && swapped < enough; ++i) {
        if (!pick(dependence(*order[i]->desc, *order[i + 1]->desc))) continue;
        set_instant(*order[i], static_cast<double>(i + 1));
        set_instant(*order[i + 1], static_cast<double>(i));
        ++swapped;
        noticed += differs(p, machine);
        set_instant(*order[i], static_cast<double>(i));
        set_instant(*order[i + 1], static_cast<double>(i + 1));
      }
    }
  }
  unsigned swapped = 0, noticed = 0;

 private:
  static void set_instant(const OpRecord& r, double t) {
    std::const_pointer_cast<OpDesc>(r.desc)->submit_ns = t;
    const_cast<OpRecord&>(r).t_end = t;  // NOLINT: this test owns the program
  }
  static bool differs(const Program& p, const SequentialMachine& machine) {
    ReplayOptions options;
    options.threads = 1;
    options.keep_tcm = true;
    return !difference(replay(p.records, p.image, options).memory, machine).empty();
  }
};

// A swap may give the same bytes: wrong bytes are overwritten later, or the values are equal by chance.

TEST_F(Neighbours, a_read_before_the_write_it_needs_is_noticed) {
  swap_pairs([](const Dependence& d) { return d.raw && !d.war && !d.waw; }, 150);
  EXPECT_GT(noticed, swapped / 3) << noticed << " of " << swapped;
}

TEST_F(Neighbours, a_read_before_a_write_of_part_of_its_bytes_is_noticed) {
  swap_pairs([](const Dependence& d) { return d.partial && !d.war && !d.waw; }, 150);
  EXPECT_GT(noticed, swapped / 3) << noticed << " of " << swapped;
}

TEST_F(Neighbours, a_write_before_the_read_of_the_old_bytes_is_noticed) {
  swap_pairs([](const Dependence& d) { return d.war && !d.raw && !d.waw; }, 150);
  EXPECT_GT(noticed, swapped / 3) << noticed << " of " << swapped;
}

TEST_F(Neighbours, two_writes_the_other_way_round_are_noticed) {
  swap_pairs([](const Dependence& d) { return d.waw && !d.raw && !d.war; }, 100);
  EXPECT_GT(noticed, swapped / 3) << noticed << " of " << swapped;
}

TEST_F(Neighbours, that_do_not_depend_on_each_other_may_be_swapped) {
  swap_pairs([](const Dependence& d) { return !d.waw && !d.raw && !d.war; }, 300);
  EXPECT_EQ(noticed, 0u);
}

}  // namespace
}  // namespace kernbench::testing
