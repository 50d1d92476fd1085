// SPDX-License-Identifier: Apache-2.0
// Compares a launch's time with the machine's peaks (roofline). Times in ns.
#pragma once

#include <functional>

#include "kernbench/platform/models/model_report.h"
#include "kernbench/platform/onnx/fusion.h"

namespace kernbench::onnx {

/// Peaks of all PEs together, for an element type of their GEMM engines.
using PeaksOf = std::function<models::Peaks(DType)>;

struct Roofline {
  double macs = 0, bytes = 0;            ///< macs of products; bytes of inputs and outputs, each counted once
  double compute_ns = 0, memory_ns = 0;  ///< times at the peaks of GEMM and HBM
  /// The longer of both. MATH, latencies and repeated reads by several PEs are not counted.
  double predicted_ns() const { return compute_ns > memory_ns ? compute_ns : memory_ns; }
};

Roofline roofline_of(const Launch&, const PeaksOf&);

}  // namespace kernbench::onnx
