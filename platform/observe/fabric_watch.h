// An observer of all that a platform's fabric does.
#pragma once

namespace kernbench {

class FabricObserver;
class Platform;

/// At every block and every link.
void watch_fabric(Platform&, FabricObserver&);
/// No more, wherever it was told.
void unwatch_fabric(Platform&, FabricObserver&);

}  // namespace kernbench
