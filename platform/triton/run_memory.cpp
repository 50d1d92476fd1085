// SPDX-License-Identifier: Apache-2.0
// Pointers, loads, stores, atomics, tiles.
#include "kernbench/platform/triton/run.h"

#include <array>
#include <cmath>
#include <memory>
#include <utility>

namespace kernbench::triton {

void Run::addptr(const Operation& op) {
  const Value& p = in(op, 0);
  const Value& o = in(op, 1);
  Value& out = value(op.results[0]);
  if (p.is(VK::pointer)) {
    scalar_work();
    out = p;
    out.ptr += integer(op, o);
    return;
  }
  index_work();
  const Type& t = type(op.operands[1]);
  KnownPtr offsets = known(o, t);
  if (!offsets || offsets->form == Known::Form::open || p.known->form == Known::Form::open) {
    const auto a = p.known->elements();
    const auto b = elements(o, t);
    auto sum = std::make_shared<std::vector<int64_t>>(a->size());
    for (size_t i = 0; i < a->size(); ++i) (*sum)[i] = (*a)[i] + (*b)[i];
    auto k = Known::of(Element::i64, t.shape, 0);
    k->form = Known::Form::open;
    k->all = sum;
    out = p;
    out.known = k;
    return;
  }
  auto wide = std::make_shared<Known>(*offsets);
  wide->element = Element::i64;
  wide->form = Known::Form::sum;
  bool bad = false;
  const auto f = [](int64_t x, int64_t y, int64_t* n) {
    *n = x + y;
    return true;
  };
  out = p;
  out.known = combine(IntegerOp::addi, Element::i64, *p.known, *wide, f, &bad);
}

void Run::int_to_ptr(const Operation& op) {
  const Type& to = type(op.results[0]);
  Value& out = value(op.results[0]);
  const auto pointer = [&](int64_t address) {
    return tl::Ptr(Space::hbm, static_cast<uint64_t>(address), dtype_of(to.element));
  };
  if (!to.tensor) {
    out = Value::of(pointer(integer(op, 0)));
    return;
  }
  // Contiguous elements from the first address.
  index_work();
  const auto all = elements(in(op, 0), type(op.operands[0]));
  const auto size = static_cast<int64_t>(size_of(dtype_of(to.element)));
  const int64_t first = (*all)[0];
  std::vector<int64_t> offsets;
  for (const int64_t address : *all) {
    if ((address - first) % size != 0) fault(op, "addresses whose distance is not a multiple of the element size");
    offsets.push_back((address - first) / size);
  }
  auto k = Known::of(Element::i64, to.shape, 0);
  if (to.shape.dims().rank() == 1) {
    k->axes[0].values = std::make_shared<const std::vector<int64_t>>(std::move(offsets));
  } else {
    k->form = Known::Form::open;
    k->all = std::make_shared<const std::vector<int64_t>>(std::move(offsets));
  }
  out = Value::of(pointer(first));
  out.kind = VK::pointers;
  out.known = k;
}

void Run::ptr_to_int(const Operation& op) {
  const Value& p = in(op, 0);
  const auto address = static_cast<int64_t>(p.ptr.addr);
  if (p.is(VK::pointer)) {
    value(op.results[0]) = Value::of(address);
    return;
  }
  index_work();
  const Type& to = type(op.results[0]);
  const auto each = [&](IntegerOp name, const KnownPtr& a, int64_t by, const Combine& f) {
    bool bad = false;
    const auto b = Known::of(Element::i64, to.shape, by);
    if (const auto k = combine(name, Element::i64, *a, *b, f, &bad)) return KnownPtr(k);
    return open(op, to, {Value::of(a)}, {to}, [by, f](int64_t x, int64_t, int64_t* n) { return f(x, by, n); }).known;
  };
  const auto size = static_cast<int64_t>(size_of(dtype_of(type(op.operands[0]).element)));
  const KnownPtr bytes = each(IntegerOp::muli, p.known, size, [](int64_t x, int64_t by, int64_t* n) {
    *n = x * by;
    return true;
  });
  value(op.results[0]) = Value::of(each(IntegerOp::addi, bytes, address, [](int64_t x, int64_t by, int64_t* n) {
    *n = x + by;
    return true;
  }));
}

bool Run::is_pending(const Value& v) {
  return v.is(VK::data) && !v.data->readable;  // known integer blocks come only from readable data
}

KnownPtr Run::mask_of(const Operation& op, size_t i, bool* some, DataPtr* pending) {
  *some = true;
  if (op.operands.size() <= i) return nullptr;
  const Value& m = in(op, i);
  const Type& t = type(op.operands[i]);
  if (pending && is_pending(m)) {
    *pending = lanes(m, t);
    return nullptr;
  }
  KnownPtr k = known(m, t);
  if (!k) {
    auto all = Known::of(Element::i1, t.tensor ? t.shape.dims() : Dims{}, 0);
    all->form = Known::Form::open;
    all->all = elements(m, t);
    k = all;
  }
  if (k->uniform()) {
    *some = k->base != 0;
    return nullptr;
  }
  return k;
}

double Run::other_of(const Operation& op, bool* number, size_t i) {
  *number = true;
  if (op.operands.size() <= i) return 0;
  const Value& v = in(op, i);
  if (v.is(VK::uniform) || v.is(VK::real)) return v.d;
  if (v.is(VK::integer)) return static_cast<double>(v.n);
  if (v.is(VK::known) && v.known->uniform() && is_immediate(v.known->base)) return static_cast<double>(v.known->base);
  *number = false;
  return 0;
}

bool Run::pads_with_nan(const Operation& op) const {
  const Attribute* padding = op.attribute("padding");
  return padding && padding->integer == 2 && is_float(type(op.results[0]).element);
}

void Run::load(const Operation& op) {
  const Type& result = type(op.results[0]);
  const Value& p = in(op, 0);
  bool some = true, number = true;
  DataPtr pending;
  const KnownPtr mask = mask_of(op, 1, &some, &pending);
  double other = other_of(op, &number, 2);
  flush();
  Value& out = value(op.results[0]);
  if (p.is(VK::tile)) {
    const Attribute* boundary = op.attribute("boundaryCheck");
    std::vector<bool> checked(p.tile->shape.size(), false);
    for (const int64_t axis : boundary ? boundary->integers : std::vector<int64_t>{})
      checked[static_cast<size_t>(axis)] = true;
    if (pads_with_nan(op)) other = std::nan("");
    out = engines_.load(p.tile->base, Engines::tile_offsets(*p.tile, result.shape),
                        Engines::tile_mask(*p.tile, result.shape, checked), other, result);
    return;
  }
  if (!some) {
    out = op.operands.size() > 2 ? in(op, 2) : nothing(result);
    return;
  }
  out = engines_.load(p.ptr, result.tensor ? p.known : Known::of(Element::i64, {}, 0), mask, other, result);
  const Type truth = result.with(Type::Kind::number, Element::i1);
  if (pending) {
    const Value elsewhere = op.operands.size() > 2 ? laned(in(op, 2), result) : nothing(result);
    out = engines_.select(Value::of(pending), out, elsewhere, truth, result);
  } else if (!number && mask) {  // elsewhere the result is a different block
    const Value on = mask->form == Known::Form::open ? laned(in(op, 1), truth) : Value::of(mask);
    out = engines_.select(on, out, laned(in(op, 2), result), truth, result);
  }
}

Value Run::nothing(const Type& t) {
  Value v = is_float(t.element) ? Value::of_real(0) : Value::of(int64_t{0});
  if (!t.tensor) return v;
  if (!is_float(t.element)) return Value::of(KnownPtr(Known::of(t.element, t.shape, 0)));
  v.kind = VK::uniform;
  return v;
}

void Run::store(const Operation& op) {
  const Value& p = in(op, 0);
  const Type& t = type(op.operands[1]);
  bool some = true;
  DataPtr pending;
  const KnownPtr mask = mask_of(op, 2, &some, &pending);
  if (!some) return;
  const Value v = laned(in(op, 1), t);
  flush();
  if (p.is(VK::tile)) {
    const Attribute* boundary = op.attribute("boundaryCheck");
    std::vector<bool> checked(p.tile->shape.size(), false);
    for (const int64_t axis : boundary ? boundary->integers : std::vector<int64_t>{})
      checked[static_cast<size_t>(axis)] = true;
    engines_.store(p.tile->base, Engines::tile_offsets(*p.tile, t.shape), Engines::tile_mask(*p.tile, t.shape, checked),
                   v, t);
    return;
  }
  const KnownPtr offsets = p.is(VK::pointer) ? Known::of(Element::i64, {}, 0) : p.known;
  engines_.store(p.ptr, offsets, p.is(VK::pointer) ? nullptr : mask, v, t, pending);
}

void Run::atomic(const Operation& op) {
  const bool cas = op.name == "tt.atomic_cas";
  const Value& p = in(op, 0);
  const Type& t = type(op.operands[1]);
  bool some = true;
  const KnownPtr mask = cas ? nullptr : mask_of(op, 2, &some);
  flush();
  Value& out = value(op.results[0]);
  if (!some) {
    out = nothing(t);
    return;
  }
  Engines::Atomic a = atomic_of(op, cas);
  const std::vector<ValueId>& dying = program_.dying(op);
  a.reduces = std::find(dying.begin(), dying.end(), op.results[0]) != dying.end();
  if (cas) a.expected = &in(op, 1);
  out = engines_.atomic(a, p.ptr, p.is(VK::pointer) ? nullptr : p.known, mask, in(op, cas ? 2 : 1), t);
}

Engines::Atomic Run::atomic_of(const Operation& op, bool cas) {
  static const std::array<const char*, 10> ops = {"and", "or",  "xor",  "add",  "fadd",
                                                  "max", "min", "umax", "umin", "exch"};
  static const std::array<const char*, 4> sems = {"relaxed", "acquire", "release", "acq_rel"};
  std::string name = cas ? "cas" : "", sem = "acq_rel";
  for (int i = 0; const Attribute* word = op.attribute("word" + std::to_string(i)); ++i) {
    if (std::find(sems.begin(), sems.end(), word->text) != sems.end()) sem = word->text;
    if (!cas && std::find(ops.begin(), ops.end(), word->text) != ops.end()) name = word->text;
  }
  const auto numbered = [&](const char* key, const auto& all, std::string* to) {
    const Attribute* n = op.attribute(key);
    if (n && n->integer >= 1 && n->integer <= static_cast<int64_t>(all.size()))
      *to = all[static_cast<size_t>(n->integer) - 1];
  };
  if (!cas) numbered("atomic_rmw_op", ops, &name);
  numbered("sem", sems, &sem);
  if (name.empty()) fault(op, "an atomic that there is not");
  Engines::Atomic a;
  a.is_unsigned = name == "umax" || name == "umin";
  a.op = name == "fadd" ? "add" : name == "exch" ? "xchg" : a.is_unsigned ? name.substr(1) : name;
  a.sem = static_cast<tl::Sem>(std::find(sems.begin(), sems.end(), sem) - sems.begin());
  return a;
}

void Run::make_tile(const Operation& op) {
  auto tile = std::make_shared<Tile>();
  tile->base = in(op, 0).ptr;
  const size_t lists = op.info->does == Does::make_descriptor ? 2 : 3;
  const size_t rank = (op.operands.size() - 1) / lists;
  for (size_t i = 0; i < rank; ++i) {
    tile->shape.push_back(integer(op, 1 + i));
    tile->strides.push_back(integer(op, 1 + rank + i));
    tile->offsets.push_back(lists == 3 ? integer(op, 1 + 2 * rank + i) : 0);
    scalar_work();
  }
  if (op.info->does == Does::make_descriptor && pads_with_nan(op)) tile->around = std::nan("");
  Value v;
  v.kind = VK::tile;
  v.tile = tile;
  value(op.results[0]) = v;
}

void Run::advance(const Operation& op) {
  auto tile = std::make_shared<Tile>(*in(op, 0).tile);
  for (size_t i = 0; i < tile->offsets.size(); ++i) {
    tile->offsets[i] += integer(op, 1 + i);
    scalar_work();
  }
  value(op.results[0]) = in(op, 0);
  value(op.results[0]).tile = tile;
}

void Run::descriptor(const Operation& op) {
  const bool loads = op.info->does == Does::descriptor_load;
  Tile tile = *in(op, 0).tile;
  for (size_t i = 0; i < tile.offsets.size(); ++i) {
    tile.offsets[i] = integer(op, 1 + i);
    scalar_work();
  }
  const Type& descriptor_type = type(op.operands[0]);
  const Dims& shape = descriptor_type.shape;
  const std::vector<bool> all(tile.shape.size(), true);
  const KnownPtr mask = Engines::tile_mask(tile, shape, all);
  const KnownPtr offsets = Engines::tile_offsets(tile, shape);
  const ValueId other_end = loads ? op.results[0] : op.operands.back();
  Type t = type(other_end);
  const Dims wanted = t.shape;
  t.shape = shape;
  if (loads) {
    flush();
    Value v = engines_.load(tile.base, offsets, mask, tile.around, t);
    if (wanted != shape && v.is(VK::data)) v = Value::of(engines_.reshape(v.data, wanted));
    if (wanted != shape && v.is(VK::known)) v = Value::of(KnownPtr(Known::of(t.element, wanted, v.known->base)));
    value(op.results[0]) = v;
    return;
  }
  Value v = laned(in(op, op.operands.size() - 1), type(other_end));
  flush();
  if (wanted != shape && v.is(VK::data)) v = Value::of(engines_.reshape(v.data, shape));
  engines_.store(tile.base, offsets, mask, v, t);
}

}  // namespace kernbench::triton
