// SPDX-License-Identifier: Apache-2.0
// Traffic of a run: bytes over each link and at each memory, and the time for which each channel of a memory was held.
#pragma once

#include <cstdint>
#include <vector>

#include "kernbench/systemc_models/fabric/fabric_observer.h"

namespace kernbench::elaborate {
class Machine;
}

namespace kernbench {

namespace insight {

/// A memory's peak in GB/s, from the node's widest outgoing edge and the memory's own limit.
double most_gbs(Machine&, uint32_t node);

class Usage : public FabricObserver {
 public:
  /// Records from now on. Do not construct it within a call to observers.
  explicit Usage(Machine&);
  ~Usage() override;
  Usage(const Usage&) = delete;
  Usage& operator=(const Usage&) = delete;

  struct Memory {
    uint64_t read_bytes = 0, write_bytes = 0;
    std::vector<double> channels_ns;  ///< time held; of a memory that reports its channels
  };
  /// By edge: payload bytes, without headers.
  const std::vector<uint64_t>& link_bytes() const { return link_bytes_; }
  /// By node; 0 for nodes that are no memories.
  const std::vector<Memory>& memories() const { return memories_; }

  void access_done(const Component&, const FabricTransaction&, double t) override;
  void post_done(const Component&, const FabricTransaction&, double t) override;
  void channel_taken(const MemoryTarget&, const FabricTransaction&, size_t channel, double ready, double from,
                     double to) override;

 private:
  void add(const FabricTransaction&);

  Machine& machine_;
  std::vector<uint64_t> link_bytes_;
  std::vector<Memory> memories_;
};

}  // namespace insight
}  // namespace kernbench
