// SPDX-License-Identifier: Apache-2.0
// The host's own traffic: MemoryWrite and MemoryRead as fabric transactions that a pcie_ep issues (timing rules §2),
// through NoC, UCIe and mesh to the memory, without the management processors. They reach the pcie_ep over the host's
// socket (launch_host.h), one payload each.
//
// A message goes through the first pcie_ep of the SIP that owns its address. It is cut from its first byte into chunks
// of at most 64 KiB (or the given size). All chunks of one call are issued at once, in order; the endpoint's
// `outstanding` limits the concurrent ones. Does not model the host's memory, page tables or DMA descriptors.
#pragma once

#include <functional>
#include <list>
#include <vector>

#include "kernbench/platform/launch/host_messages.h"
#include "kernbench/platform/topology/route/resolver.h"
#include "kernbench/systemc_models/fabric/fabric_initiator.h"

namespace kernbench::elaborate {
class Machine;
}

namespace kernbench::launch {

class LaunchHost;

/// Any number of transfers, also concurrently. Must outlive the simulation.
class HostTransfer {
 public:
  static constexpr uint64_t kChunkBytes = 64 * 1024;
  using Done = std::function<void(const HostResponse&)>;

  /// One transaction of any size.
  static constexpr uint64_t kWhole = ~uint64_t{0};
  explicit HostTransfer(LaunchHost&, uint64_t chunk_bytes = kChunkBytes);
  HostTransfer(const HostTransfer&) = delete;
  HostTransfer& operator=(const HostTransfer&) = delete;

  /// Issues the messages at the present (before the simulation: at 0). `done` is called once, with one response for
  /// all, when the last chunk is done. It is called at once if there are no messages or if one is impossible; then none
  /// is sent.
  void write(const std::vector<MemoryWrite>&, Done done);
  void read(const std::vector<MemoryRead>&, Done done);

  /// Checks the range without a transfer: ok or an error.
  HostResponse check(const MemoryWrite&);
  HostResponse check(const MemoryRead&);

 private:
  struct Transfer;
  struct Chunk {
    MemoryRequest request;
    RequestPort* port = nullptr;
    Transfer* transfer = nullptr;
  };
  struct Transfer {
    HostTransfer* owner = nullptr;
    HostResponse response;
    Done done;
    std::vector<Chunk> chunks;
    size_t open = 0;  ///< chunks in progress
  };
  /// The endpoint for the range, or an error.
  HostResponse find_way(bool write, uint64_t address, uint64_t nbytes, RequestPort** port);
  Transfer& begin(Done done);
  void add(Transfer&, bool write, MessageIds, uint64_t address, uint64_t nbytes, const uint8_t* data);
  void issue_soon(Transfer&);
  void issue(Transfer&);
  static void chunk_done(MemoryRequest&, const FabricTransaction&);
  void end(Transfer&);

  LaunchHost& host_;
  Machine& machine_;
  const uint64_t chunk_bytes_;
  topology::AddressResolver resolver_;
  std::list<Transfer> transfers_;
  uint64_t last_correlation_ = 0;
};

}  // namespace kernbench::launch
