// For a model of a whole NoC in the place of a foreign node, which has several neighbours: where requests go.
#pragma once

#include <string>
#include <tlm>

namespace kernbench {

/// The neighbour that a request of the platform's goes to from the foreign node that has it, by the platform's route;
/// its id, as ForeignNode::bind() takes it. Accesses may be routed by their addresses too; messages between PEs and
/// launches have none that says so. Empty: the payload is of the model's own.
std::string heads_for(const tlm::tlm_generic_payload&);

}  // namespace kernbench
