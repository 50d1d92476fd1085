// SPDX-License-Identifier: Apache-2.0
// Flit mode (timing rules §3, `links: flit`): messages move flit by flit, so that streams that merge share a link.
#pragma once

#include <algorithm>
#include <vector>

#include "kernbench/systemc_models/fabric/transaction.h"

namespace kernbench::fabric {

struct Branch;
struct InputChannel;

struct alignas(64) Flit {
  // What each hop touches is one cache line.
  FabricTransaction* transaction = nullptr;
  double time_ns = 0;
  Order order;
  double bytes = 0;
  double list_bytes = 0;  ///< that it is longer on links: the request's list of ranges
  uint32_t index = 0;     ///< in its message
  uint32_t ready_by = 0;  ///< the flit by whose arrival at the node it became ready: where that stores, the last
  uint32_t node = 0;      ///< position on the way
  bool last = false;
  bool response = false;
  bool header = false;  ///< of a packet: its address is that of the first byte behind it
  uint64_t address = 0;
  // Finite buffers (wormhole_links.h).
  enum class State : uint8_t { coming, here, ready, joins };
  /// At the node: on its way there, stored there, ready to go on; an acknowledgement that may wait for others.
  State state = State::coming;
  uint32_t channel = 0;        ///< of its class, by which it has come to the node
  uint32_t layer = 0;          ///< of a message's first flit: of virtual channels (channel_layers.h)
  InputChannel* at = nullptr;  ///< where it waits there
  Flit* behind = nullptr;      ///< the next in its queue there
  uint64_t turn = 0;           ///< its number among those that have become ready
  Branch* branch = nullptr;    ///< at a fork: of a copy its queue, of the flit in the buffer the first branch

  double data_bytes() const { return header ? 0 : bytes; }
};

/// Flits of one message that go on together: one, or several of x.flits from it on.
struct FlitTrain {
  Flit& first;
  uint32_t count;
  Flit& operator[](uint32_t i) const { return i == 0 ? first : *first.transaction->flits[first.index + i]; }
  Flit& last() const { return (*this)[count - 1]; }
};

/// As of its transaction.
[[noreturn]] inline void blame(const TimeBeyondRange& e, const Flit& f) {
  blame(e, *f.transaction);
}

/// Room that a flit leaves in a buffer (wormhole_links.h), on its way back over the link by which the flit came.
struct Credit {
  uint32_t channel = 0;
  uint32_t message_class = 0;
  double time_ns = 0;  ///< when it is at the sender
};

/// A message's flits on their way past a foreign block, which sees the message as one payload.
struct FlitStream {
  const FabricPort* from = nullptr;  ///< by which they go to the foreign block
  FabricPort* to = nullptr;          ///< where the message has come out again; null: it has not yet
  bool response = false;
  bool answered = false;  ///< the block has answered by itself before all flits were there: the rest ends there
  double first_ns = 0, shift_ns = 0;
  uint64_t shift_bytes = 0;    ///< of the addresses, modulo 2^64: where the block has changed them
  std::vector<Flit*> waiting;  ///< to come out with or behind the message
};

/// How a message's data lie in flits.
struct FlitCuts {
  uint32_t flit_bytes = 0;
  uint32_t packet_flits = 0;  ///< of data behind each header; 0: data flits come without
  double header_bytes = 0;
};

/// Number of flits of a message of `nbytes` to the address, headers of packets included.
inline uint64_t count_flits(uint64_t address, uint64_t nbytes, const FlitCuts& cuts) {
  if (nbytes == 0) return 1;
  const uint64_t data = (address % cuts.flit_bytes + nbytes - 1) / cuts.flit_bytes + 1;
  return cuts.packet_flits == 0 ? data : data + (data - 1) / cuts.packet_flits + 1;
}

/// Visits the flits of a range of memory in address order: visit(address, bytes). Rows that touch are one range; cuts
/// are at multiples of flit_bytes of the address.
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
  uint32_t left = 0;  // of the packet
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
