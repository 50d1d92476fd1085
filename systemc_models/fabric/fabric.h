// SPDX-License-Identifier: Apache-2.0
// Shared state of the blocks of one memory fabric: the timing modes, the link mode, the resolver of addresses, and
// pools.
#pragma once

#include <algorithm>
#include <cmath>
#include <memory>
#include <vector>

#include "kernbench/systemc_models/core/context.h"
#include "kernbench/systemc_models/fabric/channel_layers.h"
#include "kernbench/systemc_models/fabric/link.h"
#include "kernbench/systemc_models/fabric/link_mode.h"
#include "kernbench/systemc_models/fabric/route.h"

namespace kernbench::fabric {

class AddressMap;
class ControlLegs;
class ControlPool;
class FabricNode;

/// Timing rules §2, §3.
struct FabricTiming {
  Links links;
  Response response = Response::ideal;
  double header_bytes = 0;  ///< added to each message on each link, or to each packet of it
  uint32_t flit_bytes = 256;
  uint32_t packet_flits = 0;    ///< maximum data of a packet, each with its own header; 0: a message is one packet
  bool proven = false;          ///< with finite buffers: the routes are proven deadlock-free
  bool finite_buffers = false;  ///< nodes with buffer_flits have that capacity (docs/flow_control.md)
};

class Fabric : public Context, private tlm::tlm_mm_interface {
 public:
  /// std::invalid_argument for flit links with ideal responses, and for flits of 0 bytes.
  explicit Fabric(const FabricTiming& timing = {});
  ~Fabric() override;

  const FabricTiming& timing() const { return timing_; }
  /// Header bytes on a link for this much data: one header for each packet, or for a message without data. Inline, so
  /// that modes that do not use headers pay nothing.
  double header_bytes(double data_bytes) const {
    if (timing_.packet_flits == 0) return timing_.header_bytes;
    const double packet = static_cast<double>(timing_.packet_flits) * timing_.flit_bytes;
    return timing_.header_bytes * std::max(1.0, std::ceil(data_bytes / packet));
  }
  bool responses_travel() const { return timing_.response == Response::routed; }
  LinkMode& mode() const { return *mode_; }

  /// Finite buffers: division of the virtual channels, before any traffic.
  const ChannelLayers& channel_layers() const { return channel_layers_; }
  void set_channel_layers(ChannelLayers layers) { channel_layers_ = std::move(layers); }

  /// The resolver of addresses: a platform's, or else the map below.
  RouteSource& routes() const { return *routes_; }
  void set_routes(RouteSource& routes) { routes_ = &routes; }
  /// For blocks made by hand: addresses of the memories.
  AddressMap& address_map() const { return *address_map_; }

  /// Messages without memory traffic, and their paths: those of a platform, or of blocks made by hand.
  ControlPool& messages() const { return *messages_; }
  ControlLegs& control_legs() const { return *control_legs_; }
  void set_control_legs(std::unique_ptr<ControlLegs>);

  // Additional functions of a fabric that stores bytes (memory/system.h).
  /// Serves a foreign initiator at a node's socket like an initiator at that node; responses go to `backward`. Null:
  /// unsupported.
  virtual std::unique_ptr<tlm::tlm_fw_transport_if<>> make_entry(FabricNode&, tlm::tlm_bw_transport_if<>* backward);
  /// Copies the known bytes of a range of memory; other bytes of `out` stay unchanged.
  virtual void known_bytes(uint64_t /*address*/, uint8_t* /*out*/, uint64_t /*nbytes*/) const {}
  /// The same for a transaction, row by row.
  void known_bytes(const FabricTransaction&, uint8_t* out) const;

  /// The payload that the mover serves, and its data, are elsewhere from now on.
  void payload_moves(DataMover&);
  /// A foreign block has answered. An error is forwarded to the foreign initiator of the transaction; the project's own
  /// initiators read it in the payload.
  void answered_outside(FabricTransaction&, tlm::tlm_response_status);

  /// Whether a block of it is connected to a foreign one.
  bool meets_foreign_blocks() const { return meets_foreign_blocks_; }
  void meet_foreign_block() { meets_foreign_blocks_ = true; }

  /// Registers blocks by their indices, for the resolver of addresses.
  void add_node(FabricNode& node);
  FabricNode* node(uint32_t index) const;
  /// A link with the lifetime of the fabric.
  Link& make_link(const LinkParameters&);

  /// An acquired transaction from the pool, with its payload; it returns to the pool when the payload is released.
  FabricTransaction& acquire();
  Flit* acquire_flit();
  void release_flit(Flit* f) { idle_flits_.push_back(f); }

 private:
  void free(tlm::tlm_generic_payload*) override;

  FabricTiming timing_;
  bool meets_foreign_blocks_ = false;
  ChannelLayers channel_layers_;
  std::unique_ptr<LinkMode> mode_;
  std::unique_ptr<AddressMap> address_map_;
  RouteSource* routes_;
  std::vector<FabricNode*> nodes_;
  std::vector<Link*> links_;
  std::vector<FabricTransaction*> all_, idle_;
  std::vector<Flit*> idle_flits_;
  std::unique_ptr<ControlPool> messages_;
  std::unique_ptr<ControlLegs> control_legs_;
};

}  // namespace kernbench::fabric
