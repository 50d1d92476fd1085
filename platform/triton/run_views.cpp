// SPDX-License-Identifier: Apache-2.0
// Conversions and shape changes.
#include "kernbench/platform/triton/run.h"

#include <memory>

namespace kernbench::triton {

void Run::convert_op(const Operation& op) {
  const Type from = lanes_type(op.operands[0]);
  const Type to = lanes_type(op.results[0]);
  const Value& v = in(op, 0);
  Value& out = value(op.results[0]);
  const bool unsigned_source = op.name == "arith.extui" || op.name == "arith.uitofp" || op.name == "arith.index_castui";
  const Combine f = [unsigned_source, from, to](int64_t x, int64_t, int64_t* n) {
    if (unsigned_source && bits_of(from.element) < 64) x &= (int64_t{1} << bits_of(from.element)) - 1;
    *n = wrapped(!unsigned_source && from.element == Element::i1 ? -x : x, to.element);
    return true;
  };
  if (!is_float(from.element) && !is_float(to.element)) {
    if (v.is(VK::known) && v.known->form == Known::Form::sum && from.element != Element::i1 &&
        bits_of(to.element) >= bits_of(from.element) && !unsigned_source) {
      auto k = std::make_shared<Known>(*v.known);
      k->element = to.element;
      k->all = nullptr;
      index_work();
      out = Value::of(KnownPtr(k));
      return;
    }
    if (v.is(VK::data) && v.data->readable && !to.tensor) {
      int64_t n = 0;
      f(integer(op, v), 0, &n);
      out = Value::of(n);
      return;
    }
    if (v.is(VK::data) && v.data->readable) {
      out = open(op, to, {v}, {from}, f);
      return;
    }
    out = combined(op, v, v, to, f);
    return;
  }
  if (v.is(VK::integer) || v.is(VK::real) || v.is(VK::uniform)) {
    scalar_work();
    double number = v.is(VK::integer) ? static_cast<double>(v.n) : v.d;
    if (v.is(VK::integer) && (unsigned_source || from.element == Element::i1)) {
      int64_t n = v.n;
      if (bits_of(from.element) < 64) n &= (int64_t{1} << bits_of(from.element)) - 1;
      number = static_cast<double>(unsigned_source ? n : -n);
    }
    if (!is_float(to.element)) {
      const bool wraps = low_bits(op, to);
      const int64_t n = wraps ? wrapped(saturated(number, Element::i64), to.element) : saturated(number, to.element);
      out = to.tensor ? Value::of(KnownPtr(Known::of(to.element, to.shape, n))) : Value::of(n);
      return;
    }
    out = Value::of_real(rounded(number, to.element));
    if (v.is(VK::uniform)) out.kind = VK::uniform;
    return;
  }
  flush();
  out = Value::of(converted(op, laned(v, from), from, to));
}

bool Run::low_bits(const Operation& op, const Type& to) {
  return op.name == "arith.fptoui" || to.element == Element::i1;
}

DataPtr Run::converted(const Operation& op, const Value& v, const Type& from, const Type& to) {
  if (!fits_memory(to.element)) fault(op, "of data to " + to.to_string() + ", which TCM does not hold");
  const DataPtr d = engines_.data(v, from);
  const bool integers = !is_float(from.element) && !is_float(to.element);
  if (integers && bits_of(to.element) < bits_of(from.element)) return engines_.truncate(d, from, to);
  if (is_float(from.element) && !is_float(to.element) && low_bits(op, to)) {
    const Type wide = from.with(from.kind, Element::i64);
    return engines_.truncate(engines_.cast(d, wide.element), wide, to);
  }
  if (op.name == "arith.extui" || op.name == "arith.uitofp" || op.name == "arith.index_castui") {
    Type wide;
    return engines_.cast(engines_.without_sign(d, from, &wide), to.element);
  }
  const DataPtr made = engines_.cast(d, to.element);
  if (from.element != Element::i1 || is_float(from.element)) return made;
  return engines_.math("neg", {Value::of(made)}, {to}, to).data;  // true is -1
}

void Run::view_op(const Operation& op) {
  const Value& v = in(op, 0);
  const Type& to = type(op.results[0]);
  if (!v.is(VK::data)) index_work();
  if (v.is(VK::known) && v.known->form == Known::Form::open) {
    value(op.results[0]) = open_view(op, v, to);
    return;
  }
  value(op.results[0]) = view(op, v);
}

Value Run::view(const Operation& op, const Value& v) {
  const Type& to = type(op.results[0]);
  if (v.is(VK::uniform)) return v;
  if (v.is(VK::known) || v.is(VK::pointers)) {
    Value out = v;
    if (v.known->form == Known::Form::open) {
      out.known = open_view(op, Value::of(v.known), to).known;
      return out;
    }
    out.known = known_view(op, *v.known, to);
    if (!out.known) out.known = open_view(op, Value::of(v.known), to).known;  // by its elements
    return out;
  }
  flush();
  switch (op.info->does) {
    case Does::expand_dims:
      if (to.shape.is_deep()) return Value::of(engines_.reshape(v.data, to.shape));
      return Value::of(engines_.expand(v.data, static_cast<int>(op.attribute("axis")->integer), to.shape));
    case Does::broadcast:
      return Value::of(to.shape.is_deep() ? engines_.spread_deep(v.data, type(op.operands[0]).shape, to.shape)
                                          : engines_.spread(v.data, to.shape));
    case Does::trans:
      return Value::of(engines_.permute(v.data, op.attribute("order")->integers, to.shape));
    default:
      return Value::of(engines_.reshape(v.data, to.shape));
  }
}

namespace {

KnownPtr uniform_like(const Known& k, const Dims& shape) {
  auto out = Known::of(k.element, shape, k.base);
  out->form = k.form;
  return out;
}

}  // namespace

KnownPtr Run::known_view(const Operation& op, const Known& k, const Type& to) {
  if (to.shape.is_deep() && op.info->does == Does::broadcast && !k.uniform()) return nullptr;
  if (to.shape.is_deep()) return k.uniform() ? uniform_like(k, to.shape) : reshaped(k, to.shape);
  switch (op.info->does) {
    case Does::expand_dims:
      return expanded(k, static_cast<int>(op.attribute("axis")->integer), to.shape);
    case Does::broadcast:
      return broadcast(k, to.shape);
    case Does::trans:
      return permuted(k, op.attribute("order")->integers, to.shape);
    default:
      return reshaped(k, to.shape);
  }
}

Value Run::open_view(const Operation& op, const Value& v, const Type& to) {
  auto k = Known::of(to.element, to.shape, 0);
  k->form = Known::Form::open;
  k->op = &op;
  k->function = &frame_->function;
  k->operands = {v};
  k->loaded = v.known->loaded;
  k->source = std::make_shared<Known::Elements>();
  k->source->compute = [source = only_elements(v.known), from_shape = type(op.operands[0]).shape, shape = to.shape,
                        &op] {
    const auto all = source->elements();
    if (op.info->does == Does::expand_dims || op.info->does == Does::reshape) return all;
    // Maps each index of the view to an index of the source.
    const int rank = shape.rank();
    std::vector<int64_t> strides(static_cast<size_t>(rank), 1), step = strides;
    for (int d = rank - 1; d > 0; --d)
      strides[static_cast<size_t>(d) - 1] = strides[static_cast<size_t>(d)] * from_shape[d];
    for (int d = 0; d < rank; ++d) {
      const int from =
          op.info->does == Does::trans ? static_cast<int>(op.attribute("order")->integers[static_cast<size_t>(d)]) : d;
      step[static_cast<size_t>(d)] = from_shape[from] == 1 ? 0 : strides[static_cast<size_t>(from)];
    }
    auto out = std::make_shared<std::vector<int64_t>>();
    std::vector<int64_t> index(static_cast<size_t>(rank), 0);
    for (int64_t i = 0, n = shape.elements(); i < n; ++i) {
      int64_t at = 0;
      for (size_t d = 0; d < index.size(); ++d) at += index[d] * step[d];
      out->push_back((*all)[static_cast<size_t>(at)]);
      for (size_t d = index.size(); d-- > 0;) {
        if (++index[d] < shape[static_cast<int>(d)]) break;
        index[d] = 0;
      }
    }
    return Known::Values(out);
  };
  return Value::of(KnownPtr(k));
}

void Run::splat(const Operation& op) {
  const Value& v = in(op, 0);
  const Type& to = type(op.results[0]);
  Value& out = value(op.results[0]);
  index_work();
  if (v.is(VK::integer)) {
    out = Value::of(KnownPtr(Known::of(to.element, to.shape, v.n)));
  } else if (v.is(VK::real)) {
    out = v;
    out.kind = VK::uniform;
  } else if (v.is(VK::pointer)) {
    out = v;
    out.kind = VK::pointers;
    out.known = Known::of(Element::i64, to.shape, 0);
  } else if (v.is(VK::data) && !is_float(to.element) && v.data->readable) {
    out = Value::of(KnownPtr(Known::of(to.element, to.shape, integer(op, v))));
  } else {
    flush();
    Dims ones;
    for (int i = 0; i < to.shape.dims().rank(); ++i) ones.push_back(1);
    out = Value::of(Engines::of(v.data->part.reshape(ones, engines_.where().file, engines_.where().line), to.shape));
  }
}

}  // namespace kernbench::triton
