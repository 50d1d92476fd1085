// SPDX-License-Identifier: Apache-2.0
// Messages over the fabric's sockets that are not memory transactions: a control message (control_message.h), or a
// driver's request to the block that issues it (request_message.h). A base-protocol payload with this extension;
// sc_time_stamp() + delay of each call is its arrival time.
#pragma once

#include <cstdint>
#include <tlm>

#include "kernbench/systemc_models/core/timeline.h"

namespace kernbench::fabric {

class FabricPort;

/// Extension of the payload that it stays with.
class SocketMessage : public tlm::tlm_extension<SocketMessage> {
 public:
  explicit SocketMessage(tlm::tlm_mm_interface* pool) : payload(pool) { payload.set_extension(this); }
  ~SocketMessage() override { payload.clear_extension(this); }
  tlm::tlm_extension_base* clone() const override { return nullptr; }  // identity matters: never copied
  void copy_from(const tlm::tlm_extension_base&) override {}

  /// Messages precede all other events of their instant.
  static Order order() { return Order(Order::kEngines, 0, 0); }
  /// Arrival time at the last block that received it, ns.
  double time_ns() const { return time_ns_; }
  bool answered() const { return answered_; }

  // For the block that received it.
  /// It has arrived by that port, or its response has returned by it.
  virtual void request_in(FabricPort& in) = 0;
  virtual void response_in(FabricPort& out) = 0;

  // Next to a foreign block.
  /// It is handed over, so the payload needs data.
  virtual void show_data() {}
  /// Time passes in the foreign block, which delays it.
  void leave(uint64_t tick) { outside_tick_ = tick; }
  void come_back(uint64_t tick, const Timeline& timeline) {
    if (tick <= outside_tick_) return;
    const double ns = timeline.ns_of(tick - outside_tick_);
    time_ns_ += ns;
    late(ns);
  }
  /// A foreign block has answered it itself; response_in() follows.
  virtual void answered_outside(FabricPort& out) = 0;

  tlm::tlm_generic_payload payload;

 protected:
  virtual void late(double /*ns*/) {}

  double time_ns_ = 0;
  bool answered_ = false;

 private:
  uint64_t outside_tick_ = 0;
};

}  // namespace kernbench::fabric
