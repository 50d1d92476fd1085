// `kernbench model FILE.onnx`: what the options ask of a graph (docs/onnx.md).
#pragma once

#include <memory>

#include "kernbench/platform/cli/run_command.h"

namespace kernbench::cli {

/// The graph's program. InputError.
std::shared_ptr<OwnProgram> make_onnx_program(const spec::RunSpec&);

}  // namespace kernbench::cli
