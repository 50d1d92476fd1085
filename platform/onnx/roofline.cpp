// SPDX-License-Identifier: Apache-2.0
#include "kernbench/platform/onnx/roofline.h"

namespace kernbench::onnx {

Roofline roofline_of(const Launch& l, const PeaksOf& peaks_of) {
  Roofline r;
  std::set<const Value*> seen;
  for (const auto& operands : {l.inputs(), l.outputs()}) {
    for (const Launch::Operand& o : operands) {
      if (seen.insert(&stored(*o.value)).second)
        r.bytes += static_cast<double>(o.value->elements()) * static_cast<double>(size_of(o.value->dtype()));
    }
  }
  // Integer products count as i32.
  const bool floats = l.op->has(0) && is_float(l.op->in(0).dtype());
  const models::Peaks peaks = peaks_of(floats ? l.op->in(0).dtype() : DType::i32);
  const auto macs = [](const Op& op) { return op.row->macs ? op.row->macs(op) : 0; };
  r.macs = macs(*l.op);
  for (const Op* f : l.followers) r.macs += macs(*f);
  if (r.macs > 0 && peaks.flop_ns > 0) r.compute_ns = 2 * r.macs / peaks.flop_ns;
  if (peaks.hbm_gbs > 0) r.memory_ns = r.bytes / peaks.hbm_gbs;
  return r;
}

}  // namespace kernbench::onnx
