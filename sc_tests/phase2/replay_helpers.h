// SPDX-License-Identifier: Apache-2.0
// Short ways to write commands for replay tests.
#pragma once

#include <memory>

#include "kernbench/phase2/log/op_record.h"

namespace kernbench {

inline TensorRef hbm(uint64_t addr, DType t, const Dims& shape, const Dims& strides = {}) {
  TensorRef r;
  r.addr = addr;
  r.dtype = t;
  r.shape = shape;
  r.strides = strides.rank() ? strides : TensorRef::row_major(shape);
  return r;
}

inline TensorRef tcm(uint32_t pe, uint64_t addr, DType t, const Dims& shape) {
  TensorRef r = hbm(addr, t, shape);
  r.space = Space::tcm;
  r.pe = pe;
  return r;
}

inline Operand operand(const TensorRef& r) {
  Operand o;
  o.ref = r;
  return o;
}

inline Operand immediate(double v) {
  Operand o;
  o.is_scalar = true;
  o.scalar = v;
  return o;
}

inline OpRecord record(uint64_t id, const std::shared_ptr<OpDesc>& d, double t_end) {
  OpRecord r;
  r.op_id = id;
  r.t_start = d->submit_ns;
  r.t_end = t_end;
  r.desc = d;
  return r;
}

}  // namespace kernbench
