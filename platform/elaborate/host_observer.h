// Who watches what the host does: recordings.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "kernbench/systemc_models/pe/kernel_run.h"

namespace kernbench {

struct LaunchWay;

/// All times in ns. An `id` names what it is for between its start and its end, and nothing beyond that.
class HostObserver {
 public:
  virtual ~HostObserver() = default;
  /// The host writes to the device, or reads from it; its requests name it (MemoryRequest::part_of).
  virtual void transfer_started(const void* /*id*/, bool /*write*/, uint64_t /*nbytes*/, double /*t*/) {}
  virtual void transfer_done(const void* /*id*/, double /*t*/) {}
  /// A launch leaves the host, for PEs by their indices, over a way that its completions take back; the host has the
  /// completion of some of them, by their places in the launch; it has the last.
  virtual void launch_sent(const void* /*id*/, const LaunchId&, const std::vector<size_t>& /*pes*/, const LaunchWay&,
                           double /*t*/) {}
  virtual void launch_returned(const void* /*id*/, const std::vector<uint32_t>& /*places*/, double /*t*/) {}
  virtual void launch_done(const void* /*id*/, double /*t*/) {}
};

/// Any number of them, told in the order in which they came. Not to be changed while something is told.
class HostObservers {
 public:
  void add(HostObserver& o) { all_.push_back(&o); }
  void remove(HostObserver& o) { all_.erase(std::remove(all_.begin(), all_.end(), &o), all_.end()); }
  auto begin() const { return all_.begin(); }
  auto end() const { return all_.end(); }

 private:
  std::vector<HostObserver*> all_;
};

}  // namespace kernbench
