// SPDX-License-Identifier: Apache-2.0
// Buffers at a node's inputs for waiting flits (docs/flow_control.md). Plain C++, no SystemC.
#pragma once

#include <cstdint>
#include <optional>

#include "kernbench/systemc_models/core/parameters.h"
#include "kernbench/systemc_models/fabric/switch_allocator.h"

namespace kernbench::fabric {

/// Parameters of a block at whose inputs flits may wait. Each input has `vcs` virtual channels for requests and as many
/// for responses, each with space for `buffer_flits`.
struct BufferParameters : BlockParameters {
  std::optional<uint32_t> buffer_flits;
  uint32_t vcs = 1;
  template <class List>
  static void describe(List& list) {
    BlockParameters::describe(list);
    list.add(&BufferParameters::buffer_flits, "buffer_flits", "flits",
             "buffer of each virtual channel of each input, with links: flit; default: unlimited")
        .depth(Limit::buffers);
    list.add(&BufferParameters::vcs, "vcs", "",
             "virtual channels of each input for requests, and as many for responses; effective with buffer_flits")
        .depth(Limit::buffers)
        .max(1024);
  }
};

/// The same, as a block reports it to the link mode.
struct InputBuffers {
  uint32_t flits = 0;  ///< 0: unlimited
  uint32_t vcs = 1;
  /// Arbitration of a link that leaves the block. Null: oldest first.
  const SwitchAllocator* allocator = nullptr;
};

/// Without limits the links work like those without buffers: first come, first served.
inline InputBuffers buffers_of(const BufferParameters& p, const SwitchAllocator* allocator = nullptr) {
  if (!p.buffer_flits) return {};
  return {*p.buffer_flits, p.vcs, allocator};
}

}  // namespace kernbench::fabric
