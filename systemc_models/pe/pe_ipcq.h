// SPDX-License-Identifier: Apache-2.0
// Models a PE's end of the queues between PEs (collectives rules §10). Segments of a send take slots of the receiver's
// ring as credits allow, and leave through pe_dma's vc_comm. Arriving segments pass two FIFO servers, inbound and slot
// writer, and are then visible. Receives match messages in order; a FIFO slot reader reads their segments, each of
// which then returns its credit. No process: events are entries on the timeline. Does not model virtual addresses, or
// traffic of rings on links and at memories (a slot's cost is arithmetic, §10.5).
#pragma once

#include <deque>
#include <functional>
#include <set>
#include <string>
#include <vector>

#include "kernbench/systemc_models/core/ring.h"
#include "kernbench/systemc_models/pe/pe.h"
#include "kernbench/systemc_models/pe/pe_block.h"
#include "kernbench/systemc_models/pe/queue_message.h"

namespace kernbench::pe {

class PeIpcq : public Component, public PeBlock, public IpcqRole {
 public:
  using Parameters = QueueParameters;
  CommandTargetSocket command_in{"command_in", *this};
  CommandInitiatorSocket command_out{"command_out", *this};

  PeIpcq(sc_core::sc_module_name name, const ComponentConfig& config, const Parameters& parameters = {});
  static ImplSpec spec();

  // PeBlock.
  PeBlock* pe_block() override { return this; }
  CommandTargetSocket* command_target() override { return &command_in; }
  CommandInitiatorSocket* command_initiator() override { return &command_out; }
  void join(Pe& pe) override { pe_ = &pe; }
  void leads_to(PePort& out, PeBlock& next) override;
  tlm::tlm_sync_enum item_in(PeItem&, PePort& in, tlm::tlm_phase&) override;
  tlm::tlm_sync_enum answer_in(PeItem&, PePort& out, tlm::tlm_phase&) override;

  // IpcqRole.
  const QueueParameters& queue_parameters() const override { return parameters_; }
  void open_ports(std::vector<QueuePort>, uint64_t launch) override;
  const std::vector<QueuePort>& ports() const override { return ports_; }
  std::string close_ports() override;
  void discard_messages() override { discarded_.insert(launch_); }
  void on_left_over(std::function<void(const std::string&)> tell) override { tell_left_over_ = std::move(tell); }
  std::vector<QueueServerStatistics> queue_statistics() const override;
  std::vector<QueueTraffic> queue_traffic() const override;
  size_t segments_under_way() const override { return under_way_; }
  std::vector<QueueWait> queue_waits() const override;

 private:
  /// A state in which a port's calls are blocked.
  struct Standstill {
    bool stands = false;
    double since_ns = 0;
  };
  /// Traffic of a port.
  struct Traffic {
    uint32_t free_slots = 0;  ///< of the peer's ring, as known here
    uint32_t fill = 0;        ///< segments in the ring that are visible and unread
    Standstill no_slot, no_message;
    size_t queue = 0;             ///< index of the incoming queue in queues_
    double stands_ns = 0;         ///< time at which the newest send enters the list
    uint64_t sent = 0;            ///< messages in the queue, or sent
    uint64_t segments = 0;        ///< their segments with slots
    Ring<QueueCall*> sends;       ///< with segments that have no slot yet
    Ring<uint64_t> in_slots;      ///< numbers of the messages whose segments have slots of the peer
    uint64_t written = 0;         ///< segments that have arrived
    Ring<QueueSegment*> visible;  ///< not claimed by a receive
    Ring<QueueCall*> receives;    ///< with segments that are not ready yet
    uint32_t receiving = 0;       ///< unfinished receives
    uint64_t received = 0;        ///< messages matched by a receive
  };
  void stand(QueueCall&);
  double after_protocol_ns(QueueCall&);
  Protocol protocol_of(uint32_t port, uint64_t nbytes) const;
  void stands(QueueCall&);
  uint64_t slot_bytes_of(QueueCall&) const;
  uint64_t segments_of(QueueCall&) const;
  bool has_slots(QueueCall&);
  void take_slots(uint32_t port);
  void send_segment(QueueCall&);
  void released(QueueSegment&);
  void credit_back(QueueSegment&);

  void arrived(QueueSegment&);
  bool left_over(const QueueSegment&);
  void became_visible(QueueSegment&);
  void match(uint32_t port);
  bool claims(QueueCall&, QueueSegment&);
  void choose_soon();
  void choose();
  void ready(QueueSegment&, QueueCall&);
  void read_soon();
  void read();
  void read_ended();
  void credited(QueueCall&);
  void complete(QueueCall&);
  void fail(QueueCall&, std::string what);
  std::string told(const char* call, uint32_t port) const;

  // Statistics: pe_ipcq_statistics.cpp.
  void find_queues();
  void note_no_slot(uint32_t port, bool stands);
  void note_no_message(uint32_t port, bool stands);
  void note_standstill(uint32_t port, QueueStall, Standstill&, Waits&, bool stands);
  void note_read(const QueueSegment&);
  void tell_port(uint32_t port) const;
  void tell_served(QueueServer, const QueueSegment&, double from, double to) const;

  // Contents of segments: pe_ipcq_records.cpp.
  TensorRef slot_of(const QueueSegment&) const;
  void write_slot(QueueSegment&);
  void read_slot(QueueSegment&);

  QueueSegment& take_segment();
  void recycle(QueueSegment&);

  const Parameters parameters_;
  Pe* pe_ = nullptr;
  PePort* dma_ = nullptr;
  std::vector<QueuePort> ports_, ports_before_;  ///< of this launch; of the previous one
  std::deque<Traffic> traffic_;                  ///< by port
  bool open_ = false;
  bool started_ = false;   ///< this launch has had a send or a receive
  double started_ns_ = 0;  ///< end of its protocol's start
  uint64_t launch_ = 0, launch_before_ = 0;
  std::set<uint64_t> discarded_;  ///< aborted launches
  std::function<void(const std::string&)> tell_left_over_;

  double inbound_free_ns_ = 0, writer_free_ns_ = 0;
  QueueServerStatistics comm_{"comm"}, inbound_{"in"}, writer_{"wr"}, reader_{"rd"};
  Waits no_slot_, no_message_, credit_;
  std::vector<QueueTraffic> queues_;  ///< queues that end here, over all launches
  QueueCall* choosing_ = nullptr;     ///< the recv_any that has no message yet
  bool choice_due_ = false;
  std::string last_chosen_;  ///< the port taken by the last of them

  SegmentLine ready_;
  QueuedSegment reading_;  ///< in the slot reader; segment null: none
  double read_start_ns_ = 0;
  bool read_due_ = false;
  std::vector<std::unique_ptr<QueueSegment>> segments_;  ///< sent by this PE
  QueueSegment* idle_ = nullptr;                         ///< unused ones
  size_t under_way_ = 0;                                 ///< in use
};

}  // namespace kernbench::pe
