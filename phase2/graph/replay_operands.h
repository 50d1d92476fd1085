// SPDX-License-Identifier: Apache-2.0
// The operands of a replay's ops in the form that evaluation reads.
#pragma once

#include <cstdint>
#include <utility>
#include <vector>

#include "kernbench/phase2/eval/eval.h"
#include "kernbench/phase2/graph/replay_graph.h"
#include "kernbench/phase2/graph/value_pool.h"

namespace kernbench::phase2 {

/// The operands of one op, in place or gathered.
struct ReplayOperands {
  std::vector<EvalInput> inputs;
  std::vector<std::pair<uint8_t*, uint64_t>> gathered;  ///< memory from the pool, with sizes
};

/// Reads an operand in place if it is one strided view of one buffer. Otherwise it is gathered into memory from the
/// pool.
class OperandReader {
 public:
  /// outputs[i]: address of node i's value, once it exists.
  OperandReader(const ReplayGraph& g, const std::vector<uint8_t*>& outputs, ValuePool& pool)
      : g_(g), outputs_(outputs), pool_(pool) {}

  /// The operands of a node whose sources have run.
  void read(const ReplayGraph::Node&, ReplayOperands&) const;
  /// The same. `like` are the operands of a node of the same form: operands with the same layout are not analysed
  /// again.
  void read_alike(const ReplayGraph::Node&, ReplayOperands&, const ReplayGraph::Node& like_node,
                  const ReplayOperands& like) const;

 private:
  const uint8_t* address(const Piece&) const;
  EvalInput input(const ReplayGraph::Input&, ReplayOperands&) const;
  void gather(const ReplayGraph::Input&, uint64_t nbytes, EvalInput&, ReplayOperands&) const;
  bool view(const Piece&, EvalInput&) const;

  const ReplayGraph& g_;
  const std::vector<uint8_t*>& outputs_;
  ValuePool& pool_;
};

}  // namespace kernbench::phase2
