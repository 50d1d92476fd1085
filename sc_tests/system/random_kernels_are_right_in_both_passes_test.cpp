// SPDX-License-Identifier: Apache-2.0
// Random kernels on a platform, two consecutive ones on each of two PEs, all on the same memory. Phase 1's memory and
// Phase 2's results, for any number of threads, are bit-identical to a sequential machine that runs the same op
// functions one by one. Independent plain arithmetic confirms the values.
#include <gtest/gtest.h>

#include <map>

#include "../phase2/plain_machine.h"
#include "../phase2/random_programs.h"
#include "kernbench/phase2/graph/executor.h"
#include "kernbench/phase2/io/random.h"
#include "kernbench/phase2/log/memory_op_log.h"
#include "kernbench/platform/run/run.h"
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

  /// Empty, or a fault.
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
      // If ops are checked, replay also computes the ops that Phase 1 computed for tl.materialize.
      const auto check = [&](const ReplayedOp& op) {
        if (op.record.desc->type == CommandType::atomic) return;  // it returns its ranges' values; memory shows them
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

constexpr int64_t kBlockRoom = 256;  ///< elements of y for each stored block
const std::vector<Dims> kShapes = {{5}, {3, 5}, {2, 3, 5}, {2, 2, 3, 5}, {2, 1, 2, 3, 5}, {2, 1, 2, 2, 3, 5}};
constexpr int64_t kGap = 3;  ///< between a block's rows
const std::vector<int> kOwn = {7, -3, 11, 0, 5, 2};

/// Real and pending values in strided blocks of every rank; then the results of cat, join and their views on loads and
/// on the kernel's own values.
void stores_strided_blocks(tl::Context& tl, const tl::Args& args) {
  const tl::Ptr x = args["x"].ptr, y = args["y"].ptr;
  tl.store(y, tl.tensor(std::vector<float>(args["y"].shape.elements(), 0), args["y"].shape, DType::f32));
  int64_t at = 0;
  const auto next = [&](const Dims& shape, int64_t ld) { return (y + kBlockRoom * at++).block(shape, ld); };
  for (const Dims& shape : kShapes) {
    const int64_t ld = shape[shape.rank() - 1] + kGap;
    const tl::Loaded value = tl.load(x, shape);
    const tl::Block block = next(shape, ld);
    tl.store(block, value);
    if (tl.load(block).to_vector<float>() != value.to_vector<float>()) throw KernelFault("other values come back");
    tl.store(next(shape, ld), value + value);
  }
  const tl::Loaded a = tl.load(x, {2, 3}), own = tl.tensor(kOwn, {2, 3}, DType::f32);
  if (own(1, 0) != 0 || own(1, 1) != 5) throw KernelFault("the kernel's own values are others");
  tl.store(next({2, 3}, 4), own);
  tl.store(next({4, 3}, 7), tl.cat({a, own}, 0));
  tl.store(next({2, 3, 2}, 5), tl.join(a, own));
  tl.store(next({3, 2, 2}, 4), tl.join(a, own).permute({1, 2, 0}));
}

std::map<std::string, Expected> strided_blocks(const Params&, const TensorMap& in) {
  const std::vector<float> x = in.at("x").floats();
  std::vector<float> y(static_cast<size_t>(kBlockRoom) * (2 * kShapes.size() + 4), 0);
  size_t at = 0;
  /// `value` of each element, counted in row-major order, of a block with that many rows.
  const auto block = [&](int64_t rows, int64_t row, int64_t ld, const std::function<float(size_t)>& value) {
    for (int64_t r = 0; r < rows; ++r) {
      for (int64_t i = 0; i < row; ++i)
        y[at * kBlockRoom + static_cast<size_t>(r * ld + i)] = value(static_cast<size_t>(r * row + i));
    }
    ++at;
  };
  for (const Dims& shape : kShapes) {
    const int64_t row = shape[shape.rank() - 1], rows = shape.elements() / row;
    block(rows, row, row + kGap, [&](size_t i) { return x[i]; });
    block(rows, row, row + kGap, [&](size_t i) { return 2 * x[i]; });
  }
  const auto own = [](size_t i) { return static_cast<float>(kOwn[i]); };
  const auto joined = [&](size_t i) { return i % 2 == 0 ? x[i / 2] : own(i / 2); };
  block(2, 3, 4, own);
  block(4, 3, 7, [&](size_t i) { return i < 6 ? x[i] : own(i - 6); });
  block(6, 2, 5, joined);
  block(6, 2, 4, [&](size_t i) { return joined(i % 2 * 6 + i / 2); });  // axis 0 is now the last one
  return {{"y", {HostTensor::from(DType::f32, {static_cast<int64_t>(y.size())}, y), {}}}};
}

TEST(StridedBlocks, of_every_rank_are_stored_in_both_passes) {
  const auto tensor = [](const char* name, TensorSpec::Role role, int64_t n) {
    TensorSpec t;
    t.name = name;
    t.role = role;
    t.shape = [n](const Params&) { return Dims{n}; };
    t.dtype = [](const Params&) { return DType::f32; };
    t.placement = Placement::single;
    return t;
  };
  KernelSpec s;
  s.name = "stores_strided_blocks";
  s.help = "for a test";
  s.tensors = {tensor("x", TensorSpec::Role::in, 200),
               tensor("y", TensorSpec::Role::out, kBlockRoom * static_cast<int64_t>(2 * kShapes.size() + 4))};
  s.function = stores_strided_blocks;
  s.reference = strided_blocks;
  KernelRegistry::instance().add(s);
  for (const AddressMode mode : {AddressMode::physical, AddressMode::virtual_}) {
    EXPECT_EQ(in_child([mode] {
                const auto platform = platform_from_file(topology_path("small.yaml"));
                RunOptions o;
                o.kernel = "stores_strided_blocks";
                o.pes = platform->graph().pes.front().id;
                o.addresses = mode;
                o.verify = true;
                const RunReport r = run_kernel(*platform, std::move(o));
                return r.passed ? std::string("right") : r.tensors.front().reason;
              }),
              "right");
  }
}

}  // namespace
}  // namespace kernbench::testing
