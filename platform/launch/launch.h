// SPDX-License-Identifier: Apache-2.0
// Kernel launches from the host to each PE and back (timing rules §7): a message that fans out; each PE responds when
// its kernel has ended.
#pragma once

#include <functional>

#include "kernbench/platform/launch/host_messages.h"
#include "kernbench/platform/launch/launch_way.h"

namespace kernbench::launch {

/// An object that can be launched repeatedly, for a doorbell: a job (platform/job.h).
class Launchable {
 public:
  using Done = std::function<void(const LaunchResult&)>;
  virtual ~Launchable() = default;
  /// The launch leaves the host now; `done` is called when the host has the response. RunError if it is still running.
  virtual void start(Done done) = 0;
  virtual bool running() const = 0;
  /// Ends its kernels now with HostError::aborted; the host has the response later. Without effect if it does not run.
  virtual void abort() {}
  /// The PEs that it occupies, in compiled order.
  virtual const std::vector<size_t>& pes() const {
    static const std::vector<size_t> none;
    return none;
  }
};

/// Launches kernels, any number of times, also before the previous launch has ended, on PEs that are idle on arrival.
class Launcher {
 public:
  using Done = std::function<void(const LaunchResult&)>;
  explicit Launcher(LaunchHost& host) : host_(host) {}

  /// The launch leaves the host now (before the simulation: at 0). Each kernel starts at now + way.latest_ns, or at the
  /// arrival of the message if that is later; `way` must be for the same PEs. `done` is called once, when the host has
  /// the response, and may launch again. Returns the correlation id (the message's own if it is not 0).
  uint64_t launch(KernelLaunch message, const LaunchWay& way, Done done);

  /// Callback for one part of a launch's PEs.
  using PartDone = std::function<void(size_t part, const LaunchResult&)>;
  /// The same, as one launch with one start time whose completion arrives part by part. `done` is called once for each
  /// part, when all its PEs have ended (only their outcomes in the result are valid). Parts are lists of places in the
  /// launch.
  uint64_t launch(KernelLaunch message, const LaunchWay& way, const std::vector<std::vector<uint32_t>>& parts,
                  PartDone done);

 private:
  LaunchHost& host_;
};

}  // namespace kernbench::launch
