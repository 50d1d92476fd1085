// SPDX-License-Identifier: Apache-2.0
// Routing information for a model of a complete NoC in place of a foreign node with several neighbours.
#pragma once

#include <cstdint>
#include <string>
#include <tlm>

#include "kernbench/phase2/rooms.h"

namespace kernbench::elaborate {

/// The neighbour to which the platform's route sends a request from this foreign node, by its id as in
/// ForeignNode::bind(). Accesses may also be routed by address; messages between PEs and launches have no address for
/// that. Empty: the payload belongs to the model.
std::string heads_for(const tlm::tlm_generic_payload&);
/// The same for one destination of a multicast, an address in its MulticastExtension.
std::string heads_for(const tlm::tlm_generic_payload&, uint64_t destination);

}  // namespace kernbench::elaborate
