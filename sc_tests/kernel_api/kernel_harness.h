// SPDX-License-Identifier: Apache-2.0
// Runs a registered kernel on the sequential stand-in, replays it with Phase 2 and compares with its reference.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "kernbench/kernel_api/registry.h"
#include "kernbench/phase2/check/verify.h"
#include "kernbench/phase2/eval/convert.h"
#include "kernbench/phase2/graph/executor.h"
#include "sequential_backend.h"

namespace kernbench::testing {

using Given = std::vector<std::pair<std::string, std::string>>;

struct KernelRun {
  Params params;
  TensorMap inputs;
  TensorMap outputs;                                           ///< as replayed
  std::vector<std::vector<std::shared_ptr<OpDesc>>> commands;  ///< per PE
  uint64_t tcm_high_water = 0;
};

struct RunOptions {
  uint32_t pes = 4;
  uint64_t tcm_bytes = 1 << 20;
  uint64_t seed = 1;
  bool run_ahead = false;  ///< as in the backend
  TensorMap inputs;        ///< instead of seeded ones
};

inline KernelRun run_kernel(const std::string& name, const Given& given, const RunOptions& options = {}) {
  const KernelSpec& spec = KernelRegistry::instance().at(name);
  KernelRun run;
  run.params = kernel_params(spec, given);
  SequentialSystem system;
  system.slices = options.pes;
  std::vector<FirstFitAllocator> slices;
  for (uint32_t p = 0; p < options.pes; ++p) {
    slices.emplace_back(SequentialSystem::slice_base(p), SequentialSystem::kSliceBytes);
  }
  const auto launch = std::make_shared<tl::LaunchArgs>(run.params);
  std::map<std::string, ShardPlan> plans;
  std::map<std::string, std::vector<uint64_t>> bases;
  for (const TensorSpec& t : spec.tensors) {
    const ShardPlan plan = plan_shards(t.placement, t.dtype(run.params), t.shape(run.params), options.pes);
    std::vector<uint64_t> at(options.pes, 0);
    if (t.role == TensorSpec::Role::in) {
      const auto own = options.inputs.find(t.name);
      run.inputs[t.name] = own != options.inputs.end() ? own->second : make_input(t, run.params, options.seed);
    }
    for (uint32_t p = 0; p < options.pes; ++p) {
      if (!plan.stored(p)) continue;
      at[p] = slices[p].allocate(plan.nbytes(p)).value();
      if (t.role != TensorSpec::Role::in) continue;
      Bytes shard(plan.nbytes(p));
      scatter(plan, p, run.inputs[t.name].bytes.data(), shard.data());
      system.memory.write_shared({Space::hbm, kNoPe}, at[p], SharedBytes::take(std::move(shard)));
    }
    launch->add(t.name, plan, Space::hbm, at);
    plans[t.name] = plan;
    bases[t.name] = at;
  }
  const MemoryImage start = system.memory.snapshot();
  for (uint32_t p = 0; p < options.pes; ++p) {
    SequentialBackend backend(system, p, options.tcm_bytes);
    backend.run_ahead = options.run_ahead;
    {
      tl::Program program;
      program.pe = program.index = p;
      program.pes = program.size = options.pes;
      tl::Context context(backend, program);
      spec.function(context, tl::Args(launch, p));
      context.finish();
      backend.catch_up(~Ticket{0});
    }
    EXPECT_EQ(backend.tcm().used_bytes(), 0u) << "the kernel's handles are all gone, but not their TCM";
    run.tcm_high_water = std::max(run.tcm_high_water, backend.tcm().high_water());
    run.commands.push_back(backend.commands);
  }
  ReplayOptions replay_options;
  replay_options.threads = 2;
  const ReplayResult result = replay(system.records, start, replay_options);
  for (const TensorSpec& t : spec.tensors) {
    if (t.role != TensorSpec::Role::out) continue;
    HostTensor out(t.dtype(run.params), t.shape(run.params));
    const ShardPlan& plan = plans[t.name];
    for (uint32_t p = 0; p < options.pes; ++p) {
      if (!plan.stored(p)) continue;
      const MemoryImage::SpaceKey hbm{Space::hbm, kNoPe};
      const auto state = result.memory.state_of(hbm, bases[t.name][p], plan.nbytes(p));
      EXPECT_EQ(state.state, MemoryImage::State::real) << t.name << " of PE " << p << " was not wholly written";
      Bytes shard(plan.nbytes(p));
      result.memory.read(hbm, bases[t.name][p], shard.data(), shard.size());
      gather(plan, p, shard.data(), out.bytes.data());
    }
    run.outputs[t.name] = std::move(out);
  }
  return run;
}

/// The result of comparing an output with its expected values.
inline TensorReport compare(const std::string& name, const HostTensor& got, const Expected& want) {
  ReferenceValues reference;
  const size_t item = size_of(want.value.dtype);
  for (size_t at = 0; at < want.value.bytes.size(); at += item) {
    reference.values.push_back(load_scalar(want.value.bytes.data() + at, want.value.dtype));
  }
  reference.scale.assign(want.scale.begin(), want.scale.end());
  EXPECT_EQ(got.dtype, want.value.dtype);
  EXPECT_EQ(got.shape, want.value.shape);
  return verify(name, got.dtype, got.shape, got.bytes.data(), reference);
}

inline void expect_verified(const std::string& name, const Given& given, RunOptions options = {}) {
  std::string what = name;
  for (const auto& [k, v] : given) what += " " + k + "=" + v;
  const KernelSpec& spec = KernelRegistry::instance().at(name);
  for (const bool run_ahead : {false, true}) {
    SCOPED_TRACE(what + ", " + std::to_string(options.pes) + " PEs, seed " + std::to_string(options.seed) +
                 (run_ahead ? ", kernel ahead of its effects" : ""));
    options.run_ahead = run_ahead;
    const KernelRun run = run_kernel(name, given, options);
    const auto expected = spec.reference(run.params, run.inputs);
    for (const TensorSpec& t : spec.tensors) {
      if (t.role != TensorSpec::Role::out) continue;
      const TensorReport report = compare(t.name, run.outputs.at(t.name), expected.at(t.name));
      EXPECT_TRUE(report.passed) << to_text({report});
      EXPECT_EQ(report.nan_values, 0u);
    }
  }
}

}  // namespace kernbench::testing
