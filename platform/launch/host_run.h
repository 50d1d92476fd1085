// SPDX-License-Identifier: Apache-2.0
// The host's steps in one run: maps virtual ranges, uploads inputs, launches, receives completions, reads outputs back.
// Several runs may follow each other, and other activity may continue endlessly (run_watch.h).
#pragma once

#include "kernbench/platform/launch/host_mmu.h"
#include "kernbench/platform/launch/host_transfer.h"
#include "kernbench/platform/launch/launch.h"

namespace kernbench::launch {

struct HostPlan {
  LaunchWay way;
  KernelLaunch launch;
  std::vector<MmuMap> maps;           ///< to the launch's PEs; the first step
  std::vector<MemoryWrite> uploads;   ///< done before the launch is sent
  std::vector<MemoryRead> downloads;  ///< started when the host has the last completion
};

struct HostOutcome {
  bool complete = false;  ///< false: nothing could move before the end
  std::string fault;      ///< error of a kernel or of the host's steps; empty if none
  LaunchResult launch;
  double map_ns = 0, upload_ns = 0, download_ns = 0;  ///< duration of each step
  double end_ns = 0;                                  ///< when the host was done
};

/// Keep it as long as the simulation may continue: messages in flight refer to it.
class HostRun {
 public:
  HostRun(LaunchHost&, HostPlan);
  HostRun(const HostRun&) = delete;
  HostRun& operator=(const HostRun&) = delete;
  /// Simulates from now until the host is done, gets an error, or nothing can move. InputError before the simulation if
  /// the host cannot reach an upload's or download's memory.
  const HostOutcome& run();

 private:
  void upload();
  void launch();
  void launched(const LaunchResult&);
  void complete(double done_ns);
  bool failed(const HostResponse&);

  LaunchHost& host_;
  const HostPlan plan_;
  HostMmu mmu_;
  HostTransfer transfer_;
  Launcher launcher_;
  HostOutcome outcome_;
  double begin_ns_ = 0;
};

}  // namespace kernbench::launch
