// A message that is no memory traffic: a launch, a map or unmap of virtual memory, and its response. It goes over the
// same bound sockets as memory traffic, from block to block, as a base-protocol payload of TLM_IGNORE_COMMAND with this
// note on it; at every call sc_time_stamp() + delay is when it is there.
//
// A message goes in legs: from who sends it to the next stop, past blocks that pass it on. A leg costs the overheads of
// its blocks but the last, and its wires, and its response the same; messages carry no bytes and do not contend (timing
// contract §7). Stops are ControlTargets: they end a message, or send one on to each of the next (fan_out.h).
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <tlm>
#include <vector>

#include "kernbench/systemc_models/fabric/control_address.h"
#include "kernbench/systemc_models/fabric/socket_message.h"

namespace kernbench {

class FabricNode;
struct ControlLeg;

/// What a message says; those that know it define it (pe/pe_control.h).
class ControlBody {
 public:
  virtual ~ControlBody() = default;
};

class ControlMessage;

/// A block where messages end or branch.
class ControlTarget {
 public:
  virtual ~ControlTarget() = default;
  /// The message is here, now. It is to be answered once, now or later (ControlMessage::respond).
  virtual void message_arrived(ControlMessage&) = 0;
};

/// Who has sent a message.
class ControlSender {
 public:
  virtual ~ControlSender() = default;
  /// The response is here, now; the message goes back to its pool after the call.
  virtual void response_arrived(ControlMessage&) = 0;
};

class ControlMessage : public SocketMessage {
 public:
  ControlMessage(Timeline& timeline, tlm::tlm_mm_interface* pool) : SocketMessage(pool), timeline_(timeline) {}

  MessageIds ids;
  std::shared_ptr<const ControlBody> body;
  std::shared_ptr<const ControlAddresses> addresses;
  std::vector<uint32_t> places;                 ///< the addresses that it is for
  uint32_t next_stop = ControlAddress::kStops;  ///< the first of their stops that lies behind its leg
  HostResponse response;                        ///< complete when it has arrived at the sender
  void* context = nullptr;                      ///< the sender's

  /// Sends it over a leg, which outlives it; it left the host at sent_ns and has come here offset_ns later. A leg
  /// without hops ends where it begins.
  void send(const ControlLeg&, ControlSender&, double sent_ns, double offset_ns);
  /// The answer leaves its end at at_ns.
  void respond(HostError, const std::string& text, double at_ns);

  double sent_ns() const { return sent_ns_; }
  double offset_ns() const { return offset_ns_ + leg_ns_; }

  /// The block of its leg that it goes to next.
  const FabricNode& next() const;

  // For blocks that it passes: it goes on, or its response goes back.
  void request_in(FabricPort& in) override;
  void response_in(FabricPort& out) override;
  void late(double ns) override { (answered_ ? answered_ns_ : sent_ns_) += ns; }
  /// Which nobody there can: its sender is told so.
  void answered_outside(FabricPort& out) override;

 private:
  struct Passed {
    double ns = 0;             ///< of the leg, until the block
    double overhead_ns = 0;    ///< the block's
    FabricPort* in = nullptr;  ///< where it came in behind
  };
  void fill_payload();
  void go_on();
  void go_back();
  void arrive_back();

  Timeline& timeline_;
  const ControlLeg* leg_ = nullptr;
  ControlSender* sender_ = nullptr;
  std::vector<Passed> passed_;  ///< the blocks of the leg that it has left
  // The sums are formed in the order in which the contract states them, so that they are the same to the last bit.
  double sent_ns_ = 0, offset_ns_ = 0, leg_ns_ = 0, answered_ns_ = 0;
  std::array<unsigned char, 4> no_data_{};  ///< a legal payload has some, whatever its command
};

/// Messages that are not under way; the memory manager of their payloads.
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

}  // namespace kernbench
