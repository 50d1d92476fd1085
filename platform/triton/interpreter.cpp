// SPDX-License-Identifier: Apache-2.0
#include "kernbench/platform/triton/run.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <memory>

namespace kernbench::triton {

std::vector<Value> Run::function(const Function& f, const std::vector<Value>& arguments) {
  Frame frame{f, std::vector<Value>(f.types.size())};
  Frame* const caller = frame_;
  frame_ = &frame;
  std::vector<Value> results = blocks(f.body, arguments);
  for (size_t i = 0; i < results.size(); ++i) {  // the caller does not store the callee's operations
    const Value& v = results[i];
    if (v.is(VK::known) && v.known->form == Known::Form::open) results[i] = Value::of(lanes(v, f.results[i]));
  }
  frame_ = caller;
  return results;
}

void Run::finish() {
  flush();
  for (const tl::Event& e : engines_.take_stores()) tl_.wait(e);
}

void Run::fault(const Operation& op, const std::string& what) const {
  throw KernelFault(engines_.where(),
                    op.name + " (" + program_.module().file + ":" + std::to_string(op.line) + "): " + what);
}

int64_t Run::integer(const Operation& op, const Value& v) {
  if (v.is(VK::integer)) return v.n;
  if (v.is(VK::data)) {
    flush();
    if (v.data->said) return (*said(*v.data))[0];
    return v.data->part.loaded().item<int64_t>(engines_.where().file, engines_.where().line);
  }
  fault(op, "an integer that is not known here");
}

void Run::constant(const Operation& op) {
  const Attribute& a = *op.attribute("value");
  const Type& t = type(op.results[0]);
  Value& out = value(op.results[0]);
  if (!t.tensor) {
    out = is_float(t.element) ? Value::of_real(rounded(a.real, t.element)) : Value::of(wrapped(a.integer, t.element));
    return;
  }
  if (is_float(t.element)) {
    const double first = a.reals.at(0);
    const auto is_first = [first](double d) {
      return std::isnan(d) ? std::isnan(first) : d == first && std::signbit(d) == std::signbit(first);
    };
    if (!std::all_of(a.reals.begin(), a.reals.end(), is_first)) {
      flush();
      out = Value::of(engines_.given(a.reals, t));
      return;
    }
    out = Value::of_real(rounded(a.reals.at(0), t.element));
    out.kind = VK::uniform;
    return;
  }
  if (a.integers.size() == 1) {
    out = Value::of(KnownPtr(Known::of(t.element, t.shape, wrapped(a.integers[0], t.element))));
    return;
  }
  auto k = Known::of(t.element, t.shape, 0);
  if (t.shape.dims().rank() == 1) {
    auto values = std::make_shared<std::vector<int64_t>>();
    for (const int64_t n : a.integers) values->push_back(wrapped(n, t.element));
    if (t.element == Element::i1) k->base = 1;
    k->axes[0].values = values;
  } else {
    flush();
    out = Value::of(engines_.given(a.integers, t));
    return;
  }
  out = Value::of(KnownPtr(k));
}

void Run::bitcast(const Operation& op) {
  const Value& v = in(op, 0);
  const Type to = lanes_type(op.results[0]);
  Value& out = value(op.results[0]);
  if (to.kind == Type::Kind::pointer) {
    out = v;
    out.ptr = v.ptr.cast(dtype_of(to.element));
    return;
  }
  const Type from = lanes_type(op.operands[0]);
  if (from.element == to.element) {
    out = v;
    return;
  }
  if (v.is(VK::integer) || v.is(VK::real) || v.is(VK::uniform)) {
    scalar_work();
    out = with_bits_of(v, from.element, to.element);
    if (v.is(VK::uniform)) out = blocked(out, to);
    return;
  }
  if (v.is(VK::known) && v.known->uniform()) {
    index_work();
    out = blocked(with_bits_of(Value::of(v.known->base), from.element, to.element), to);
    return;
  }
  out = Value::of(engines_.reinterpret(lanes(v, from), to.element));
}

Value Run::blocked(const Value& number, const Type& t) {
  if (!is_float(t.element)) return Value::of(KnownPtr(Known::of(t.element, t.shape, number.n)));
  Value v = number;
  v.kind = VK::uniform;
  return v;
}

bool Run::passes_nan_on(const Operation& op) {
  const Attribute* all = op.attribute("propagateNan");
  return all && (all->text == "all" || all->integer != 0);
}

void Run::real_op(const Operation& op, const std::string& name) {
  std::vector<Value> operands;
  std::vector<Type> types;
  operands.reserve(op.operands.size());
  types.reserve(op.operands.size());
  bool data = false;
  for (size_t i = 0; i < op.operands.size(); ++i) {
    operands.push_back(in(op, i));
    types.push_back(lanes_type(op.operands[i]));
    data = data || operands.back().is(VK::data);
  }
  if (data) {
    flush();
  } else {
    scalar_work();
  }
  const Type result = lanes_type(op.results[0]);
  value(op.results[0]) =
      name == kPower ? engines_.power(operands[0], operands[1], result) : engines_.math(name, operands, types, result);
}

void Run::select(const Operation& op) {
  const Value& c = in(op, 0);
  const Value& a = in(op, 1);
  const Value& b = in(op, 2);
  const Type result = lanes_type(op.results[0]);
  Value& out = value(op.results[0]);
  if (c.is(VK::integer)) {
    scalar_work();
    out = c.n != 0 ? a : b;
    return;
  }
  const Type condition = lanes_type(op.operands[0]);
  if (result.kind == Type::Kind::pointer) {
    out = select_pointers(op, c, a, b, condition, result);
    return;
  }
  if (!is_float(result.element)) {
    out = select_known(op, c, a, b, condition, result);
    if (!out.is(VK::none)) return;
  }
  flush();
  out = select({c, a, b}, condition, result);
}

Value Run::select(const std::vector<Value>& operands, const Type& condition, const Type& result) {
  const Value& c = operands[0];
  const Value on = c.is(VK::known) && c.known->form == Known::Form::open ? laned(c, condition) : c;
  Value out = engines_.select(on, laned(operands[1], result), laned(operands[2], result), condition, result);
  if (out.is(VK::data) && out.data->dtype() != dtype_of(result.element) && fits_memory(result.element))
    out = Value::of(engines_.cast(out.data, result.element));
  return out;
}

Value Run::select_known(const Operation& op, const Value& c, const Value& a, const Value& b, const Type& condition,
                        const Type& result) {
  const KnownPtr k = known(c, condition), x = known(a, result), y = known(b, result);
  if (k && x && y) {
    index_work();
    if (k->uniform()) return k->base ? a : b;
    const uint32_t bits = k->depends_on() | x->depends_on() | y->depends_on();
    if (k->form != Known::Form::open && x->form != Known::Form::open && y->form != Known::Form::open &&
        (bits & (bits - 1)) == 0) {
      bool bad = false;
      auto place = Known::of(Element::i64, k->shape, 0);
      int d = 0;
      while ((bits >> d) != 1) ++d;
      place->axes[static_cast<size_t>(d)].stride = 1;
      const Combine f = [&](int64_t i, int64_t, int64_t* n) {
        std::vector<int64_t> index(static_cast<size_t>(k->shape.rank()), 0);
        index[static_cast<size_t>(d)] = i;
        *n = k->at(index) ? x->at(index) : y->at(index);
        return true;
      };
      return Value::of(KnownPtr(combine(IntegerOp::none, result.element, *place, *place, f, &bad)));
    }
  }
  if (lanes_ || !result.tensor || !condition.tensor || is_pending(c) || is_pending(a) || is_pending(b)) return {};
  return open(op, result, {c, a, b}, {condition, result, result},
              OfElements([](const std::vector<Known::Values>& v, size_t i) { return (*v[(*v[0])[i] ? 1 : 2])[i]; }));
}

Value Run::select_pointers(const Operation& op, const Value& c, const Value& a, const Value& b, const Type& condition,
                           const Type& result) {
  if (!a.is(VK::pointers) || !b.is(VK::pointers)) fault(op, "of pointers, by data");
  const Type offsets = result.with(Type::Kind::number, Element::i64);
  const auto size = static_cast<int64_t>(size_of(dtype_of(result.element)));
  const auto apart = static_cast<int64_t>(b.ptr.addr - a.ptr.addr);
  if (apart % size != 0) fault(op, "of pointers whose distance is not a multiple of the element size");
  const Combine sum = [](int64_t i, int64_t by, int64_t* n) {
    *n = i + by;
    return true;
  };
  bool bad = false;
  const auto away = Known::of(Element::i64, result.shape, apart / size);
  const KnownPtr moved = apart == 0 ? b.known : combine(IntegerOp::addi, Element::i64, *b.known, *away, sum, &bad);
  const Value other = moved
                          ? Value::of(moved)
                          : open(op, offsets, {Value::of(b.known), Value::of(KnownPtr(away))}, {offsets, offsets}, sum);
  const Value chosen = select_known(op, c, Value::of(a.known), other, condition, offsets);
  if (chosen.is(VK::none)) fault(op, "of pointers, by values known only in Phase 2");
  Value out = a;
  if (apart != 0) out.ptr = a.ptr.unbounded();  // the result may point into either tensor
  out.known = chosen.known;
  return out;
}

void Run::print(const Operation& op) {
  const Attribute* text = op.attribute("text");
  std::string line = fmt::format("{}: program ({}, {}, {}){}", to_string(engines_.where()), id_[0], id_[1], id_[2],
                                 text ? text->text : "");
  for (size_t i = 0; i < op.operands.size(); ++i) {
    const Value& v = in(op, i);
    if (v.is(VK::integer)) {
      line += fmt::format(" {}", v.n);
    } else if (v.is(VK::real) || v.is(VK::uniform)) {
      line += fmt::format(" {}", v.d);
    } else {
      line += fmt::format(" {}", type(op.operands[i]).to_string());
    }
  }
  std::fprintf(stderr, "%s\n", line.c_str());
}

void Run::promise(const Operation& op, const std::string& what) {
  const Value& v = in(op, 0);
  bool holds = true;
  if (v.is(VK::integer)) holds = v.n != 0;
  if (v.is(VK::known) && v.known->form != Known::Form::open) {
    const auto all = v.known->elements();
    holds = std::all_of(all->begin(), all->end(), [](int64_t n) { return n != 0; });
  }
  if (v.is(VK::data) && v.data->readable) {
    const auto all = engines_.read(v.data);
    holds = std::all_of(all.begin(), all.end(), [](double n) { return n != 0; });
  }
  if (!holds) fault(op, what);
}

bool Run::passes_on(Does d) {
  return is_elementwise(d) || d == Does::dot || d == Does::expand_dims || d == Does::broadcast || d == Does::trans ||
         d == Does::call || d == Does::for_loop || d == Does::if_else || d == Does::while_loop;
}

void Run::operation(const Operation& op) {
  if (!passes_on(op.info->does)) {
    for (const ValueId v : op.operands) engines_.await(value(v));
  }
  switch (op.info->does) {
    case Does::nothing:
      return;
    case Does::integer:
      return integer_op(op);
    case Does::real:
      return real_op(op, op.name == "tt.clampf" && !passes_nan_on(op) ? "clampnum" : op.info->tl);
    case Does::compare:
      return compare_op(op);
    case Does::select:
      return select(op);
    case Does::convert:
      return convert_op(op);
    case Does::bitcast:
      return bitcast(op);
    case Does::constant:
      return constant(op);
    case Does::poison:
      value(op.results[0]) = nothing(type(op.results[0]));
      return;
    case Does::make_range: {
      auto k = Known::of(type(op.results[0]).element, type(op.results[0]).shape, op.attribute("start")->integer);
      k->axes[0].stride = 1;
      index_work();
      value(op.results[0]) = Value::of(KnownPtr(k));
      return;
    }
    case Does::program_id:
    case Does::num_programs: {
      const auto axis = static_cast<size_t>(op.attribute("word0")->text[0] - 'x');
      scalar_work();
      value(op.results[0]) = Value::of(op.info->does == Does::program_id ? id_[axis] : grid_[axis]);
      return;
    }
    case Does::splat:
      return splat(op);
    case Does::unsplat: {
      const Value& v = in(op, 0);
      Value& out = value(op.results[0]);
      if (v.is(VK::data)) {
        out = Value::of(engines_.reshape(v.data, {}));
      } else if (v.is(VK::uniform)) {
        out = Value::of_real(v.d);
      } else if (v.is(VK::known)) {
        out = Value::of((*v.known->elements())[0]);
      } else {
        out = Value::of(v.ptr + (*v.known->elements())[0]);
      }
      return;
    }
    case Does::expand_dims:
    case Does::broadcast:
    case Does::reshape:
    case Does::trans:
      return view_op(op);
    case Does::join: {
      flush();
      std::vector<tl::Tensor> pieces;
      for (size_t i = 0; i < 2; ++i) {
        const tl::Tensor t = engines_.dense(lanes(in(op, i), type(op.operands[i])));
        pieces.push_back(t.expand_dims(t.rank(), engines_.where().file, engines_.where().line));
      }
      value(op.results[0]) =
          Value::of(Engines::of(engines_.stack(pieces, pieces[0].rank() - 1), type(op.results[0]).shape));
      return;
    }
    case Does::split: {
      flush();
      const tl::Tensor t = engines_.dense(lanes(in(op, 0), type(op.operands[0])));
      for (int i = 0; i < 2; ++i) {
        const Dims& shape = type(op.results[static_cast<size_t>(i)]).shape;
        const tl::Tensor half = t.slice(t.rank() - 1, i, 1, engines_.where().file, engines_.where().line);
        value(op.results[static_cast<size_t>(i)]) =
            Value::of(Engines::of(half.reshape(shape, engines_.where().file, engines_.where().line), shape));
      }
      return;
    }
    case Does::cat: {
      flush();
      std::vector<tl::Tensor> pieces;
      for (size_t i = 0; i < 2; ++i) pieces.push_back(engines_.dense(lanes(in(op, i), type(op.operands[i]))));
      value(op.results[0]) = Value::of(Engines::of(engines_.stack(pieces, 0), type(op.results[0]).shape));
      return;
    }
    case Does::addptr:
      return addptr(op);
    case Does::int_to_ptr:
      return int_to_ptr(op);
    case Does::ptr_to_int:
      return ptr_to_int(op);
    case Does::load:
      return load(op);
    case Does::store:
      return store(op);
    case Does::atomic:
      return atomic(op);
    case Does::dot: {
      flush();
      const Type& a = type(op.operands[0]);
      const Type& b = type(op.operands[1]);
      const Type& d = type(op.results[0]);
      Value& out = value(op.results[0]);
      out = engines_.dot(laned(in(op, 0), a), laned(in(op, 1), b), in(op, 2), a, b, d);
      Engines::settle(out);
      if (product_ && out.is(VK::data)) *product_ = out.data->part;
      return;
    }
    case Does::reduce:
      return reduce(op);
    case Does::scan:
      return scan(op);
    case Does::histogram:
      return histogram(op);
    case Does::gather:
      return gather(op);
    case Does::make_block_pointer:
    case Does::make_descriptor:
      return make_tile(op);
    case Does::advance:
      return advance(op);
    case Does::descriptor_load:
    case Does::descriptor_store:
      return descriptor(op);
    case Does::extern_call:
      return real_op(op, library_op(op.attribute("symbol")->text));
    case Does::assume:
      return promise(op, "an assumption of the compiler does not hold");
    case Does::assertion:
      return promise(op, op.attribute("text") ? op.attribute("text")->text : "an assertion does not hold");
    case Does::print:
      return print(op);
    case Does::call:
      give(op, function(*program_.module().function(op.attribute("callee")->text), taken(op, 0)));
      return;
    case Does::for_loop:
      return for_loop(op);
    case Does::if_else:
      return if_else(op);
    case Does::while_loop:
      return while_loop(op);
    case Does::terminator:
    case Does::branch:
    case Does::not_run:
      fault(op, "cannot be run");
  }
}

void run_program(const Program& program, tl::Context& tl, const std::vector<Value>& arguments, const Index3& id,
                 const Index3& grid, bool joins) {
  Run run(program, tl, id, grid, joins);
  run.function(program.function(), arguments);
  run.finish();
}

}  // namespace kernbench::triton
