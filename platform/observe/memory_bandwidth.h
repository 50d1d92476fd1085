// SPDX-License-Identifier: Apache-2.0
// Read and write bandwidth of each memory in GB/s, as counters of a trace.
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

/// Means over windows of kWindowNs from 0 on. An access's bytes are spread evenly over its service time in the memory,
/// so a counter's integral is the bytes of all accesses.
class MemoryBandwidth : public FabricObserver {
 public:
  static constexpr double kWindowNs = 100;

  /// Attaches to all memories of the machine.
  MemoryBandwidth(Machine&, TraceCounters&);
  /// Detaches.
  ~MemoryBandwidth() override;
  /// Ends the input and writes the remaining windows.
  void finish();

  void memory_request(const MemoryTarget&, const FabricTransaction&, MemoryStep, double t) override;

 private:
  /// Reads or writes.
  struct Direction {
    TraceCounters::Counter counter = 0;                            ///< 0: not created yet
    uint64_t first = 0;                                            ///< the window of bytes[0]; earlier ones are written
    std::deque<double> bytes;                                      ///< by window
    double gbs = 0;                                                ///< last written value
    std::unordered_map<const FabricTransaction*, double> started;  ///< started and not finished
  };
  void add(Direction&, double from, double to, double bytes);
  void tell_up_to(Direction&, uint64_t window);
  void tell(Direction&, double gbs);

  Machine& machine_;
  TraceCounters& counters_;
  uint64_t group_ = 0;
  std::map<std::pair<uint32_t, bool>, Direction> directions_;  ///< by the memory's index and whether it writes
};

}  // namespace kernbench::observe
