// SPDX-License-Identifier: Apache-2.0
// Who owns a block. Plain C++: no SystemC here.
#pragma once

#include <memory>

#include "kernbench/phase2/rooms.h"

namespace kernbench::core {

class Component;

/// Owns a block that lies in an arena, whose memory outlives it.
struct DestroyInArena {
  void operator()(Component*) const;
};
using ComponentPtr = std::unique_ptr<Component, DestroyInArena>;

}  // namespace kernbench::core
