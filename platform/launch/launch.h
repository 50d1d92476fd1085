// Kernel launches: from the host to every PE and back (timing contract §7): a message that fans out, and that every PE
// answers when its kernel has ended.
#pragma once

#include <functional>

#include "kernbench/platform/launch/host_messages.h"
#include "kernbench/platform/launch/launch_way.h"

namespace kernbench {

/// What can be launched again and again: a job (platform/job.h), for a doorbell.
class Launchable {
 public:
  using Done = std::function<void(const LaunchResult&)>;
  virtual ~Launchable() = default;
  /// The launch leaves the host now; `done` is called when the host has the response. RunError if it still runs.
  virtual void start(Done done) = 0;
  virtual bool running() const = 0;
};

/// Launches kernels; any number of times, also before the last has ended, on PEs that are idle when a launch arrives.
class Launcher {
 public:
  using Done = std::function<void(const LaunchResult&)>;
  explicit Launcher(LaunchHost& host) : host_(host) {}

  /// The launch leaves the host now (before the simulation: at 0) and every kernel starts at now + way.latest_ns,
  /// or when it is reached if something on the way makes that later; `way` is one for the same PEs. `done` is called
  /// once, at the instant when the host has the response, and may launch again. Returns the correlation id (the
  /// message's own where it is not 0).
  uint64_t launch(KernelLaunch message, const LaunchWay& way, Done done);

  /// Of one part of a launch's PEs.
  using PartDone = std::function<void(size_t part, const LaunchResult&)>;
  /// The same, one launch with one stamp, of which the host has the completion part by part: `done` is called once for
  /// each, when all its PEs have ended (in the result's outcomes only theirs can be relied on). Parts are places in the
  /// launch.
  uint64_t launch(KernelLaunch message, const LaunchWay& way, const std::vector<std::vector<uint32_t>>& parts,
                  PartDone done);

 private:
  LaunchHost& host_;
};

}  // namespace kernbench
