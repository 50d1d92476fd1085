// SPDX-License-Identifier: Apache-2.0
// Ownership of a block. Plain C++, no SystemC.
#pragma once

#include <memory>

#include "kernbench/phase2/rooms.h"

namespace kernbench::core {

class Component;

/// Owns a block whose memory belongs to an arena, which outlives it.
struct DestroyInArena {
  void operator()(Component*) const;
};
using ComponentPtr = std::unique_ptr<Component, DestroyInArena>;

}  // namespace kernbench::core
