// Who owns a block. Plain C++: no SystemC here.
#pragma once

#include <memory>

namespace kernbench {

class Component;

/// Owns a block that lies in an arena, whose memory outlives it.
struct DestroyInArena {
  void operator()(Component*) const;
};
using ComponentPtr = std::unique_ptr<Component, DestroyInArena>;

}  // namespace kernbench
