// SPDX-License-Identifier: Apache-2.0
// The host's own traffic: MemoryWrite and MemoryRead as transactions of the fabric that a pcie_ep issues (timing
// contract §2), through NoC, UCIe and mesh to the memory, past the management processors. They go to the pcie_ep over
// the host's socket (launch_host.h), a payload each.
//
// A message goes by the first pcie_ep of the SIP that owns its address, cut into chunks of at most 64 KiB (or
// what is said) from its first byte. All chunks of one call are issued at once, in order; the endpoint's `outstanding`
// bounds how many are under way. Does not model: the host's memory, page tables, DMA descriptors.
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

/// Any number of transfers, also at the same time. Must outlive the simulation.
class HostTransfer {
 public:
  static constexpr uint64_t kChunkBytes = 64 * 1024;
  using Done = std::function<void(const HostResponse&)>;

  /// As one transaction, whatever the size.
  static constexpr uint64_t kWhole = ~uint64_t{0};
  explicit HostTransfer(LaunchHost&, uint64_t chunk_bytes = kChunkBytes);
  HostTransfer(const HostTransfer&) = delete;
  HostTransfer& operator=(const HostTransfer&) = delete;

  /// Issues the messages now (before the simulation: at 0). `done` is called once, with one response for all of them,
  /// when the last chunk is done; at once where there are none, and where one cannot be served: then none is sent.
  void write(const std::vector<MemoryWrite>&, Done done);
  void read(const std::vector<MemoryRead>&, Done done);

  /// Whether the range can be served, without doing it: ok or an error.
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
    size_t open = 0;  ///< chunks not done
  };
  /// The endpoint that serves the range, or an error.
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
