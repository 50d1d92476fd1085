// SPDX-License-Identifier: Apache-2.0
// What data went where in a run: bytes over each link and at each memory, and how long each channel of a memory was
// held.
#pragma once

#include <cstdint>
#include <vector>

#include "kernbench/systemc_models/fabric/fabric_observer.h"

namespace kernbench::elaborate {
class Machine;
}

namespace kernbench {

namespace insight {

/// What a memory delivers at most, GB/s: by the widest edge from the node and what it says itself.
double most_gbs(Machine&, uint32_t node);

class Usage : public FabricObserver {
 public:
  /// From here on; not while anything is told to observers.
  explicit Usage(Machine&);
  ~Usage() override;
  Usage(const Usage&) = delete;
  Usage& operator=(const Usage&) = delete;

  struct Memory {
    uint64_t read_bytes = 0, write_bytes = 0;
    std::vector<double> channels_ns;  ///< held; of a memory that tells its channels
  };
  /// By edge: payloads of what went over it, without headers.
  const std::vector<uint64_t>& link_bytes() const { return link_bytes_; }
  /// By node; of what is no memory 0.
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
