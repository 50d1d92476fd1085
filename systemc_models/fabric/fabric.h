// What the blocks of one memory fabric share: the timing modes, the law of the links, who resolves addresses, and
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

namespace kernbench {

class AddressMap;
class ControlLegs;
class ControlPool;
class FabricNode;

/// Timing contract §2, §3.
struct FabricTiming {
  Links links;
  Response response = Response::ideal;
  double header_bytes = 0;  ///< added to every message on every link, or to every packet of one
  uint32_t flit_bytes = 256;
  uint32_t packet_flits = 0;  ///< data of a packet at most, each behind a header of its own; 0: a message is one packet
  bool proven = false;        ///< with finite buffers, that the routes cannot come to a deadlock
  bool finite_buffers = false;  ///< nodes that say buffer_flits have no more (docs/flow_control.md)
};

class Fabric : public Context, private tlm::tlm_mm_interface {
 public:
  /// std::invalid_argument for flit links with ideal responses, or flits of no bytes.
  explicit Fabric(const FabricTiming& timing = {});
  ~Fabric() override;

  const FabricTiming& timing() const { return timing_; }
  /// What the headers of so many bytes of data add on a link: one for each packet, or for a message without data.
  /// Inline: a mode that does not ask for them does without them.
  double header_bytes(double data_bytes) const {
    if (timing_.packet_flits == 0) return timing_.header_bytes;
    const double packet = static_cast<double>(timing_.packet_flits) * timing_.flit_bytes;
    return timing_.header_bytes * std::max(1.0, std::ceil(data_bytes / packet));
  }
  bool responses_travel() const { return timing_.response == Response::routed; }
  LinkMode& mode() const { return *mode_; }

  /// Finite buffers: how the virtual channels are divided, before anything is sent.
  const ChannelLayers& channel_layers() const { return channel_layers_; }
  void set_channel_layers(ChannelLayers layers) { channel_layers_ = std::move(layers); }

  /// Who resolves addresses: a platform, or else the map below.
  RouteSource& routes() const { return *routes_; }
  void set_routes(RouteSource& routes) { routes_ = &routes; }
  /// Of blocks made by hand: which memory has which addresses.
  AddressMap& address_map() const { return *address_map_; }

  /// Messages that are no memory traffic, and their ways: a platform's, or those of blocks made by hand.
  ControlPool& messages() const { return *messages_; }
  ControlLegs& control_legs() const { return *control_legs_; }
  void set_control_legs(std::unique_ptr<ControlLegs>);

  // What a fabric that keeps bytes (memory/system.h) has more.
  /// Serves a foreign initiator at a node's socket, as if it were an initiator there; it answers to `backward`. Null:
  /// nobody does.
  virtual std::unique_ptr<tlm::tlm_fw_transport_if<>> make_entry(FabricNode&, tlm::tlm_bw_transport_if<>* backward);
  /// What memory holds of a range that is known; other bytes stay as they are.
  virtual void known_bytes(uint64_t /*address*/, uint8_t* /*out*/, uint64_t /*nbytes*/) const {}
  /// The same of a transaction, row behind row.
  void known_bytes(const FabricTransaction&, uint8_t* out) const;

  /// A foreign block has answered: an error is passed on to the foreign initiator whose transaction it is; the
  /// project's own initiators see it in the payload.
  void answered_outside(FabricTransaction&, tlm::tlm_response_status);

  /// Whether any block of it stands beside a foreign one.
  bool meets_foreign_blocks() const { return meets_foreign_blocks_; }
  void meet_foreign_block() { meets_foreign_blocks_ = true; }

  /// Blocks by their indices, for who resolves addresses.
  void add_node(FabricNode& node);
  FabricNode* node(uint32_t index) const;
  /// A link that lives as long as the fabric.
  Link& make_link(const LinkParameters&);

  /// A transaction from the pool, with its payload, acquired; back to the pool when that has been released.
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

}  // namespace kernbench
