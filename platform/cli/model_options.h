// `kernbench model FILE`: what the options ask of a decoder (docs/models.md) or an ONNX graph (docs/onnx.md).
#pragma once

#include <memory>

#include "kernbench/platform/cli/run_command.h"

namespace kernbench::cli {

/// The model's program. InputError.
std::shared_ptr<OwnProgram> make_model_program(const spec::RunSpec&);

}  // namespace kernbench::cli
