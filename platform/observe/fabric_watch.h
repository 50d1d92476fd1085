// An observer of all that a platform's fabric does.
#pragma once

namespace kernbench {

class FabricObserver;
class Platform;

enum class FabricParts : unsigned char { blocks_and_links, blocks };
/// At every block, and every link unless it does without.
void watch_fabric(Platform&, FabricObserver&, FabricParts = FabricParts::blocks_and_links);
/// No more, wherever it was told.
void unwatch_fabric(Platform&, FabricObserver&);

}  // namespace kernbench
