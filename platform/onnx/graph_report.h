// SPDX-License-Identifier: Apache-2.0
// Output of `kernbench model` for an ONNX graph that has run.
#pragma once

#include <iosfwd>

#include "kernbench/platform/onnx/graph_program.h"
#include "kernbench/platform/run/host_program.h"

namespace kernbench::onnx {

/// Fractions of the time that GEMM at peak (all products) and HBM at peak (each node operand once) would need.
ModelFigures graph_figures(const GraphProgram&, const ProgramReport&);
/// `plan`: also prints each node, its kernel, bytes and time.
void write_graph_text(std::ostream&, const GraphProgram&, const ProgramReport&, bool plan);
/// {"run", "model", "nodes": [{"name", "op", "runs", "how", "bytes", "time_ns"?}], "verify"?, …}
void write_graph_json(std::ostream&, const GraphProgram&, const ProgramReport&);

}  // namespace kernbench::onnx
