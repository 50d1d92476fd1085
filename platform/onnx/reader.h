// SPDX-License-Identifier: Apache-2.0
// ONNX files into graphs. What a file says of its sizes is held against what it has before anything is made of it.
#pragma once

#include <set>
#include <string>

#include "kernbench/platform/onnx/graph.h"

namespace kernbench::onnx {

/// A model, with the external data that it names beside it. InputError, in one line that begins with the file's name.
Model read_model(const std::string& file);
/// Of a model's bytes; external data is looked for beside `file`.
Model parse_model(const std::string& bytes, const std::string& file);
/// The files of external data that a model names; none where it is no model.
std::set<std::string> external_files(const std::string& file);
/// A tensor in a file of its own (input_0.pb). InputError.
TensorData read_tensor(const std::string& file);

}  // namespace kernbench::onnx
