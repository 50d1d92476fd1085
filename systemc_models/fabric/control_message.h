// SPDX-License-Identifier: Apache-2.0
// A message without memory traffic: a launch, a map or unmap of virtual memory, and its response. It uses the same
// bound sockets as memory traffic: a base-protocol payload of TLM_IGNORE_COMMAND with this extension goes from block to
// block. sc_time_stamp() + delay of each call is its arrival time.
//
// A message travels in legs: from its sender to the next stop, through blocks that pass it on. A leg costs the
// overheads of its blocks except the last, and its wires; the response costs the same. Messages carry no bytes and do
// not contend (timing rules §7). Stops are ControlTargets: they end a message, or send one to each next stop
// (fan_out.h).
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <tlm>
#include <vector>

#include "kernbench/systemc_models/fabric/control_address.h"
#include "kernbench/systemc_models/fabric/socket_message.h"

namespace kernbench::fabric {

class FabricNode;
struct ControlLeg;

/// Contents of a message; its users define them (pe/pe_control.h).
class ControlBody {
 public:
  virtual ~ControlBody() = default;
};

class ControlMessage;

/// A block where messages end or branch.
class ControlTarget {
 public:
  virtual ~ControlTarget() = default;
  /// The message has arrived, now. It must be answered once, now or later (ControlMessage::respond).
  virtual void message_arrived(ControlMessage&) = 0;
};

/// Sender of a message.
class ControlSender {
 public:
  virtual ~ControlSender() = default;
  /// The response has arrived, now; the message returns to its pool after the call.
  virtual void response_arrived(ControlMessage&) = 0;
};

class ControlMessage : public SocketMessage {
 public:
  ControlMessage(Timeline& timeline, tlm::tlm_mm_interface* pool) : SocketMessage(pool), timeline_(timeline) {}

  MessageIds ids;
  std::shared_ptr<const ControlBody> body;
  std::shared_ptr<const ControlAddresses> addresses;
  std::vector<uint32_t> places;                 ///< the destination addresses
  uint32_t next_stop = ControlAddress::kStops;  ///< the first of their stops after this leg
  HostResponse response;                        ///< complete on arrival at the sender
  void* context = nullptr;                      ///< the sender's

  /// Sends it over a leg, which must outlive it. It left the host at sent_ns and arrived here offset_ns later. A leg
  /// without hops ends where it begins.
  void send(const ControlLeg&, ControlSender&, double sent_ns, double offset_ns);
  /// The response leaves the end of the leg at at_ns.
  void respond(HostError, const std::string& text, double at_ns);

  double sent_ns() const { return sent_ns_; }
  double offset_ns() const { return offset_ns_ + leg_ns_; }

  /// The next block of its leg.
  const FabricNode& next() const;

  // For passed blocks: the request continues, or its response returns.
  void request_in(FabricPort& in) override;
  void response_in(FabricPort& out) override;
  void late(double ns) override { (answered_ ? answered_ns_ : sent_ns_) += ns; }
  /// A foreign block cannot answer; the sender gets an error.
  void answered_outside(FabricPort& out) override;

 private:
  struct Passed {
    double ns = 0;             ///< of the leg, up to the block
    double overhead_ns = 0;    ///< of the block
    FabricPort* in = nullptr;  ///< input port at the block
  };
  void fill_payload();
  void go_on();
  void go_back();
  void arrive_back();

  Timeline& timeline_;
  const ControlLeg* leg_ = nullptr;
  ControlSender* sender_ = nullptr;
  std::vector<Passed> passed_;  ///< the blocks of the leg that it has left
  // Sums are formed in the order of the rules, so that they are bit-identical.
  double sent_ns_ = 0, offset_ns_ = 0, leg_ns_ = 0, answered_ns_ = 0;
  std::array<unsigned char, 4> no_data_{};  ///< a legal payload has data for any command
};

/// Messages that are not in flight; the memory manager of their payloads.
class ControlPool : private tlm::tlm_mm_interface {
 public:
  explicit ControlPool(Timeline& timeline) : timeline_(timeline) {}
  /// A new message with its request id.
  ControlMessage& acquire(uint64_t correlation);

 private:
  void free(tlm::tlm_generic_payload*) override;

  Timeline& timeline_;
  std::vector<std::unique_ptr<ControlMessage>> all_;
  std::vector<ControlMessage*> idle_;
  uint64_t last_request_ = 0;
};

}  // namespace kernbench::fabric
