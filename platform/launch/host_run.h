// SPDX-License-Identifier: Apache-2.0
// What the host does in one run: maps virtual ranges, uploads inputs, launches, has the completions, reads outputs
// back. Several runs one after the other are fine, and so is what goes on beside them for ever (run_watch.h).
#pragma once

#include "kernbench/platform/launch/host_mmu.h"
#include "kernbench/platform/launch/host_transfer.h"
#include "kernbench/platform/launch/launch.h"

namespace kernbench::launch {

struct HostPlan {
  LaunchWay way;
  KernelLaunch launch;
  std::vector<MmuMap> maps;           ///< to the launch's PEs; done before anything else
  std::vector<MemoryWrite> uploads;   ///< done before the launch is sent
  std::vector<MemoryRead> downloads;  ///< begun when the host has the last completion
};

struct HostOutcome {
  bool complete = false;  ///< false: nothing could move before the end
  std::string fault;      ///< of a kernel, or what kept the host from going on; empty if none
  LaunchResult launch;
  double map_ns = 0, upload_ns = 0, download_ns = 0;  ///< how long each took
  double end_ns = 0;                                  ///< when the host was done
};

/// To be kept as long as the simulation may go on: messages under way come back to it.
class HostRun {
 public:
  HostRun(LaunchHost&, HostPlan);
  HostRun(const HostRun&) = delete;
  HostRun& operator=(const HostRun&) = delete;
  /// Simulates from now until the host is done, a fault reached it, or nothing can move. InputError before the
  /// simulation where the host cannot reach an upload's or download's memory.
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
