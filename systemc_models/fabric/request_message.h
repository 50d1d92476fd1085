// SPDX-License-Identifier: Apache-2.0
// A driver's request on its path over a socket to the block that issues it, and its response on the path back. The
// host's uploads, read-backs and DMA between the host and a pcie_ep use it. It is one payload for the complete request.
// This path takes no time: the block gets the request at the instant at which it leaves, and the driver gets the
// response at the instant of its end.
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
  MemoryRequest* asked_ = nullptr;            ///< of the driver
  MemoryRequest request_;                     ///< its copy for the issuing block
  FabricPort* in_ = nullptr;                  ///< input port at that block
  FabricTransaction* transaction_ = nullptr;  ///< its transaction, kept until the driver is notified
  std::vector<uint8_t> bytes_;                ///< data of the payload, if a foreign block may read them
};

/// A block's RequestPort for a peer of its socket. A waiting request represents only itself.
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
