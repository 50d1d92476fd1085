// SPDX-License-Identifier: Apache-2.0
#include "kernbench/phase2/graph/replay_operands.h"

#include <cstring>

#include "kernbench/phase2/op/runs.h"

namespace kernbench::phase2 {

void OperandReader::read(const ReplayGraph::Node& n, ReplayOperands& o) const {
  o.inputs.clear();
  for (uint32_t i = 0; i < n.inputs; ++i) o.inputs.push_back(input(g_.inputs[n.first_input + i], o));
}

void OperandReader::read_alike(const ReplayGraph::Node& n, ReplayOperands& o, const ReplayGraph::Node& like_node,
                               const ReplayOperands& like) const {
  o.inputs.clear();
  for (uint32_t i = 0; i < n.inputs; ++i) {
    const ReplayGraph::Input &in = g_.inputs[n.first_input + i], &other = g_.inputs[like_node.first_input + i];
    if (in.pieces == 1 && other.pieces == 1) {
      const Piece &p = g_.pieces[in.first_piece], &q = g_.pieces[other.first_piece];
      if (p.node != kZeroNode && q.node != kZeroNode && p.count == q.count && p.bytes == q.bytes &&
          p.stride == q.stride && like.gathered.empty()) {
        o.inputs.push_back(like.inputs[i]);
        o.inputs.back().data = address(p);
        continue;
      }
    }
    o.inputs.push_back(input(in, o));
  }
}

const uint8_t* OperandReader::address(const Piece& p) const {
  return p.node == kLeafNode ? p.leaf : outputs_[p.node] + p.offset;
}

EvalInput OperandReader::input(const ReplayGraph::Input& in, ReplayOperands& o) const {
  if (in.operand->is_scalar) return EvalInput::immediate(in.operand->scalar);
  const TensorRef& whole = in.operand->ref;
  const TensorRef t = without_repeats(whole);
  EvalInput e = EvalInput::tensor(nullptr, t.dtype, t.shape);
  const bool in_place =
      in.pieces == 1 && g_.pieces[in.first_piece].node != kZeroNode && view(g_.pieces[in.first_piece], e);
  if (!in_place) gather(in, t.nbytes(), e, o);
  for (int i = 0; i < whole.shape.rank(); ++i) {
    if (whole.shape[i] == t.shape[i]) continue;
    e.shape[i] = whole.shape[i];
    e.strides[i] = 0;
  }
  return e;
}

void OperandReader::gather(const ReplayGraph::Input& in, uint64_t nbytes, EvalInput& e, ReplayOperands& o) const {
  uint8_t* to = pool_.get(nbytes);
  o.gathered.emplace_back(to, nbytes);
  e.data = to;
  for (uint32_t i = 0; i < in.pieces; ++i) {
    const Piece& p = g_.pieces[in.first_piece + i];
    for (uint32_t run = 0; run < p.count; ++run, to += p.bytes) {
      if (p.node == kZeroNode) {
        std::memset(to, 0, p.bytes);
      } else {
        std::memcpy(to, address(p) + static_cast<int64_t>(run) * p.stride, p.bytes);
      }
    }
  }
}

/// The piece as a strided view of the operand's shape; false if there is no such view.
bool OperandReader::view(const Piece& p, EvalInput& e) const {
  const auto item = static_cast<int64_t>(size_of(e.dtype));
  e.data = address(p);
  if (p.count == 1) return true;
  if (p.stride % item != 0) return false;
  // The runs are rows. Find the dimension that has the stride.
  int64_t rows = 1;
  for (int i = 0; i < e.shape.rank(); ++i) {
    if (rows == p.count) break;
    rows *= e.shape[i];
  }
  if (rows != p.count) return false;
  int64_t step = p.stride / item;
  int64_t left = p.count;
  int outer = 0;
  for (int64_t covered = 1; covered < left; ++outer) covered *= e.shape[outer];
  for (int i = outer - 1; i >= 0; --i) {
    e.strides[i] = step;
    step *= e.shape[i];
  }
  return true;
}

}  // namespace kernbench::phase2
