// SPDX-License-Identifier: Apache-2.0
// Models a PE's DMA: a read and a write channel. Each is one FIFO with a number of servers, occupied from the grant to
// the completion of the item's last transaction (a GEMM tile reads its A part, then its B part). Timing rules §2, §5.
//
// Through virtual addresses, an access is one transaction for each physical piece, or with join_pieces for each memory,
// each after a look-up in the MMU's TLB (docs/timing.md). Up to `outstanding` transactions of one item are in flight,
// and each completion starts the next; look-ups of an item are sequential (access rules §15). A gather, a scatter or an
// atomic is one transaction for each memory (§16, §17).
//
// vc_comm (comm_channel.h) also sends the segments of inter-PE queues, and segments from other PEs arrive here for
// pe_ipcq (collectives rules §10.7 to §10.11). Does not model descriptors.
#pragma once

#include <deque>
#include <map>
#include <unordered_map>
#include <utility>

#include "kernbench/systemc_models/fabric/fabric_initiator.h"
#include "kernbench/systemc_models/pe/comm_channel.h"
#include "kernbench/systemc_models/pe/engine.h"

namespace kernbench::pe {

struct PeDmaParameters : EngineParameters {
  uint32_t rd_engines = 1, wr_engines = 1;
  double timeout_ns = 0;
  uint32_t outstanding = 1;
  bool join_pieces = false;
  uint64_t range_bytes = 0;
  template <class List>
  static void describe(List& list) {
    BlockParameters::describe(list);
    list.add(&PeDmaParameters::rd_engines, "rd_engines", "", "reads in service at the same time")
        .count(Limit::engines)
        .max(kMostServers);
    list.add(&PeDmaParameters::wr_engines, "wr_engines", "", "writes in service at the same time")
        .count(Limit::engines)
        .max(kMostServers);
    list.add(&PeDmaParameters::outstanding, "outstanding", "", "outstanding transactions of one item")
        .depth(Limit::outstanding)
        .max(kMostServers);
    list.add(&PeDmaParameters::join_pieces, "join_pieces", "",
             "join an operand's physical pieces in one memory into one transaction")
        .faster_if(true);
    list.add(&PeDmaParameters::range_bytes, "range_bytes", "bytes",
             "request size on links for each range after the first, in gathers, scatters and atomics")
        .max(1 << 20);
    describe_timeout(list, &PeDmaParameters::timeout_ns);
    describe_queue(list);
  }
  static constexpr double kMostServers = 65535;
};

class PeDma : public Engine, public FabricNode, public FabricInitiator, public RequestPort, public CommSource {
 public:
  using Parameters = PeDmaParameters;
  FabricInitiatorSocket out{"out", *this};
  FabricTargetSocket in{"in", *this};  ///< for messages of other PEs

  PeDma(sc_core::sc_module_name name, const ComponentConfig& config, const Parameters& parameters = {});
  static ImplSpec spec() {
    return spec_of<Parameters>("builtin.pe_dma", "pe_dma",
                               "a PE's DMA, which reads and writes data of commands and tiles")
        .initiator()
        .engine({{{Stage::dma_read, StageWork::reads, "rd"}, {Stage::dma_write, StageWork::writes, "wr"}}, true, true})
        .leads_to({"pe_fetch_store", "pe_mmu", "pe_ipcq"});
  }

  void join(Pe& pe) override;
  void leads_to(PePort& out, PeBlock& next) override;
  tlm::tlm_sync_enum item_in(PeItem&, PePort& in, tlm::tlm_phase&) override;
  FabricNode* fabric_node() override { return this; }
  FabricInitiatorSocket* initiator_socket() override { return &out; }
  FabricInitiator* initiator() override { return this; }
  FabricTargetSocket* target_socket() override { return &in; }
  RequestPort* request_port() override { return this; }
  tlm::tlm_sync_enum request_in(FabricTransaction&, FabricPort& in, tlm::tlm_phase&, sc_core::sc_time& delay) override;
  uint64_t op_id_of(const FabricTransaction&) const override;
  const MemoryRequest* request_of(const FabricTransaction&) const override;
  void effect_known(FabricTransaction&) override;
  void message_left(FabricTransaction&, double free_ns) override;
  void message_bytes(const FabricTransaction&, uint8_t* bytes) const override;

  /// A driver's request is a simple command that enters the channel's queue.
  void request(MemoryRequest& r) override { enqueue(static_cast<uint8_t>(line_of(r.write)), r); }
  uint32_t line_of(bool write) const override { return write ? kWrite : kRead; }

 private:
  static constexpr uint8_t kRead = 0, kWrite = 1;  // channels: indices of the engine's units

  PeItem& driver_item(MemoryRequest&) override;
  void driver_item_done(PeItem& item) override { items_.give_back(item); }
  void begin(uint8_t unit, uint16_t server) override;
  void first_turns(PeItem&);
  bool turn(PeItem&);
  bool next_transaction(PeItem&, Access&, bool& asks);
  bool next_of_parts(PeItem&, Access&, bool& asks);
  bool next_joined(PeItem&, Access&);
  double ask_mmu(PeItem&, const Access&);
  void join(PeItem&, const TilePart&);
  void end_item(PeItem&);
  RangedAccess::Part* part_of(const FabricTransaction&) const;
  void part_done(RangedAccess::Part&, const FabricTransaction&);
  void record(RangedAccess::Part&);
  void check_passed(const PeItem&, FabricTransaction&);
  void looked_up(PeItem&);
  void start_part(const Access&);
  Order turn_order(Stage, uint16_t server) const;
  Order done_order(const FabricTransaction&) const override;
  std::string op_of(const FabricTransaction&) const override;
  void transaction_failed(FabricTransaction&, const std::string& why) override;
  void transaction_done(FabricTransaction&) override;

  // Messages between PEs.
  void granted(QueueSegment&) override;
  void send_credit(QueueSegment&);
  void segment_comes(FabricTransaction&, FabricPort& in);
  void segment_here(FabricTransaction&);
  void credit_here(FabricTransaction&);
  void credit_counts(FabricTransaction&);
  Order credit_order() const { return Order(Order::kCredits, pe().order, 0); }

  PePort* mmu_ = nullptr;
  PePort* ipcq_ = nullptr;  ///< null: none
  CommChannel comm_;
  /// For each queue that ends here, by the receiver's port: segments of a queue do not overtake.
  struct Arrivals {
    uint64_t launch = 0, next = 0;  ///< number of the next segment
    double last_ns = 0;             ///< time of the last header
    Order order;
    std::map<uint64_t, std::pair<FabricTransaction*, FabricPort*>>
        early;  ///< by number: segments that arrived before their predecessors
  };
  void segment_follows(Arrivals&, FabricTransaction&, FabricPort& in);
  void segment_arrives(FabricTransaction&, FabricPort& in);
  std::vector<Arrivals> arrivals_;
  PeItemPool items_;  ///< of drivers' requests
  const uint32_t outstanding_;
  const bool join_pieces_;
  const uint64_t range_bytes_;
  std::unordered_map<PeItem*, Access> looking_up_;
  /// Pieces of an item in one memory, with the query for the MMU.
  struct Joined {
    RangeGroup group;
    uint64_t asked_address = 0;
    std::vector<AccessRange> asked;
  };
  struct JoinedParts {
    std::deque<Joined> groups;  ///< until the item has ended
    size_t next = 0;
  };
  std::unordered_map<const PeItem*, JoinedParts> joined_;
};

}  // namespace kernbench::pe
