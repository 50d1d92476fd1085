// SPDX-License-Identifier: Apache-2.0
// Tracks the layouts in which a graph's values lie during the run. Flat: in blocks of elements over the PEs; every
// kernel of this folder reads and writes it. Matrix: in the blocks that kernels of models need. A launch lays a value
// out when a form is first needed. The value keeps all its forms until it is freed.
#pragma once

#include <map>
#include <set>
#include <vector>

#include "kernbench/platform/host/context.h"
#include "kernbench/platform/onnx/linear.h"

namespace kernbench::onnx {

/// Blocks of rows along the first axis of size > 1. Small tensors lie on few adjacent PEs (2048 elements per block on
/// 128 PEs; more on larger machines). A command that reads one goes to each of these PEs in turn.
host::Layout flat_layout(const Dims& shape, const MachineShape&);
/// decode_linear's matrix layout: columns over the cubes, rows over the PEs of each.
host::Layout lanes();

class Placed {
 public:
  Placed(host::Context&, const MachineShape&);

  /// A tensor of the program itself, which is never freed: with a value (flat or as its only reader wants it), or to be
  /// written.
  void add_input(const Value& v, const host::Tensor& t) { forms_[&v] = {t, true, false, {}, {}}; }
  void add_output(const Value& v, const host::Tensor& t, bool in_lanes);
  host::Tensor flat(const Value&);
  host::Tensor in_blocks(const Value&, const host::Layout&, const Dims& matrix);
  bool lies_in(const Value&, const host::Layout&, const Dims& matrix) const;
  /// The matrix shape of a non-flat value in lanes; without dimensions: flat, or another layout.
  Dims only_in_lanes(const Value&) const;
  /// A tensor to be written: the program's own or a new one; flat, viewed in the given shape if any.
  host::Tensor make_flat(const Value&, const Dims& shape = {});
  host::Tensor make_in_blocks(const Value&, const host::Layout&, const Dims& matrix);
  /// Frees all forms except the program's own.
  void free(const Value&);

 private:
  struct Forms {
    host::Tensor flat;
    bool has_flat = false;  ///< flat is written, or will be by an enqueued launch
    bool is_new = false;    ///< flat was allocated here, not by the program
    std::vector<host::Tensor> blocks;
    host::Tensor own_blocks;  ///< the program's own, to be written
  };
  const host::Tensor* find(const Value&, const host::Layout&, const Dims& matrix) const;
  void lay_out(const host::Tensor& flat, const host::Tensor& blocks, bool into_blocks) const;

  host::Context& h_;
  const MachineShape machine_;
  std::map<const Value*, Forms> forms_;
};

}  // namespace kernbench::onnx
