// SPDX-License-Identifier: Apache-2.0
// The dependency graph of a log: the values that each compute op reads, after renaming of addresses.
#pragma once

#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <vector>

#include "kernbench/phase2/log/op_record.h"
#include "kernbench/phase2/memory/memory_image.h"
#include "kernbench/phase2/op/op_forms.h"

namespace kernbench::phase2 {

constexpr uint32_t kLeafNode = 0xffffffffu;  ///< bytes that exist in Phase 1
constexpr uint32_t kZeroNode = 0xfffffffeu;  ///< unwritten bytes (under a mask), read as 0

/// `count` runs of `bytes` each, `stride` apart, of one value.
struct Piece {
  uint32_t node = kLeafNode;
  uint32_t count = 1;
  const uint8_t* leaf = nullptr;  ///< for kLeafNode: address of the first run
  uint64_t offset = 0;            ///< offset of the first run in the node's output
  uint64_t bytes = 0;
  int64_t stride = 0;
};

struct ReplayGraph {
  struct Input {
    uint32_t first_piece = 0, pieces = 0;
    const Operand* operand = nullptr;  ///< the pieces cover without_repeats() of it
  };
  struct Node {
    std::shared_ptr<const OpDesc> desc;
    uint32_t record = 0;  ///< index into the records
    uint32_t form = 0;    ///< into `forms`
    uint32_t first_input = 0, inputs = 0;
    uint32_t first_reader = 0, readers = 0;    ///< into `readers`: nodes that wait for this one
    uint32_t first_source = 0, waits_for = 0;  ///< into `sources`: nodes that this one waits for
  };
  std::vector<Node> nodes;  ///< in effect order
  std::vector<OpForm> forms;
  std::vector<Input> inputs;
  std::vector<Piece> pieces;
  std::deque<Operand> other_operands;                    ///< operands of masked stores and atomics, which are in no
                                                         ///< OpDesc
  std::vector<std::shared_ptr<const void>> leaf_owners;  ///< keep leaves alive that memory no longer refers to
  std::vector<uint32_t> readers;
  std::vector<uint32_t> sources;
  MemoryImage memory;  ///< after the last effect; pending extents name their producers
  uint64_t ops = 0;
};

/// The time at which the record's command takes effect, in fs. A load: its completion. An atomic: its service at the
/// memory. A segment of a message: the write of its slot. A foreign write: its service. All others: their submission.
uint64_t effect_instant(const OpRecord&);

struct GraphOptions {
  /// Skip ops that Phase 1 computed for tl.materialize if the bytes that it kept can replace them. Otherwise these ops
  /// and the materialization are nodes, so that both results can be compared.
  bool skip_materialized = true;
  bool keep_tcm = false;                         ///< also keep values that only the TCMs of the PEs hold
  std::optional<uint64_t> until = std::nullopt;  ///< see ReplayOptions::until
};

/// The pass of executor.h. Throws ReplayError.
ReplayGraph build_replay_graph(const std::vector<OpRecord>&, const MemoryImage& image, const GraphOptions& = {});

}  // namespace kernbench::phase2
