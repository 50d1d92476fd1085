// SPDX-License-Identifier: Apache-2.0
// What a launch takes at the machine's peaks, and how far from them it ran.
#pragma once

#include <functional>

#include "kernbench/platform/models/model_report.h"
#include "kernbench/platform/onnx/fusion.h"

namespace kernbench::onnx {

/// Peaks of the PEs together, of a type of their GEMM engines.
using PeaksOf = std::function<models::Peaks(DType)>;

struct Roofline {
  double macs = 0, bytes = 0;            ///< of products; of inputs and outputs, each once
  double compute_ns = 0, memory_ns = 0;  ///< what these take at the peaks of GEMM and HBM
  /// The longer of both: MATH, latencies and what several PEs read several times are not counted.
  double predicted_ns() const { return compute_ns > memory_ns ? compute_ns : memory_ns; }
};

Roofline roofline_of(const Launch&, const PeaksOf&);

}  // namespace kernbench::onnx
