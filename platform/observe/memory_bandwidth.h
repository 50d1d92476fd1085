// SPDX-License-Identifier: Apache-2.0
// What each memory delivers and takes, GB/s, as counters of a trace.
#pragma once

#include <deque>
#include <map>
#include <unordered_map>

#include "kernbench/platform/observe/trace_writer.h"
#include "kernbench/systemc_models/fabric/fabric_observer.h"

namespace kernbench::elaborate {
class Machine;
}

namespace kernbench::observe {

/// Means over windows of kWindowNs from 0 on. An access's bytes spread evenly over the time from when the memory starts
/// with it to when it has finished, so a counter's integral is the bytes of all accesses.
class MemoryBandwidth : public FabricObserver {
 public:
  static constexpr double kWindowNs = 100;

  /// Attaches to all memories of the machine.
  MemoryBandwidth(Machine&, TraceCounters&);
  /// Detaches.
  ~MemoryBandwidth() override;
  /// Nothing more comes: tells what is left.
  void finish();

  void memory_request(const MemoryTarget&, const FabricTransaction&, MemoryStep, double t) override;

 private:
  /// Of reads or of writes.
  struct Direction {
    TraceCounters::Counter counter = 0;                            ///< 0: none yet
    uint64_t first = 0;                                            ///< the window of bytes[0]; those before are told
    std::deque<double> bytes;                                      ///< by window
    double gbs = 0;                                                ///< told last
    std::unordered_map<const FabricTransaction*, double> started;  ///< and not finished
  };
  void add(Direction&, double from, double to, double bytes);
  void tell_up_to(Direction&, uint64_t window);
  void tell(Direction&, double gbs);

  Machine& machine_;
  TraceCounters& counters_;
  uint64_t group_ = 0;
  std::map<std::pair<uint32_t, bool>, Direction> directions_;  ///< by the memory's index, write
};

}  // namespace kernbench::observe
