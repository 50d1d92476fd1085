// The fabric without its sockets: carries a transaction along a route whose nodes are all the project's own
// (Route::direct). The arithmetic and the order are the forwarder's, step by step; what is saved is the walk through
// the modules, and waits that decide nothing.
//
// A message waits on the timeline where order is decided: before a link or memory that several can reach. Where only
// one link feeds the next (Link::feeder) and the node between delays all alike, messages come to the next in the order
// in which they left the first, and nobody else can come between: they take their places there at once, ahead of time.
#pragma once

#include "kernbench/systemc_models/fabric/fabric.h"

namespace kernbench {

/// A request's header has taken its place on the link to node x.node and is there at x.time_ns.
void carry_request(Fabric&, FabricTransaction&);
/// A response's header has taken its place on the link back to node x.node and is there at x.time_ns.
void carry_response(Fabric&, FabricTransaction&);
/// Flit mode: a flit of a request or a response has taken its place on the link to node flit.node and is there at
/// flit.time_ns.
void carry_flit(Fabric&, struct Flit&);

/// Ideal links: the response's header leaves the memory at x.time_ns; sets the time at which it is at the initiator.
void return_ideally(const Fabric&, FabricTransaction&);

}  // namespace kernbench
