// SPDX-License-Identifier: Apache-2.0
// A driver's request on its way over a socket to the block that issues it, and its answer on the way back: what the
// host's uploads, read-backs and DMA are between the host and a pcie_ep. A payload of the whole request; being on that
// way costs nothing, so the block has the request at the instant at which it leaves, and the driver the answer at the
// instant of its end.
#pragma once

#include <memory>
#include <vector>

#include "kernbench/systemc_models/fabric/fabric_initiator.h"
#include "kernbench/systemc_models/fabric/socket_message.h"

namespace kernbench::fabric {

class RequestMessage : public SocketMessage {
 public:
  RequestMessage(Fabric& fabric, tlm::tlm_mm_interface* pool) : SocketMessage(pool), fabric_(fabric) {}
  void send(FabricPort& out, MemoryRequest&);
  void request_in(FabricPort& in) override;
  void response_in(FabricPort& out) override;
  void show_data() override;
  void answered_outside(FabricPort& out) override;

 private:
  static void served(MemoryRequest&, const FabricTransaction&);
  void respond();

  Fabric& fabric_;
  MemoryRequest* asked_ = nullptr;            ///< the driver's
  MemoryRequest request_;                     ///< the same, as the block at the end has it
  FabricPort* in_ = nullptr;                  ///< where it came in there
  FabricTransaction* transaction_ = nullptr;  ///< that it was, kept until the driver has been told
  std::vector<uint8_t> bytes_;                ///< what the payload points to, where a foreign block may look
};

/// A block's RequestPort as who is bound to its socket sees it. A request that waits stands for itself alone.
class RemoteRequestPort : public RequestPort, private tlm::tlm_mm_interface {
 public:
  /// Requests leave by `out`.
  explicit RemoteRequestPort(FabricPort& out) : out_(out) {}
  void request(MemoryRequest&) override;
  uint32_t line_of(bool) const override { return 0; }

 private:
  void free(tlm::tlm_generic_payload*) override;

  FabricPort& out_;
  std::vector<std::unique_ptr<RequestMessage>> all_;
  std::vector<RequestMessage*> idle_;
};

}  // namespace kernbench::fabric
