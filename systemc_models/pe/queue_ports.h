// SPDX-License-Identifier: Apache-2.0
// Ports of a PE's inter-PE queues (collectives rules §10.1 to §10.5). The code that connects them for a launch sets
// these data once.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "kernbench/phase2/op/op.h"
#include "kernbench/systemc_models/core/parameters.h"

namespace kernbench::fabric {
struct Route;
class RouteSource;
}  // namespace kernbench::fabric

namespace kernbench::pe {

struct Pe;

/// Cost of writing or reading a slot (§10.5). ns, GB/s.
struct SlotCost {
  double access_ns = 0, bw_gbs = 1;
  double hop_ns = 0;      ///< overheads and wires between pe_dma and the ring's memory; 0 in TCM
  double hop_bw_gbs = 0;  ///< minimum bandwidth on that path; 0: none
  bool operator==(const SlotCost& o) const {
    return access_ns == o.access_ns && bw_gbs == o.bw_gbs && hop_ns == o.hop_ns && hop_bw_gbs == o.hop_bw_gbs;
  }
  double of(uint64_t nbytes) const {
    const auto bytes = static_cast<double>(nbytes);
    return access_ns + bytes / bw_gbs + (hop_ns + (hop_bw_gbs > 0 ? bytes / hop_bw_gbs : 0));
  }
};

/// The ring of slots at a queue's receiver; its slots are contiguous.
struct QueueRing {
  uint32_t slots = 0;
  uint64_t slot_bytes = 0;
  Space space = Space::tcm;
  uint32_t pe = kNoPe;  ///< Number of segments of a message in this ring.
  uint64_t addr = 0;
  SlotCost write, read;

  uint64_t slot_address(uint64_t segment) const { return addr + segment % slots * slot_bytes; }
};

/// Sets the slot costs of a placed ring at the PE (§10.5): the path there, and the tier's costs from its pe_ipcq.
/// AccessError if there is no path.
void price_ring(const Pe& at, RouteSource&, QueueRing*);

/// A protocol of messages, as a pe_ipcq declares it (§10.17). Its default costs nothing.
struct Protocol {
  double start_ns = 0, message_ns = 0;
  double bw_gbs = 0;  ///< at most; 0: no limit
  double paced_ns(uint64_t nbytes) const { return bw_gbs > 0 ? static_cast<double>(nbytes) / bw_gbs : 0; }
};

/// A port: one end of a connection, which is two queues.
struct QueuePort {
  std::string name;
  std::string protocol;  ///< of messages that leave; empty: by their size
  std::string peer_pe, peer_port_name;
  uint32_t peer_index = 0;              ///< of the PE at the other end, in compiled order
  uint32_t peer_port = 0;               ///< index among that PE's ports
  uint32_t peer_dma = 0;                ///< index of that PE's pe_dma
  QueueRing ring;                       ///< for incoming messages
  QueueRing peer_ring;                  ///< for outgoing messages
  const Route* route = nullptr;         ///< of outgoing messages
  const Route* credit_route = nullptr;  ///< of credits for incoming messages

  /// Connects it, in PE `from`, with that port of PE `to`, which has a name and a ring. AccessError if there is no path
  /// there or back.
  void lead(const Pe& from, const Pe& to, const QueuePort& peer, uint32_t place_of_peer, RouteSource&);
};

/// Error text for a message to several ports (indices into `all`) if two of them lead to one PE; else empty.
std::string fault_of_send_all(const std::vector<QueuePort>& all, const std::vector<uint32_t>& ports);

/// A send or a receive that waits, for reports.
struct QueueWait {
  uint64_t seq = 0;         ///< of the waiting call
  uint32_t peer_index = 0;  ///< the PE that it waits for
  std::string text;         ///< "recv on W: nothing sent by sip0.cube0.pe1"
};

/// Parameters that a pe_ipcq declares (§10.3).
struct QueueParameters : BlockParameters {
  uint32_t slots = 4;
  uint64_t slot_bytes = 4096;
  std::string tier = "tcm";
  NumberMap access_ns = {{"tcm", 0}, {"sram", 2}, {"hbm", 6}};
  NumberMap write_bw_gbs = {{"tcm", 512}, {"sram", 512}, {"hbm", 256}};
  NumberMap read_bw_gbs = write_bw_gbs;
  uint32_t credit_bytes = 16;
  bool credit_blocks = false;
  NumberMap protocol_message_ns, protocol_start_ns, protocol_bw_gbs, protocol_up_to_bytes;

  static constexpr uint32_t kMostSlots = 65536;
  static constexpr uint64_t kSlotUnit = 64, kMostSlotBytes = uint64_t{1} << 30;

  template <class List>
  static void describe(List& list) {
    const std::vector<std::string> tiers = {"tcm", "sram", "hbm"};
    list.add(&BlockParameters::overhead_ns, "overhead_ns", "ns", "overhead of each send and recv, in the calling PE")
        .overhead();
    list.add(&QueueParameters::slots, "slots", "", "slots of each ring at this PE").depth(Limit::slots).max(kMostSlots);
    list.add(&QueueParameters::slot_bytes, "slot_bytes", "bytes",
             "size of a slot; longer messages are split into segments")
        .depth(Limit::slots)
        .min(kSlotUnit)
        .max(static_cast<double>(kMostSlotBytes))
        .multiple_of(kSlotUnit);
    list.add(&QueueParameters::tier, "tier", "", "memory of this PE's rings").choices(tiers).of(Resource::queues);
    list.add(&QueueParameters::access_ns, "access_ns", "ns",
             "latency of each access to a slot, by tier (tcm 0, sram 2, hbm 6)")
        .latency(Resource::queues)
        .choices(tiers);
    list.add(&QueueParameters::write_bw_gbs, "write_bw_gbs", "GB/s",
             "bandwidth into a slot, by tier (tcm, sram 512, hbm 256)")
        .rate(Resource::queues)
        .choices(tiers);
    list.add(&QueueParameters::read_bw_gbs, "read_bw_gbs", "GB/s",
             "bandwidth out of a slot, by tier (tcm, sram 512, hbm 256)")
        .rate(Resource::queues)
        .choices(tiers);
    list.add(&QueueParameters::credit_bytes, "credit_bytes", "bytes", "a credit's payload").min(1).max(4096);
    list.add(&QueueParameters::credit_blocks, "credit_blocks", "",
             "a recv returns only when its last credit has reached the sender")
        .faster_if(false);
    list.add(&QueueParameters::protocol_message_ns, "protocol_message_ns", "ns",
             "delay of each message, by protocol; declares the protocols (collectives rules 10.17)")
        .latency(Resource::queues);
    list.add(&QueueParameters::protocol_start_ns, "protocol_start_ns", "ns",
             "delay of a PE's first message of a launch, by protocol (0)")
        .latency(Resource::queues);
    list.add(&QueueParameters::protocol_bw_gbs, "protocol_bw_gbs", "GB/s",
             "bandwidth of a PE's messages at most, by protocol (no limit)")
        .rate(Resource::queues);
    list.add(&QueueParameters::protocol_up_to_bytes, "protocol_up_to_bytes", "bytes",
             "longest message that takes the protocol by its size, by protocol (no limit); 0: none")
        .min(0);
  }

  std::optional<AttrFault> fault_together() const;

  std::vector<std::string> protocols() const;
  bool has_protocols() const { return !protocol_message_ns.empty(); }
  /// The named one; without a name, that of a message of this size: the least limit that it keeps.
  Protocol protocol(const std::string& name, uint64_t nbytes) const;

  /// By tier. A map that names some tiers leaves the others at their defaults.
  double access(const std::string& in_tier) const { return of_tier(access_ns, defaults().access_ns, in_tier); }
  double write_bw(const std::string& in_tier) const { return of_tier(write_bw_gbs, defaults().write_bw_gbs, in_tier); }
  double read_bw(const std::string& in_tier) const { return of_tier(read_bw_gbs, defaults().read_bw_gbs, in_tier); }
  /// Costs of a slot in a ring of the tier, without the path to it.
  void price(QueueRing* ring, const std::string& in_tier) const {
    ring->write.access_ns = ring->read.access_ns = access(in_tier);
    ring->write.bw_gbs = write_bw(in_tier);
    ring->read.bw_gbs = read_bw(in_tier);
  }

 private:
  static const QueueParameters& defaults() {
    static const QueueParameters d;
    return d;
  }
  static double of_tier(const NumberMap& given, const NumberMap& otherwise, const std::string& in_tier) {
    const auto it = given.find(in_tier);
    return it != given.end() ? it->second : otherwise.at(in_tier);
  }
};

}  // namespace kernbench::pe
