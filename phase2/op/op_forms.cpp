// SPDX-License-Identifier: Apache-2.0
#include "kernbench/phase2/op/op_forms.h"

#include <algorithm>

namespace kernbench::phase2 {
namespace {

constexpr size_t kRecent = 8;

bool same_form(const TensorRef& a, const TensorRef& b) {
  return a.dtype == b.dtype && a.shape == b.shape && a.strides == b.strides;
}

/// Whether two ops differ only in the places of their operands.
bool alike(const OpDesc& a, const OpDesc& b) {
  if (a.type != b.type || a.op != b.op || !same_form(a.output, b.output) || a.operands.size() != b.operands.size() ||
      !a.epilogue.empty() || !b.epilogue.empty() || a.m != b.m || a.n != b.n || a.k != b.k ||
      a.transpose_a != b.transpose_a || a.transpose_b != b.transpose_b || a.tile_k != b.tile_k ||
      a.tile_m != b.tile_m || a.tile_n != b.tile_n || a.axis != b.axis || a.reduction != b.reduction ||
      a.argument != b.argument || a.value_bytes() != b.value_bytes()) {
    return false;
  }
  for (size_t i = 0; i < a.operands.size(); ++i) {
    const Operand &x = a.operands[i], &y = b.operands[i];
    if (x.is_scalar != y.is_scalar || (x.is_scalar ? x.scalar != y.scalar : !same_form(x.ref, y.ref))) return false;
  }
  return true;
}

double work_of(const OpDesc& d) {
  const bool gemm = d.kind == OpKind::gemm || d.op == "gemm";
  const double elements = static_cast<double>(d.output.shape.elements());
  return gemm ? 2.0 * static_cast<double>(d.m) * static_cast<double>(d.n) * static_cast<double>(d.k) + elements
              : 8.0 * elements;
}

}  // namespace

uint32_t OpForms::number_of(const std::shared_ptr<const OpDesc>& d) {
  const auto it = std::find_if(recent_.begin(), recent_.end(), [&](uint32_t i) { return alike(*forms_[i].desc, *d); });
  if (it != recent_.end()) {
    std::rotate(recent_.begin(), it, it + 1);
    return recent_.front();
  }
  const auto number = static_cast<uint32_t>(forms_.size());
  forms_.push_back({d, work_of(*d), d->value_bytes()});
  recent_.insert(recent_.begin(), number);
  if (recent_.size() > kRecent) recent_.pop_back();
  return number;
}

}  // namespace kernbench::phase2
