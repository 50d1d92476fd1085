// SPDX-License-Identifier: Apache-2.0
// An observer of all that a platform's fabric does.
#pragma once

#include "kernbench/phase2/rooms.h"

namespace kernbench::fabric {
class FabricObserver;
}

namespace kernbench::elaborate {

class Machine;

enum class FabricParts : unsigned char { blocks_and_links, blocks };
/// At every block, and every link unless it does without.
void watch_fabric(Machine&, FabricObserver&, FabricParts = FabricParts::blocks_and_links);
/// No more, wherever it was told.
void unwatch_fabric(Machine&, FabricObserver&);

}  // namespace kernbench::elaborate
