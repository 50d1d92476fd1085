// SPDX-License-Identifier: Apache-2.0
// Reset of a part of a machine: kernels end, foreign initiators get error responses, and memories keep or lose their
// bytes. Engines, links and caches finish what they have begun.
#pragma once

#include <string>

#include "kernbench/phase2/rooms.h"

namespace kernbench::elaborate {
class Machine;
}

namespace kernbench::launch {

/// Resets a PE ("sip0.cube1.pe2"), a cube, a SIP, or all of the machine (""), now:
/// - Launches with a kernel on its PEs are aborted, on all their PEs.
/// - Transactions of foreign initiators at its ports, and at a SIP's host socket, end with an error response.
/// - A memory of a cube or SIP with `clear_at_reset` has zeros where bytes were written; the op log has them as writes.
/// Allocations and mappings of virtual memory stay. InputError if it is no such part.
void reset_part(Machine&, const std::string& id);

}  // namespace kernbench::launch
