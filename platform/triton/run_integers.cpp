// SPDX-License-Identifier: Apache-2.0
// Integers and blocks of integers on pe_cpu, as long as they are known there.
#include "kernbench/platform/triton/run.h"

#include <algorithm>
#include <memory>
#include <utility>

namespace kernbench::triton {

KnownPtr Run::known(const Value& v, const Type& t) {
  if (v.is(VK::known)) return v.known;
  if (v.is(VK::integer)) return Known::of(t.element, t.tensor ? t.shape.dims() : Dims{}, v.n);
  return nullptr;
}

Known::Values Run::elements(const Value& v, const Type& t) {
  if (const KnownPtr k = known(v, t)) {
    if (k->form != Known::Form::open) flush();
    return k->elements();
  }
  flush();
  if (v.data->said) return said(*v.data);
  auto values = std::make_shared<std::vector<int64_t>>();
  *values = engines_.read(v.data);
  return values;
}

Known::Values Run::said(const Data& d) {
  if (!d.said->all) d.said->all = std::exchange(d.said->compute, nullptr)();
  return d.said->all;
}

KnownPtr Run::only_elements(const KnownPtr& k) {
  if (k->form != Known::Form::open) return k;
  auto e = Known::of(k->element, k->shape, 0);
  e->form = Known::Form::open;
  e->source = k->source;
  e->loaded = k->loaded;
  e->all = k->all;
  return e;
}

Value Run::open(const Operation& op, const Type& result, std::vector<Value> operands, std::vector<Type> types,
                const Combine& f) {
  return open(op, result, std::move(operands), std::move(types), [f](const std::vector<Known::Values>& x, size_t i) {
    int64_t n = 0;
    f((*x.front())[i], (*x.back())[i], &n);  // 0 for a division by 0 or a too large shift: a mask may exclude it
    return n;
  });
}

Value Run::open(const Operation& op, const Type& result, std::vector<Value> operands, std::vector<Type> types,
                const OfElements& f) {
  auto k = Known::of(result.element, result.shape, 0);
  k->form = Known::Form::open;
  k->op = &op;
  k->function = &frame_->function;
  k->operands = operands;
  for (Value& o : operands) {
    if (o.is(VK::known)) o.known = only_elements(o.known);
    k->loaded = k->loaded || o.is(VK::data) || (o.is(VK::known) && o.known->loaded);
  }
  const auto n = static_cast<size_t>(result.shape.elements());
  k->source = std::make_shared<Known::Elements>();
  k->source->compute = [this, operands = std::move(operands), types = std::move(types), f, n] {
    std::vector<Known::Values> all;
    for (size_t i = 0; i < operands.size(); ++i) all.push_back(elements(operands[i], types[i]));
    auto out = std::make_shared<std::vector<int64_t>>(n);
    for (size_t i = 0; i < n; ++i) (*out)[i] = f(all, i);
    return out;
  };
  return Value::of(KnownPtr(k));
}

DataPtr Run::lanes(const Value& v, const Type& t) {
  flush();
  if (v.is(VK::known) && v.known->form == Known::Form::open) {
    // Computes the operands first and iteratively, because a kernel's stack is small.
    std::vector<const Known*> left = {v.known.get()};
    while (!left.empty()) {
      const Known& k = *left.back();
      const auto unmade = std::find_if(k.operands.begin(), k.operands.end(), [](const Value& o) {
        return o.is(VK::known) && o.known->form == Known::Form::open && !o.known->made;
      });
      if (unmade != k.operands.end()) {
        left.push_back(unmade->known.get());
        continue;
      }
      if (!k.made) make(k);
      left.pop_back();
    }
    return v.known->made;
  }
  return engines_.data(v, t);
}

void Run::make(const Known& k) {
  Frame of{*k.function, {}};
  Frame* const caller = std::exchange(frame_, &of);
  const Value made = on_engine(*k.op, k.operands);
  k.made = Engines::settled(made.is(VK::data) ? made.data : engines_.data(made, lanes_type(k.op->results[0])));
  k.operands.clear();
  frame_ = caller;
}

Value Run::laned(const Value& v, const Type& t) {
  if (v.is(VK::known)) return Value::of(lanes(v, t));
  return v;
}

void Run::integer_op(const Operation& op) {
  const Type result = lanes_type(op.results[0]);
  const Value& a = in(op, 0);
  const Value& b = op.operands.size() > 1 ? in(op, 1) : a;
  const Combine f = [what = op.info, e = result.element](int64_t x, int64_t y, int64_t* out) {
    return apply_integer(*what, e, x, y, out);
  };
  value(op.results[0]) = combined(op, a, b, result, f);
}

Value Run::combined(const Operation& op, const Value& a_in, const Value& b_in, const Type& result, const Combine& f,
                    bool ends_say) {
  // Reads one loaded number.
  const auto is_read = [&](const Value& v) { return !lanes_ && v.is(VK::data) && !result.tensor && v.data->readable; };
  const Value read_a = is_read(a_in) ? Value::of(integer(op, a_in)) : Value();
  const Value read_b = is_read(b_in) ? Value::of(integer(op, b_in)) : Value();
  const Value& a = read_a.is(VK::none) ? a_in : read_a;
  const Value& b = read_b.is(VK::none) ? b_in : read_b;
  if (a.is(VK::integer) && b.is(VK::integer)) {
    scalar_work();
    int64_t n = 0;
    if (!f(a.n, b.n, &n)) fault(op, "a division by 0, or a shift by too much");
    return Value::of(n);
  }
  const Type ta = lanes_type(op.operands[0]);
  const Type tb = lanes_type(op.operands[op.operands.size() > 1 ? 1 : 0]);
  const KnownPtr x = known(a, ta), y = known(b, tb);
  if (x && y) {
    index_work();
    bool bad = false;
    if (const auto k = combine(op.info->integer, result.element, *x, *y, f, &bad, ends_say)) {
      if (bad) fault(op, "a division by 0, or a shift by too much");
      return Value::of(KnownPtr(k));
    }
    return open(op, result, {a, b}, {ta, tb}, f);
  }
  const bool readable = (!a.is(VK::data) || a.data->readable) && (!b.is(VK::data) || b.data->readable);
  if (readable && result.tensor) {
    index_work();
    return open(op, result, {a, b}, {ta, tb}, f);
  }
  return on_engine(op, {a, b});
}

Value Run::on_engine(const Operation& op, std::vector<Value> operands) {
  flush();
  const Type result = lanes_type(op.results[0]);
  std::vector<Type> types;
  types.reserve(op.operands.size());
  for (size_t i = 0; i < op.operands.size(); ++i) types.push_back(lanes_type(op.operands[i]));
  operands.resize(types.size());
  switch (op.info->does) {
    case Does::integer: {
      for (size_t i = 0; i < operands.size(); ++i) operands[i] = laned(operands[i], types[i]);
      std::string name = op.info->tl ? op.info->tl : "";
      if (result.element == Element::i1) {
        name = op.name == "arith.andi" || op.name == "arith.muli"                              ? "minimum"
               : op.name == "arith.ori"                                                        ? "maximum"
               : op.name == "arith.xori" || op.name == "arith.addi" || op.name == "arith.subi" ? "ne"
                                                                                               : "";
      }
      if (name.empty()) fault(op, "of data that pe_cpu does not have: the engines have no such op");
      if (!fits_memory(result.element)) fault(op, std::string("the engines have no ") + name_of(result.element));
      if (name == "umulhi" && bits_of(result.element) < 32) fault(op, "of data of less than 32 bits");
      if (name != "umulhi" && op.name.compare(op.name.size() - 2, 2, "ui") == 0) {
        Type wide = without_sign(&operands, types);
        const Value made = engines_.math(name, operands, {wide, wide}, wide);
        return Value::of(engines_.truncate(made.data, wide, result));
      }
      return engines_.math(name, operands, types, result);
    }
    case Does::compare:
      return compare(op, operands, types, result);
    case Does::convert:
      return Value::of(converted(op, laned(operands[0], types[0]), types[0], result));
    case Does::select:
      return select(operands, types[0], result);
    case Does::ptr_to_int:
      fault(op, "of irregular addresses, as data");
    default:
      return view(op, laned(operands[0], types[0]));
  }
}

Type Run::without_sign(std::vector<Value>* operands, const std::vector<Type>& types) {
  Type wide;
  for (size_t i = 0; i < operands->size(); ++i) {
    Value& v = (*operands)[i];
    v = Value::of(engines_.without_sign(engines_.data(v, types[i]), types[i], &wide));
  }
  return wide;
}

void Run::compare_op(const Operation& op) {
  const Type result = lanes_type(op.results[0]);
  const Predicate predicate(op.attribute("word0")->text);
  const Value& a = in(op, 0);
  const Value& b = in(op, 1);
  const Type t = type(op.operands[0]);
  if (!is_float(t.element)) {
    const Combine f = [predicate, e = t.element](int64_t x, int64_t y, int64_t* out) {
      *out = apply_compare(predicate, e, x, y);
      return true;
    };
    const bool ends_say = predicate.is_signed && t.element != Element::i1;  // <, <=, >, >=
    value(op.results[0]) = combined(op, a, b, result, f, ends_say);
    return;
  }
  const bool number = (a.is(VK::real) || a.is(VK::uniform)) && (b.is(VK::real) || b.is(VK::uniform));
  if (number) {
    scalar_work();
    const bool holds = apply_compare(predicate, a.d, b.d);
    value(op.results[0]) =
        result.tensor && !lanes_ ? Value::of(KnownPtr(Known::of(Element::i1, result.shape, holds))) : Value::of(holds);
    return;
  }
  value(op.results[0]) = sayable(on_engine(op, {a, b}), a, b, predicate);
}

Value Run::sayable(Value made, const Value& a, const Value& b, Predicate predicate) {
  constexpr int64_t kMost = 1024;
  const auto open = [](const Value& v) {
    return v.is(VK::real) || v.is(VK::uniform) || (v.is(VK::data) && v.data->readable);
  };
  if (lanes_ || !made.is(VK::data) || made.data->shape.elements() > kMost || !open(a) || !open(b)) return made;
  auto d = std::make_shared<Data>(*made.data);
  d->said = std::make_shared<Known::Elements>();
  d->said->compute = [this, a, b, predicate, n = static_cast<size_t>(d->shape.elements())] {
    const auto reals = [&](const Value& v) {
      return v.is(VK::data) ? engines_.read_reals(v.data) : std::vector<double>(n, v.d);
    };
    const std::vector<double> x = reals(a), y = reals(b);
    auto all = std::make_shared<std::vector<int64_t>>(n);
    for (size_t i = 0; i < n; ++i) (*all)[i] = apply_compare(predicate, x[i], y[i]);
    return Known::Values(all);
  };
  return Value::of(DataPtr(d));
}

Value Run::compare(const Operation& op, std::vector<Value> operands, const std::vector<Type>& types,
                   const Type& result) {
  const std::string p = op.attribute("word0")->text;
  for (size_t i = 0; i < 2; ++i) operands[i] = laned(operands[i], types[i]);
  const auto run = [&](const char* name, const Value& a, const Value& b) {
    return engines_.math(name, {a, b}, types, result);
  };
  const auto not_of = [&](const Value& v) {
    return engines_.math("eq", {v, Value::of(int64_t{0})}, {result, result}, result);
  };
  if (op.name == "arith.cmpi") {
    if (p == "eq" || p == "ne") return run(p.c_str(), operands[0], operands[1]);
    if (p[0] != 'u') {
      if (types[0].element == Element::i1) std::swap(operands[0], operands[1]);  // true is -1
      return run(p.substr(1).c_str(), operands[0], operands[1]);
    }
    const Type wide = without_sign(&operands, types);
    return engines_.math(p.substr(1), operands, {wide, wide}, result);
  }
  const std::string how = p.substr(1);
  if (p == "true" || p == "false") return Value::of(KnownPtr(Known::of(Element::i1, result.shape, p == "true")));
  if (p == "ord" || p == "uno") {
    const char* name = p == "ord" ? "eq" : "ne";
    const Value a = run(name, operands[0], operands[0]);
    if (op.operands[0] == op.operands[1]) return a;
    const Value b = run(name, operands[1], operands[1]);
    return engines_.math(p == "ord" ? "minimum" : "maximum", {a, b}, {result, result}, result);
  }
  if (p == "une") return run("ne", operands[0], operands[1]);
  if (p == "one") {  // less or greater
    const Value a = run("lt", operands[0], operands[1]);
    return engines_.math("maximum", {a, run("gt", operands[0], operands[1])}, {result, result}, result);
  }
  if (p == "ueq") {
    const Value a = run("lt", operands[0], operands[1]);
    return not_of(engines_.math("maximum", {a, run("gt", operands[0], operands[1])}, {result, result}, result));
  }
  if (p[0] == 'u') {
    const char* contrary = how == "lt" ? "ge" : how == "le" ? "gt" : how == "gt" ? "le" : "lt";
    return not_of(run(contrary, operands[0], operands[1]));
  }
  return run(how.c_str(), operands[0], operands[1]);
}

}  // namespace kernbench::triton
