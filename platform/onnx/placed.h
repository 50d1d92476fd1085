// SPDX-License-Identifier: Apache-2.0
// Where the values of a graph lie while it runs: flat, in blocks of elements over the PEs, which every kernel here can
// read and write; and as matrices in the blocks that kernels of models want. A value is laid out when it is first asked
// for in a form that it lacks, by a launch, and keeps all its forms until it is freed.
#pragma once

#include <map>
#include <set>
#include <vector>

#include "kernbench/platform/host/context.h"
#include "kernbench/platform/onnx/linear.h"

namespace kernbench::onnx {

/// Blocks of rows along the first axis that has more than one. What is small lies on few PEs side by side, the fewer
/// the more the machine has (2048 elements of a block on 128 PEs): a command that reads it goes to each of them in
/// turn.
host::Layout flat_layout(const Dims& shape, const MachineShape&);
/// As decode_linear has a matrix: columns over the cubes, rows over the PEs of each.
host::Layout lanes();

class Placed {
 public:
  Placed(host::Context&, const MachineShape&);

  /// One of the program's own, which stays: with a value, flat or as its only reader wants it; to be written.
  void add_input(const Value& v, const host::Tensor& t) { forms_[&v] = {t, true, false, {}, {}}; }
  void add_output(const Value& v, const host::Tensor& t, bool in_lanes);
  host::Tensor flat(const Value&);
  host::Tensor in_blocks(const Value&, const host::Layout&, const Dims& matrix);
  bool lies_in(const Value&, const host::Layout&, const Dims& matrix) const;
  /// As which matrix a value that is not flat lies in lanes; without dimensions: it is flat, or lies otherwise.
  Dims only_in_lanes(const Value&) const;
  /// To be written: one of the program's own, or a new one; flat, seen in a shape, where one is given.
  host::Tensor make_flat(const Value&, const Dims& shape = {});
  host::Tensor make_in_blocks(const Value&, const host::Layout&, const Dims& matrix);
  /// All forms but the program's own.
  void free(const Value&);

 private:
  struct Forms {
    host::Tensor flat;
    bool has_flat = false;  ///< flat is written, or will be by what has been enqueued
    bool is_new = false;    ///< flat is not of the program
    std::vector<host::Tensor> blocks;
    host::Tensor own_blocks;  ///< of the program, to be written
  };
  const host::Tensor* find(const Value&, const host::Layout&, const Dims& matrix) const;
  void lay_out(const host::Tensor& flat, const host::Tensor& blocks, bool into_blocks) const;

  host::Context& h_;
  const MachineShape machine_;
  std::map<const Value*, Forms> forms_;
};

}  // namespace kernbench::onnx
