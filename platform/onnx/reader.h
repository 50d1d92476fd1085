// SPDX-License-Identifier: Apache-2.0
// Reads ONNX files into graphs. Sizes that a file declares are checked against its actual contents before memory is
// allocated.
#pragma once

#include <set>
#include <string>

#include "kernbench/platform/onnx/graph.h"

namespace kernbench::onnx {

/// Reads a model and the external data that it names. InputError: one line that begins with the file's name.
Model read_model(const std::string& file);
/// Reads a model from bytes; external data is looked up beside `file`.
Model parse_model(const std::string& bytes, const std::string& file);
/// The external data files that a model names; none if it is no model.
std::set<std::string> external_files(const std::string& file);
/// Reads a tensor file (input_0.pb). InputError.
TensorData read_tensor(const std::string& file);

}  // namespace kernbench::onnx
