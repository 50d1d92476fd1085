// SPDX-License-Identifier: Apache-2.0
// Connects the inter-PE queues of a launch (collectives rules §10.1 to §10.5): checks what is declared, places the
// rings, and tells each pe_ipcq its ports. Costs no time and sends no message.
#pragma once

#include <string>
#include <vector>

#include "kernbench/kernel_api/launch_costs.h"
#include "kernbench/kernel_api/queue_connection.h"
#include "kernbench/systemc_models/pe/queue_ports.h"

namespace kernbench::elaborate {
class Machine;
}

namespace kernbench::launch {

/// Where rings lie.
class RingPlaces {
 public:
  virtual ~RingPlaces() = default;
  /// Room for a ring of the PE (index in compiled order), contiguous: an address of the space. InputError with what was
  /// asked, what is free and the PE.
  virtual uint64_t place(size_t pe, Space, uint64_t nbytes) = 0;
};

/// Rings in memories that nobody else has a share of: one behind the other from each memory's start.
class RingsAlone : public RingPlaces {
 public:
  explicit RingsAlone(Machine& machine) : machine_(machine) {}
  uint64_t place(size_t pe, Space, uint64_t nbytes) override;

 private:
  Machine& machine_;
  std::vector<uint64_t> tcm_used_, memory_used_;  ///< by PE, by memory
};

/// A ring at a PE with a pe_ipcq, without its place and costs: what is not chosen is as that says (§10.3).
QueueRing ring_at(const Pe&, const RingChoice&);

/// The memory of the space with the best route from the PE's pe_dma: distance, hops, then compiled order (§10.4), as
/// index into Graph::memories; as many as there are if none can be reached.
size_t nearest_memory(Machine&, size_t pe, Space);

/// `pes`: those of the launch, as indices in compiled order; connections count them from 0. The ports of each of them,
/// for its pe_ipcq. InputError, one line that begins with `what` and the connection's number, for what is not legal.
std::vector<std::vector<QueuePort>> connect_queues(Machine&, const std::vector<QueueConnection>&,
                                                   const std::vector<size_t>& pes, RingPlaces&,
                                                   const std::string& what);

}  // namespace kernbench::launch
