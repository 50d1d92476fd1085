// SPDX-License-Identifier: Apache-2.0
// What `kernbench model` prints of an ONNX graph that has run.
#pragma once

#include <iosfwd>

#include "kernbench/platform/onnx/graph_program.h"
#include "kernbench/platform/run/host_program.h"

namespace kernbench::onnx {

/// All products at the peak of GEMM, and all operands of nodes, each once, at that of HBM, as shares of the time.
ModelFigures graph_figures(const GraphProgram&, const ProgramReport&);
/// `plan`: each node, what runs it, its bytes and its time.
void write_graph_text(std::ostream&, const GraphProgram&, const ProgramReport&, bool plan);
/// {"run", "model", "nodes": [{"name", "op", "runs", "how", "bytes", "time_ns"?}], "verify"?, …}
void write_graph_json(std::ostream&, const GraphProgram&, const ProgramReport&);

}  // namespace kernbench::onnx
