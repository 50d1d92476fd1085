// SPDX-License-Identifier: Apache-2.0
// What goes over the fabric's sockets and is no memory transaction: a control message (control_message.h), a driver's
// request on its way to the block that issues it (request_message.h). A base-protocol payload with this note on it; at
// every call sc_time_stamp() + delay is when it is there.
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

  /// Messages come before whatever else happens at their instant.
  static Order order() { return Order(Order::kEngines, 0, 0); }
  /// When it is at the block that it has been handed to last, ns.
  double time_ns() const { return time_ns_; }
  bool answered() const { return answered_; }

  // For the block that it has been handed to.
  /// It has come in by that port, or its response is back by it.
  virtual void request_in(FabricPort& in) = 0;
  virtual void response_in(FabricPort& out) = 0;

  // Beside a block that is not of this project.
  /// It is handed over: what it points to must be there.
  virtual void show_data() {}
  /// Time passes outside, for which it is late when it comes back.
  void leave(uint64_t tick) { outside_tick_ = tick; }
  void come_back(uint64_t tick, const Timeline& timeline) {
    if (tick <= outside_tick_) return;
    const double ns = timeline.ns_of(tick - outside_tick_);
    time_ns_ += ns;
    late(ns);
  }
  /// A block outside has answered it itself; response_in() comes behind.
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
