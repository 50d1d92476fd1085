// SPDX-License-Identifier: Apache-2.0
// Matrices and reductions.
#include <algorithm>
#include <limits>

#include "kernbench/platform/triton/engines.h"

namespace kernbench::triton {

Value Engines::dot(const Value& a, const Value& b, const Value& c, const Type& ta, const Type& tb, const Type& td) {
  const auto zero = [](const Value& v) {
    return (v.is(Value::Kind::uniform) && v.d == 0) ||
           (v.is(Value::Kind::known) && v.known->uniform() && v.known->base == 0);
  };
  if (zero(a) || zero(b)) return c;
  await(a);
  await(b);
  DataPtr x = plain(data(a, ta));
  DataPtr y = plain(data(b, tb));
  // A fill of 0 adds nothing, so such a box need not grow.
  const auto full_along = [&](DataPtr d, int i) {
    if (d->whole(i) || d->fill == 0) return d;
    Dims first = d->first, count = d->count;
    first[i] = 0;
    count[i] = d->shape[i];
    return pad(d, first, count);
  };
  for (int i = 0; i < 2; ++i) {
    x = full_along(x, i);
    y = full_along(y, i);
  }
  const int64_t low = std::max(x->first[1], y->first[0]);
  const int64_t high = std::min(x->first[1] + x->count[1], y->first[0] + y->count[0]);
  if (low >= high) return c;
  const auto matrix = [&](const DataPtr& d, int k_axis) {
    tl::Tensor t = d->part;
    if (t.shape() != d->count)
      t = tl_.copy(t.broadcast_to(d->count, where_.file, where_.line), where_.file, where_.line);
    return t.slice(k_axis, low - d->first[k_axis], high - low, where_.file, where_.line);
  };
  tl::Tensor p = matrix(x, 1);
  tl::Tensor q = matrix(y, 0);
  if (p.dtype() != q.dtype()) {  // two different f8 types
    const DType common = size_of(p.dtype()) == 1 && size_of(q.dtype()) == 1 ? DType::f16 : DType::f32;
    if (p.dtype() != common) p = tl_.cast(p, common, where_.file, where_.line);
    if (q.dtype() != common) q = tl_.cast(q, common, where_.file, where_.line);
  }
  for (const tl::Tensor& t : {p, q}) tl_.wait(t);
  auto d = std::make_shared<Data>();
  d->product = true;
  d->shape = td.shape;
  d->first = {x->first[0], y->first[1]};
  d->count = {x->count[0], y->count[1]};
  const DType dtype = dtype_of(td.element);
  // The engine adds to its accumulator.
  const bool sums = dtype == (is_float(p.dtype()) ? DType::f32 : DType::i32);
  const auto covers = [&](const Data& sum) {
    return sum.part.shape() == d->count && sum.part.dtype() == dtype && sum.first == d->first && sum.count == d->count;
  };
  if (sums && c.is(Value::Kind::data) && covers(*c.data)) {
    if (!c.data->product) tl_.wait(c.data->part);
    d->part = tl_.dot(p, q, c.data->part, dtype, where_.file, where_.line);
    d->fill = c.data->fill;
    return Value::of(DataPtr(d));
  }
  d->part = tl_.dot(p, q, dtype, where_.file, where_.line);
  const Value product = Value::of(DataPtr(d));
  if (zero(c)) return product;
  await(product);
  await(c);
  return math("add", {c, product}, {td, td}, td);
}

DataPtr Engines::reduce(const std::string& op, const DataPtr& d, int axis, const Type& result) {
  DataPtr x = plain(d);
  constexpr double kInf = std::numeric_limits<double>::infinity();
  const double nothing = op == "sum" ? 0 : op == "max" || op == "maxnum" ? -kInf : kInf;
  if (!x->whole(axis) && x->fill != nothing) {
    Dims first = x->first, count = x->count;
    first[axis] = 0;
    count[axis] = x->shape[axis];
    x = pad(x, first, count);
  }
  double fill = op == "sum" ? x->fill * static_cast<double>(x->shape[axis]) : x->fill;
  if (!held(&fill, result.element)) x = whole(x);
  tl::Tensor part = x->part;
  if (part.shape()[axis] != x->count[axis]) {  // all elements are equal
    if (op == "sum") {
      const double n = static_cast<double>(x->count[axis]);
      part = call("mul", {arg(part), n});
    }
    part = part.slice(axis, 0, 1, where_.file, where_.line);
  }
  const auto run = [&](const tl::Tensor& t) {
    if (op == "sum") return tl_.sum(t, axis, false, where_.file, where_.line);
    if (op == "max") return tl_.max(t, axis, false, where_.file, where_.line);
    if (op == "maxnum" || op == "minnum") {
      const auto combine = [&](const tl::Expr& a, const tl::Expr& b) { return tl::Expr::op(op.c_str(), {a, b}); };
      return tl_.reduce(t, axis, combine, false, where_.file, where_.line);
    }
    return tl_.min(t, axis, false, where_.file, where_.line);
  };
  const bool alone = part.shape()[axis] == 1;
  // maxnum and minnum ignore NaN, so the fill counts if the box has nothing else.
  const bool around = (op == "maxnum" || op == "minnum") && !x->whole(axis);
  auto out = std::make_shared<Data>();
  if (alone) {
    Dims shape;
    for (int i = 0; i < part.rank(); ++i) {
      if (i != axis) shape.push_back(part.shape()[i]);
    }
    out->part = tl_.reshape(part, shape, where_.file, where_.line);
  } else {
    out->part = run(part);
  }
  if (around) out->part = call(op, {arg(out->part), x->fill});
  const DType wanted = dtype_of(result.element);
  if (out->part.dtype() != wanted) out->part = tl_.cast(out->part, wanted, where_.file, where_.line);
  out->shape = shape_of(result);
  for (int i = 0; i < x->shape.rank(); ++i) {
    if (i == axis) continue;
    out->first.push_back(x->first[i]);
    out->count.push_back(x->count[i]);
  }
  out->fill = fill;
  return out;
}

}  // namespace kernbench::triton
