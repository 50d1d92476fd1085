// An observer of all that a platform's fabric does.
#pragma once

namespace kernbench {

class FabricObserver;
class Machine;

enum class FabricParts : unsigned char { blocks_and_links, blocks };
/// At every block, and every link unless it does without.
void watch_fabric(Machine&, FabricObserver&, FabricParts = FabricParts::blocks_and_links);
/// No more, wherever it was told.
void unwatch_fabric(Machine&, FabricObserver&);

}  // namespace kernbench
