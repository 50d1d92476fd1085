// Flit mode of the fabric (timing contract §3, `links: flit`): messages move flit by flit, so that streams that merge
// share a link. The first flit of a message travels with the TLM call's BEGIN_REQ or BEGIN_RESP, the others with an
// ignorable phase of their own, along the same sockets.
#pragma once

#include <algorithm>
#include <tlm>

#include "kernbench/systemc_models/fabric/fabric.h"

namespace kernbench {

DECLARE_EXTENDED_PHASE(FLIT);

struct Flit {
  FabricTransaction* transaction = nullptr;
  uint64_t address = 0;
  double bytes = 0;
  uint32_t index = 0;  ///< in its message
  bool last = false;
  bool response = false;
  uint32_t node = 0;  ///< position on the route
  double time_ns = 0;
  Order order;
};

/// Visits the flits of a range of memory in address order: visit(address, bytes). Rows that touch are one range; cuts
/// are at multiples of flit_bytes of the address.
template <class Visit>
void for_each_flit(uint64_t address, const Rows& rows, uint32_t flit_bytes, Visit visit) {
  uint64_t row = 0;
  while (row < rows.count) {
    uint64_t at = address + row * rows.stride;
    uint64_t left = rows.bytes;
    for (++row; row < rows.count && rows.stride == rows.bytes; ++row) left += rows.bytes;
    while (left > 0) {
      const uint64_t take = std::min<uint64_t>(left, flit_bytes - at % flit_bytes);
      visit(at, take);
      at += take;
      left -= take;
    }
  }
}

/// Takes the link's next place for a flit that is ready at flit.time_ns; sets the time at the other end.
void pass_link(Link&, Flit&);

/// A flit has come out of `from` at flit.time_ns: sets when it is ready at the node, the node's overhead later for the
/// first of a message, not before the flit in front of it for the others, and its order there at the server `next`.
void become_ready(Flit&, double overhead_ns, Link& from, const void* next);

/// The same where the order there is known to be that in which flits came out.
void become_ready_in_order(Flit&, double overhead_ns);
/// True if flits that come out of `from` become ready at a node in the order in which they came out. (A message's first
/// flit waits for the overhead, the others do not: of messages whose flits are mixed, one may overtake.)
inline bool keeps_order(const Link& from, double overhead_ns) {
  return from.whole_trains || overhead_ns == 0;
}

/// One flit as the whole message (requests without data, acknowledgements).
Flit* header_flit(Fabric&, FabricTransaction&, bool response);
/// All data flits of the transaction, in address order, into transaction.train.
void data_flits(Fabric&, FabricTransaction&, bool response);

/// A lone transaction's message at a node of its route, ns from the grant.
struct LoneFlitStop {
  uint32_t node = 0;
  bool response = false;
  double arrive_ns = 0;      ///< first flit; at a memory's response: when the request was ready to be served
  double ready_ns = 0;       ///< first flit
  double last_ready_ns = 0;  ///< last flit
};
/// What lone_flit_latency_ns() tells beside the latency.
struct LoneFlitTrace {
  double store_forward_ns = 0;                 ///< waited for last flits at nodes that store and forward
  std::vector<LoneFlitStop>* stops = nullptr;  ///< filled where given: the request's, then the response's
};

/// Latency of a transaction alone in an idle system, by the same rules.
double lone_flit_latency_ns(const Fabric&, const Route&, bool write, uint64_t address, const Rows&,
                            LoneFlitTrace* trace = nullptr);

}  // namespace kernbench
