// SPDX-License-Identifier: Apache-2.0
// Comparison of a tensor with its reference (data rules §4).
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "kernbench/phase2/memory/memory_image.h"
#include "kernbench/phase2/op/op.h"

namespace kernbench::phase2 {

class Fields;

struct Tolerance {
  double rtol = 0, atol = 0;
};
/// Both tolerances: f32 1e-5, f16 1e-3, bf16 1e-2. Integers are exact, except for ReferenceValues::away. f8e4m3 and
/// f8e5m2: half a step of their mantissa, 1/16 and 1/8.
Tolerance tolerance_of(DType);

/// Expected values of an output, row-major in the output's shape.
struct ReferenceValues {
  std::vector<double> values;
  /// For outputs of a GEMM: Σ|a||b|/√K for each element, so that |err| <= atol + rtol * max(|ref|, scale). Empty
  /// elsewhere. NaN: with some legal rounding or order, 0 meets an infinity; NaN then agrees with any reference.
  std::vector<double> scale;
  /// Additional allowed |err|, also for integers: about one step of floats that were rounded to a coarser type.
  std::vector<double> away = {};
};
/// n contiguous values of that type, unchanged.
std::vector<double> values_of(DType, const void* values, size_t n);

struct Mismatch {
  Dims index;
  double value = 0, reference = 0;
};

struct TensorReport {
  std::string name;
  DType dtype = DType::f32;
  Dims shape;
  bool passed = false;
  std::string reason;  ///< one line; empty if passed
  double max_abs_err = 0;
  double max_rel_err = 0;  ///< |err| / |ref|, over nonzero references
  uint64_t mismatches = 0;
  std::vector<Mismatch> first;  ///< the first few
  double worst = 0;             ///< the largest error over its tolerance; above 1 it is a mismatch
  uint64_t nan_values = 0, inf_values = 0, nan_references = 0, inf_references = 0;
};

/// Compares contiguous row-major values. NaN agrees with NaN, an infinity only with the same infinity. A reference
/// beyond the dtype's range agrees with its rounded value.
TensorReport verify(const std::string& name, DType, const Dims& shape, const void* values, const ReferenceValues&);
/// The tensor in memory; fails if any of its bytes is unwritten or pending.
TensorReport verify(const std::string& name, const MemoryImage&, const TensorRef&, const ReferenceValues&);

/// Whether all passed; no value if there was nothing to verify.
std::optional<bool> passed(const std::vector<TensorReport>&);
/// A readable table: one line for each tensor, then its first mismatches.
std::string to_text(const std::vector<TensorReport>&);
/// The same as fields: "passed" (all of them, or null) and "tensors".
void describe_verification(Fields&, const std::vector<TensorReport>&);

}  // namespace kernbench::phase2
