// SPDX-License-Identifier: Apache-2.0
// What a node's inputs hold of flits that wait to go on (docs/flow_control.md). Plain C++: no SystemC here.
#pragma once

#include <cstdint>
#include <optional>

#include "kernbench/systemc_models/core/parameters.h"
#include "kernbench/systemc_models/fabric/switch_allocator.h"

namespace kernbench::fabric {

/// Of a block at whose inputs flits may have to wait. Each input has `vcs` virtual channels for requests and as many
/// for responses, each with room for `buffer_flits`.
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

/// The same as a block tells it to the law of the links.
struct InputBuffers {
  uint32_t flits = 0;  ///< 0: no limit
  uint32_t vcs = 1;
  /// Onto a link that leaves the block: who goes first. Null: who waits longest.
  const SwitchAllocator* allocator = nullptr;
};

/// Without limits the law is that of links without buffers: first come, first served.
inline InputBuffers buffers_of(const BufferParameters& p, const SwitchAllocator* allocator = nullptr) {
  if (!p.buffer_flits) return {};
  return {*p.buffer_flits, p.vcs, allocator};
}

}  // namespace kernbench::fabric
