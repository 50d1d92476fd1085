// SPDX-License-Identifier: Apache-2.0
// Observers of the host, such as recordings.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "kernbench/systemc_models/pe/kernel_run.h"

namespace kernbench::launch {
struct LaunchWay;
}

namespace kernbench::elaborate {

/// All times in ns. An `id` identifies its object between start and end only.
class HostObserver {
 public:
  virtual ~HostObserver() = default;
  /// The host writes to the device, or reads from it; its requests carry the id (MemoryRequest::part_of).
  virtual void transfer_started(const void* /*id*/, bool /*write*/, uint64_t /*nbytes*/, double /*t*/) {}
  virtual void transfer_done(const void* /*id*/, double /*t*/) {}
  /// A program delays until a time. Called at the start of the delay; a launch may follow it.
  virtual void host_waits(const SourceLine&, double /*until*/) {}
  /// A launch leaves the host for PEs, by index, over a path that completions use too; the host gets the completion of
  /// some PEs, by their places in the launch; the host gets the last completion.
  virtual void launch_sent(const void* /*id*/, const LaunchId&, const std::vector<size_t>& /*pes*/, const LaunchWay&,
                           double /*t*/) {}
  virtual void launch_returned(const void* /*id*/, const std::vector<uint32_t>& /*places*/, double /*t*/) {}
  virtual void launch_done(const void* /*id*/, double /*t*/) {}
};

/// Any number of observers, called in order of registration. Must not be changed during a call.
class HostObservers {
 public:
  void add(HostObserver& o) { all_.push_back(&o); }
  void remove(HostObserver& o) { all_.erase(std::remove(all_.begin(), all_.end(), &o), all_.end()); }
  auto begin() const { return all_.begin(); }
  auto end() const { return all_.end(); }

 private:
  std::vector<HostObserver*> all_;
};

}  // namespace kernbench::elaborate
