// SPDX-License-Identifier: Apache-2.0
// An observer of a platform's complete fabric.
#pragma once

#include "kernbench/phase2/rooms.h"

namespace kernbench::fabric {
class FabricObserver;
}

namespace kernbench::elaborate {

class Machine;

enum class FabricParts : unsigned char { blocks_and_links, blocks };
/// At every block, and at every link unless it excludes links.
void watch_fabric(Machine&, FabricObserver&, FabricParts = FabricParts::blocks_and_links);
/// Removes the observer everywhere.
void unwatch_fabric(Machine&, FabricObserver&);

}  // namespace kernbench::elaborate
