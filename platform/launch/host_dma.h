// SPDX-License-Identifier: Apache-2.0
// The endpoint's DMA between device and host memory: chunks of 4 KiB, at most 16 at a time. Each is one request of the
// pcie_ep and one transaction on the initiator socket to host memory.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "kernbench/systemc_models/memory/base_protocol_target.h"
#include "kernbench/systemc_models/protocol/base_protocol_initiator.h"

namespace kernbench::elaborate {
class Machine;
}

namespace kernbench::launch {

class LaunchHost;

class HostDma {
 public:
  static constexpr uint64_t kChunkBytes = 4096;
  static constexpr size_t kUnderWay = 16;
  /// Called once, when the last chunk is done, with an empty text or a one-line error.
  using Done = std::function<void(const std::string& error)>;

  HostDma(LaunchHost& host, uint32_t pcie_ep, BaseProtocolTarget& transport, BaseProtocolInitiator& memory);
  ~HostDma();
  bool running() const { return running_; }
  /// Starts at the present, on the timeline. Returns the error, or an empty text.
  std::string start(bool to_host, uint64_t device, uint64_t host, uint64_t nbytes, Done done);

 private:
  struct Chunk;
  void next(Chunk&);
  void ask_device(Chunk&);
  void device_done(Chunk&);
  void host_done(Chunk&);
  void chunk_done(Chunk&);

  Machine& machine_;
  RequestPort& device_;
  uint32_t pcie_ep_;
  BaseProtocolTarget& transport_;
  BaseProtocolInitiator& host_;
  std::vector<std::unique_ptr<Chunk>> chunks_;
  bool running_ = false, to_host_ = false;
  uint64_t device_at_ = 0, host_at_ = 0, left_ = 0;
  size_t open_ = 0;
  std::string error_;
  Done done_;
};

}  // namespace kernbench::launch
