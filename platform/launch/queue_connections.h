// SPDX-License-Identifier: Apache-2.0
// Connects the inter-PE queues of a launch (collectives rules §10.1 to §10.5): checks the declarations, places the
// rings, and configures the ports of each pe_ipcq. Takes no time and sends no message.
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

/// Memory for rings.
class RingPlaces {
 public:
  virtual ~RingPlaces() = default;
  /// Contiguous room for a ring of the PE (index in compiled order); returns its address in the space. InputError with
  /// the requested size, the free size and the PE.
  virtual uint64_t place(size_t pe, Space, uint64_t nbytes) = 0;
};

/// Rings in memories without other users: consecutive from each memory's start.
class RingsAlone : public RingPlaces {
 public:
  explicit RingsAlone(Machine& machine) : machine_(machine) {}
  uint64_t place(size_t pe, Space, uint64_t nbytes) override;

 private:
  Machine& machine_;
  std::vector<uint64_t> tcm_used_, memory_used_;  ///< by PE; by memory
};

/// A ring at a PE with a pe_ipcq, without its place and costs. Fields that are not chosen get the defaults of the
/// pe_ipcq (§10.3).
QueueRing ring_at(const Pe&, const RingChoice&);

/// The memory of the space with the best route from the PE's pe_dma: by distance, hops, then compiled order (§10.4).
/// Returns an index into Graph::memories, or its size if none is reachable.
size_t nearest_memory(Machine&, size_t pe, Space);

/// `pes`: PEs of the launch, as indices in compiled order; connections number them from 0. Returns the ports of each PE
/// for its pe_ipcq. InputError, one line that starts with `what` and the connection's number, for an illegal
/// connection.
std::vector<std::vector<QueuePort>> connect_queues(Machine&, const std::vector<QueueConnection>&,
                                                   const std::vector<size_t>& pes, RingPlaces&,
                                                   const std::string& what);

}  // namespace kernbench::launch
