// SPDX-License-Identifier: Apache-2.0
// The launches of a program. A kernel, its parameters and tensors become an operation, whose parts start and end on the
// timeline.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "kernbench/platform/host/context.h"
#include "kernbench/platform/host/located.h"
#include "kernbench/platform/host/stream_clocks.h"
#include "kernbench/platform/launch/launch.h"

namespace kernbench::host {

class ProgramLaunches {
 public:
  ProgramLaunches(Platform&, const ProgramSpec&, const ProgramPes&, const ContextOptions&, Streams&, StreamClocks&,
                  FirstFault&);
  ~ProgramLaunches();

  struct Prepared {
    Operation operation;
    std::shared_ptr<const KernelSpec> kernel;  ///< with the given optional tensors
  };
  /// InputError or BadParam for tensors or parameters that do not fit the kernel.
  Prepared prepare(const On&, const std::string& kernel, const KernelParams&, const TensorPointers&,
                   const std::string& pes, const SourceLine& where);
  bool any_runs() const { return !running_.empty(); }
  const std::vector<Context::PeTimes>& pe_times() const { return pe_times_; }
  /// For launches on all PEs.
  const LaunchWay& way() { return group(pes_.pes).way; }

 private:
  using Plan = std::shared_ptr<LaunchPlan>;
  /// Data common to all launches on the same PEs.
  struct Group {
    LaunchWay way;
    std::vector<tl::Program> programs;
  };
  const Group& group(const std::vector<size_t>& pes);
  void choose_pes(LaunchPlan&, const On&, const std::string& pes) const;
  void give_tensors(LaunchPlan&, const TensorPointers&) const;
  void begin(const Plan&, Operation&);
  void part_ended(const Plan&, Operation&, size_t part, const LaunchResult&);

  Platform& platform_;
  const ProgramSpec& spec_;
  const ProgramPes& pes_;
  const ContextOptions& options_;
  Streams& streams_;
  StreamClocks& clocks_;
  FirstFault& fault_;
  Launcher launcher_;
  std::map<std::vector<size_t>, Group> groups_;  ///< by PEs
  /// Plans whose rings must be released. Others may hold a plan longer than the memories exist.
  std::set<Plan> running_;
  uint32_t launches_ = 0;
  std::vector<Context::PeTimes> pe_times_;
};

}  // namespace kernbench::host
