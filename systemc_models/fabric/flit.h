// SPDX-License-Identifier: Apache-2.0
// Flit mode (timing rules §3, `links: flit`): messages move flit by flit, so merging streams share a link.
#pragma once

#include <algorithm>
#include <vector>

#include "kernbench/systemc_models/fabric/transaction.h"

namespace kernbench::fabric {

struct Branch;
struct InputChannel;

struct alignas(64) Flit {
  // The members that each hop accesses fit one cache line.
  FabricTransaction* transaction = nullptr;
  double time_ns = 0;
  Order order;
  double bytes = 0;
  double list_bytes = 0;  ///< additional length on links: the request's list of ranges
  uint32_t index = 0;     ///< in its message
  uint32_t ready_by = 0;  ///< the flit whose arrival made it ready at the node; at a store-and-forward node, the last
                          ///< flit
  uint32_t node = 0;      ///< position on the way
  bool last = false;
  bool response = false;
  bool header = false;  ///< header of a packet; its address is that of the first byte after it
  bool slowed = false;  ///< most_gbs limits its rate on the next link
  uint64_t address = 0;
  // Finite buffers (wormhole_links.h).
  enum class State : uint8_t { coming, here, ready, joins };
  /// State at the node: coming to it, stored there, ready to continue; or an acknowledgement that may wait for others.
  State state = State::coming;
  uint32_t channel = 0;        ///< in its class: the channel by which it came to the node
  uint32_t layer = 0;          ///< for a message's first flit: layer of virtual channels (channel_layers.h)
  InputChannel* at = nullptr;  ///< the channel in which it waits
  Flit* behind = nullptr;      ///< the next one in its queue
  uint64_t turn = 0;           ///< its number in the order of readiness
  Branch* branch = nullptr;    ///< at a fork: for a copy its queue, for the flit in the buffer the first branch
  double most_gbs = 0;         ///< for the flit of a sum: maximum rate on the next link, GB/s

  double data_bytes() const { return header ? 0 : bytes; }
};

/// Flits of one message that move together: one, or several of x.flits from it on.
struct FlitTrain {
  Flit& first;
  uint32_t count;
  Flit& operator[](uint32_t i) const { return i == 0 ? first : *first.transaction->flits[first.index + i]; }
  Flit& last() const { return (*this)[count - 1]; }
};

/// The same as for its transaction.
[[noreturn]] inline void blame(const TimeBeyondRange& e, const Flit& f) {
  blame(e, *f.transaction);
}

/// Buffer space that a flit frees (wormhole_links.h), on its path back over the link by which the flit came.
struct Credit {
  uint32_t channel = 0;
  uint32_t message_class = 0;
  double time_ns = 0;  ///< arrival at the sender
};

/// The flits of a message that passes a foreign block, which sees it as one payload.
struct FlitStream {
  const FabricPort* from = nullptr;  ///< port to the foreign block
  FabricPort* to = nullptr;          ///< port from which the message has come out; null: not yet
  bool response = false;
  bool answered = false;  ///< the block has answered itself before all flits arrived; the others end there
  double first_ns = 0, shift_ns = 0;
  uint64_t shift_bytes = 0;    ///< change of the addresses by the block, modulo 2^64
  std::vector<Flit*> waiting;  ///< leave with the message or after it
};

/// Division of a message's data into flits.
struct FlitCuts {
  uint32_t flit_bytes = 0;
  uint32_t packet_flits = 0;  ///< flits of data after each header; 0: no headers
  double header_bytes = 0;
};

/// Number of flits of a message of `nbytes` to the address, headers of packets included.
inline uint64_t count_flits(uint64_t address, uint64_t nbytes, const FlitCuts& cuts) {
  if (nbytes == 0) return 1;
  const uint64_t data = (address % cuts.flit_bytes + nbytes - 1) / cuts.flit_bytes + 1;
  return cuts.packet_flits == 0 ? data : data + (data - 1) / cuts.packet_flits + 1;
}

/// Visits the flits of a memory range in address order: visit(address, bytes). Adjacent rows are one range. Cuts are at
/// multiples of flit_bytes of the address.
template <class Visit>
void for_each_flit(uint64_t address, const Rows& rows, uint32_t flit_bytes, Visit visit) {
  for_each_range(address, rows, [&](uint64_t at, uint64_t left) {
    while (left > 0) {
      const uint64_t take = std::min<uint64_t>(left, flit_bytes - at % flit_bytes);
      visit(at, take);
      at += take;
      left -= take;
    }
  });
}

/// The same with the headers of packets: visit(address, bytes, header).
template <class Visit>
void for_each_flit_of_packets(uint64_t address, const Rows& rows, const FlitCuts& cuts, Visit visit) {
  uint32_t left = 0;  // left in the packet
  for_each_flit(address, rows, cuts.flit_bytes, [&](uint64_t at, uint64_t bytes) {
    if (cuts.packet_flits > 0 && left == 0) {
      visit(at, cuts.header_bytes, true);
      left = cuts.packet_flits;
    }
    if (left > 0) --left;
    visit(at, static_cast<double>(bytes), false);
  });
}

}  // namespace kernbench::fabric
