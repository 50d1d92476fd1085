#include "kernbench/systemc_models/pe/queue_ports.h"

#include "kernbench/systemc_models/fabric/route.h"
#include "kernbench/systemc_models/pe/pe.h"

namespace kernbench {

void QueuePort::lead(const Pe& from, const Pe& to, const QueuePort& peer, uint32_t place_of_peer, RouteSource& routes) {
  peer_pe = to.id;
  peer_port_name = peer.name;
  peer_index = to.index;
  peer_port = place_of_peer;
  peer_dma = to.dma;
  peer_ring = peer.ring;
  route = &routes.message_route(from.dma, to.dma);
  credit_route = &routes.reversed_message_route(to.dma, from.dma);
}

}  // namespace kernbench
