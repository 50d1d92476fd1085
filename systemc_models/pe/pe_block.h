// SPDX-License-Identifier: Apache-2.0
// A block of a PE: its sockets for commands and items (pe_port.h), and the handling of incoming ones. roles.h has the
// further interfaces of each kind.
#pragma once

#include <utility>
#include <vector>

#include "kernbench/systemc_models/core/component.h"
#include "kernbench/systemc_models/pe/pe_port.h"
#include "kernbench/systemc_models/protocol/port_sockets.h"

namespace kernbench::pe {

struct Pe;

/// Any number of peers.
using CommandTargetSocket = PortTargetSocket<pe_command_protocol, PeBlock, PePort>;
using CommandInitiatorSocket = PortInitiatorSocket<pe_command_protocol, PeBlock, PePort>;

class PeBlock {
 public:
  explicit PeBlock(Component& owner) : owner_(owner) {}
  PeBlock(const PeBlock&) = delete;
  PeBlock& operator=(const PeBlock&) = delete;
  virtual ~PeBlock() = default;

  Component& block() const { return owner_; }
  /// Overhead of the block for its work in the PE, ns.
  double block_overhead_ns() const { return owner_.overhead_ns(); }
  PePort& port_for_binding() { return *new (owner_.context().arena().allocate(sizeof(PePort))) PePort(*this); }

  /// The sockets; null if it has none in that direction.
  virtual CommandTargetSocket* command_target() { return nullptr; }
  virtual CommandInitiatorSocket* command_initiator() { return nullptr; }
  /// Whether it accepts items of the stage.
  virtual bool serves(Stage) const { return false; }

  /// Binds a foreign block's target (initiator) socket to its opposite socket; returns the port to it.
  PePort& bind_target(tlm::tlm_fw_transport_if<pe_command_protocol>&,
                      sc_core::sc_port_b<tlm::tlm_bw_transport_if<pe_command_protocol>>&);
  PePort& bind_initiator(sc_core::sc_port_b<tlm::tlm_fw_transport_if<pe_command_protocol>>&,
                         tlm::tlm_bw_transport_if<pe_command_protocol>&);

  // Called before elaboration ends: sets its PE, and, for each edge inside the PE, the block at the other end of an
  // outgoing or incoming port. (An observer in between is transparent.)
  virtual void join(Pe&) {}
  virtual void leads_to(PePort& /*out*/, PeBlock& /*next*/) {}
  virtual void called_by(PePort& /*in*/, PeBlock& /*before*/) {}
  /// Calls leads_to(), and stores the path.
  void add_way(PePort& out, PeBlock& next);
  /// The port to a neighbour with that role; null if there is none.
  template <class Role>
  PePort* way_to() const {
    for (const auto& [next, out] : ways_) {
      if (dynamic_cast<Role*>(next)) return out;
    }
    return nullptr;
  }

  /// An item has arrived.
  virtual tlm::tlm_sync_enum item_in(PeItem&, PePort& in, tlm::tlm_phase&);
  /// END_REQ or BEGIN_RESP of an item has returned.
  virtual tlm::tlm_sync_enum answer_in(PeItem&, PePort& out, tlm::tlm_phase&);
  /// Stores the time of the item's access in item.answer_ns.
  virtual void asked(PeItem&, PePort& /*in*/) {}

 private:
  Component& owner_;
  std::vector<std::pair<PeBlock*, PePort*>> ways_;
};

/// The ports to the blocks that serve the stages.
class StageWays {
 public:
  void add(PePort& out, const PeBlock& next);
  PePort& operator[](Stage s) const { return *ways_[static_cast<size_t>(s)]; }

 private:
  PePort* ways_[kMostStages] = {};
};

/// Binds a's initiator socket to b's target socket, and informs both.
void connect(PeBlock& a, PeBlock& b);

}  // namespace kernbench::pe
