// Comparison of a tensor with its reference (data contract §4).
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "kernbench/phase2/memory/memory_image.h"
#include "kernbench/phase2/op/op.h"

namespace kernbench {

class Fields;

struct Tolerance {
  double rtol = 0, atol = 0;
};
/// f32 1e-5, f16 1e-3, bf16 1e-2 (both); integers exact, but for ReferenceValues::away. f8e4m3 and f8e5m2: half a step
/// of their mantissa, 1/16 and 1/8.
Tolerance tolerance_of(DType);

/// What an output should be, row-major in the output's shape.
struct ReferenceValues {
  std::vector<double> values;
  /// Outputs of a GEMM: Σ|a||b|/√K per element, so that |err| <= atol + rtol * max(|ref|, scale). Empty elsewhere.
  /// NaN: by some legal rounding or order 0 meets an infinity, so that NaN agrees with any reference.
  std::vector<double> scale;
  /// What |err| may be beyond that, also of integers: of floats that were rounded to a coarser type, about a step of
  /// it.
  std::vector<double> away = {};
};
/// So many contiguous values of that type as they are.
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
  std::string reason;  ///< empty if passed: one line
  double max_abs_err = 0;
  double max_rel_err = 0;  ///< |err| / |ref|, over references that are not 0
  uint64_t mismatches = 0;
  std::vector<Mismatch> first;  ///< the first few
  double worst = 0;             ///< the largest error over its tolerance; above 1 it is a mismatch
  uint64_t nan_values = 0, inf_values = 0, nan_references = 0, inf_references = 0;
};

/// Compares contiguous row-major values. NaN agrees with NaN, an infinity with the same infinity only; a reference
/// beyond the dtype's range agrees with what rounding makes of it.
TensorReport verify(const std::string& name, DType, const Dims& shape, const void* values, const ReferenceValues&);
/// The tensor as memory holds it; one with unwritten or pending bytes fails.
TensorReport verify(const std::string& name, const MemoryImage&, const TensorRef&, const ReferenceValues&);

/// Whether all did; nothing where there was nothing to verify.
std::optional<bool> passed(const std::vector<TensorReport>&);
/// A table for people: one line a tensor, then its first mismatches.
std::string to_text(const std::vector<TensorReport>&);
/// The same as fields: "passed": all of them, or null, and "tensors".
void describe_verification(Fields&, const std::vector<TensorReport>&);

}  // namespace kernbench
