// SPDX-License-Identifier: Apache-2.0
// ONNX graphs: read, then planned as before a run.
#include <fmt/format.h>

#include "kernbench/phase2/op/errors.h"
#include "kernbench/platform/onnx/planner.h"
#include "kernbench/platform/onnx/reader.h"
#include "kernbench/sc_tests/fuzz/fuzzed_readers.h"

namespace kernbench::fuzz {
namespace {

std::string read_onnx(const std::string& input) {
  try {
    const onnx::Model m = onnx::parse_model(input, "m.onnx");
    onnx::PlanRequest request;
    request.machine = {4, 2};
    const auto plan = onnx::plan_model(m, request);
    std::string text;
    for (const onnx::Launch& l : plan->run) {
      text += l.op->node->op;
      for (const onnx::Value* v : l.last().outputs) text += v ? " " + onnx::to_string(v->shape) : " -";
      text += '\n';
    }
    return text;
  } catch (const InputError& e) {
    throw Refused(e.what());
  }
}

}  // namespace

std::vector<FuzzedReader> readers_of_graphs() {
  return {{"onnx", read_onnx, mutate_protobuf}};
}

}  // namespace kernbench::fuzz
