// SPDX-License-Identifier: Apache-2.0
#include "kernbench/platform/triton/engines.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>

#include "kernbench/kernel_api/assembly.h"
#include "kernbench/kernel_api/host_tensor.h"
#include "kernbench/phase2/eval/convert.h"
#include "kernbench/phase2/op/math_op.h"

namespace kernbench::triton {

namespace {

constexpr double kInf = std::numeric_limits<double>::infinity();

/// Immediates are doubles. Integers up to this magnitude are exact as one; so are the ends of a range of them.
constexpr int64_t kMostImmediate = int64_t{1} << 51;

/// The op's result if some operands (NaN here) have any value; NaN: unknown.
double absorbed(const std::string& op, const std::vector<double>& x, const std::vector<bool>& anything) {
  if (op == "mul" && ((!anything[0] && x[0] == 0) || (!anything[1] && x[1] == 0))) return 0;
  if (op == "div" && !anything[0] && x[0] == 0) return 0;
  if (op == "sub" && !anything[0] && x[0] == -kInf) return -kInf;
  if (op == "add" && ((!anything[0] && x[0] == -kInf) || (!anything[1] && x[1] == -kInf))) return -kInf;
  const bool low = op == "minimum" || op == "minnum", high = op == "maximum" || op == "maxnum";
  if (low && ((!anything[0] && x[0] == -kInf) || (!anything[1] && x[1] == -kInf))) return -kInf;
  if (high && ((!anything[0] && x[0] == kInf) || (!anything[1] && x[1] == kInf))) return kInf;
  return std::nan("");
}

}  // namespace

Dims ones(int rank) {
  Dims d;
  for (int i = 0; i < rank; ++i) d.push_back(1);
  return d;
}

Dims zeros(int rank) {
  Dims d;
  for (int i = 0; i < rank; ++i) d.push_back(0);
  return d;
}

bool held(double* fill, Element e) {
  if (is_float(e)) {
    *fill = rounded(*fill, e);
    return true;
  }
  if (!(std::fabs(*fill) <= static_cast<double>(kMostImmediate))) return false;
  *fill = static_cast<double>(wrapped(static_cast<int64_t>(*fill), e));
  return true;
}

Dims shape_of(const Type& t) {
  return t.tensor ? t.shape.dims() : Dims{};
}

bool is_immediate(int64_t n) {
  return n >= -kMostImmediate && n <= kMostImmediate;
}

int64_t saturated(double v, Element e) {
  if (std::isnan(v)) return 0;
  const double limit = std::ldexp(1.0, bits_of(e) - 1);
  if (v >= limit) return static_cast<int64_t>((uint64_t{1} << (bits_of(e) - 1)) - 1);
  return static_cast<int64_t>(std::max(v, -limit));
}

double rounded(double v, Element e) {
  if (!is_float(e)) return v;
  if (e == Element::f64) return v;
  float f = static_cast<float>(v);
  if (e != Element::f32) round_to(dtype_of(e), &f, 1);
  return f;
}

namespace {

/// Bits of a number that the type holds.
uint64_t bits_held(const Value& v, Element e) {
  if (!is_float(e)) return static_cast<uint64_t>(v.n);
  if (e == Element::f64) {
    uint64_t bits;
    std::memcpy(&bits, &v.d, sizeof bits);
    return bits;
  }
  uint8_t bytes[8] = {};
  store_scalar(v.d, dtype_of(e), bytes);
  uint64_t bits;
  std::memcpy(&bits, bytes, sizeof bits);
  return bits;
}

/// A view of the same bytes as another type of the same size.
struct Retyped : private tl::Tensor {
  Retyped(const tl::Tensor& t, DType to) : tl::Tensor(t) { dtype_ = to; }
  tl::Tensor tensor() const { return *this; }
};

}  // namespace

Value with_bits_of(const Value& number, Element from, Element to) {
  const uint64_t bits = bits_held(number, from);
  if (!is_float(to)) return Value::of(wrapped(static_cast<int64_t>(bits), to));
  if (to == Element::f64) {
    double d;
    std::memcpy(&d, &bits, sizeof d);
    return Value::of_real(d);
  }
  return Value::of_real(load_scalar(&bits, dtype_of(to)));
}

bool apply_real(const std::string& op, const std::vector<double>& x, double* out) {
  const MathOp* info = find_math_op(op);
  if (op == kPower) {
    *out = std::pow(x[0], x[1]);
  } else if (info && info->f64 && info->result != ResultRule::boolean) {
    *out = info->value(x);
  } else {
    return false;
  }
  return true;
}

DataPtr Engines::of(const tl::Tensor& part, const Dims& shape, bool readable) {
  auto d = std::make_shared<Data>();
  d->part = part;
  d->shape = shape;
  d->first = zeros(shape.rank());
  d->count = shape;
  d->readable = readable;
  return d;
}

tl::Tensor Engines::call(const std::string& op, const std::vector<tl::Arg>& a) {
  if (find_math_op(op) == nullptr) fault("the engines have no op '" + op + "'");
  if (a.size() == 1) return tl_.op(op.c_str(), {a[0]});
  if (a.size() == 2) return tl_.op(op.c_str(), {a[0], a[1]});
  return tl_.op(op.c_str(), {a[0], a[1], a[2]});
}

tl::Chained::Input Engines::input(const Data& d) const {
  return d.chained ? tl::Chained::Input(d.chained) : tl::Chained::Input(arg(d.part), d.product);
}

void Engines::compute(const std::string& op, std::vector<tl::Chained::Input> in, Data* into,
                      std::optional<DType> cast) {
  const MathOp* info = find_math_op(op);
  if (info == nullptr) fault("the engines have no op '" + op + "'");
  into->part = {};
  into->product = false;
  into->chained = std::make_shared<tl::Chained>(*info, std::move(in), cast, where_);
  if (joins_) return;
  into->part = into->chained->made();
  into->chained = nullptr;
}

const DataPtr& Engines::settled(const DataPtr& d) {
  if (d->chained) d->part = std::exchange(d->chained, nullptr)->made();
  return d;
}

void Engines::settle(const Value& v) {
  if (v.is(Value::Kind::data)) settled(v.data);
}

// ---- Blocks of integers, as data --------------------------------------------------------------------------------

/// One dimension's values or conditions as a row.
tl::Tensor Engines::axis_tensor(const Known& k, int d, int64_t first, int64_t count) {
  const Known::Axis& axis = k.axes[static_cast<size_t>(d)];
  const DType dtype = k.element == Element::index ? DType::i64 : dtype_of(k.element);
  const auto at = [&](int64_t i) { return k.form == Known::Form::product ? (axis.at(i) != 0 ? 1 : 0) : axis.at(i); };
  if (axis.has_short_stride() && k.form != Known::Form::product && is_immediate(at(first)) &&
      is_immediate(at(first + count))) {
    const auto begin = static_cast<double>(at(first)), end = static_cast<double>(at(first + count));
    if (axis.stride == 0 || count == 1) return full(tl_, {count}, begin, dtype);
    return tl_.arange(begin, end, static_cast<double>(axis.stride), dtype, where_.file, where_.line);
  }
  std::vector<int64_t> all;
  for (int64_t i = first; i < first + count; ++i) all.push_back(at(i));
  if (!std::all_of(all.begin(), all.end(), is_immediate))
    return tl_.tensor(all, {count}, dtype, where_.file, where_.line);
  // Maximal runs of consecutive values.
  std::vector<std::pair<int64_t, int64_t>> runs;
  for (int64_t i = first; i < first + count;) {
    int64_t end = i + 1;
    const int64_t step = end < first + count ? at(end) - at(i) : 0;
    while (end + 1 < first + count && at(end + 1) - at(end) == step) ++end;
    end = std::min(first + count, end + 1);
    if (i + 1 == first + count) end = i + 1;
    runs.emplace_back(i, end);
    i = end;
  }
  const auto run = [&](tl::Context& tl, int64_t i, int64_t end) {
    const int64_t step = end - i > 1 ? at(i + 1) - at(i) : 0;
    if (step == 0) return full(tl, {end - i}, static_cast<double>(at(i)), dtype);
    const auto begin = static_cast<double>(at(i));
    return tl.arange(begin, begin + static_cast<double>(step * (end - i)), static_cast<double>(step), dtype,
                     where_.file, where_.line);
  };
  if (runs.size() == 1) return run(tl_, first, first + count);
  tl::Assembly rows(tl_, dtype, count, where_.file, where_.line);
  for (const auto& [i, end] : runs) {
    const int64_t from = i, to = end;
    rows.part(from - first, [&] { return run(sync_, from, to); });
  }
  return rows.whole();
}

tl::Tensor Engines::number(int64_t n, int rank, DType dtype) {
  if (is_immediate(n)) return full(ones(rank), static_cast<double>(n), dtype);
  return tl_.tensor(std::vector<int64_t>{n}, ones(rank), dtype, where_.file, where_.line);
}

/// A box of the block. A dimension along which all elements are equal has size 1.
tl::Tensor Engines::known(const Known& k, const Dims& first, const Dims& count) {
  const int rank = k.shape.rank();
  tl::Tensor sum;
  for (int d = 0; d < rank; ++d) {
    if ((k.depends_on() >> d & 1) == 0) continue;
    Dims shape = ones(rank);
    shape[d] = count[d];
    const tl::Tensor t = axis_tensor(k, d, first[d], count[d]).reshape(shape, where_.file, where_.line);
    sum = !sum.valid() ? t : call(k.form == Known::Form::product ? "minimum" : "add", {arg(sum), arg(t)});
  }
  const DType dtype = k.element == Element::index ? DType::i64 : dtype_of(k.element);
  if (!sum.valid()) return number(k.base, rank, dtype);
  if (k.form == Known::Form::product) return k.base ? sum : full(ones(rank), 0, dtype);
  if (k.base == 0) return sum;
  if (is_immediate(k.base)) return call("add", {arg(sum), static_cast<double>(k.base)});
  return call("add", {arg(sum), arg(number(k.base, rank, dtype))});
}

DataPtr Engines::data(const Value& v, const Type& type) {
  const Dims shape = shape_of(type);
  switch (v.kind) {
    case Value::Kind::data:
      return v.data;
    case Value::Kind::integer:
    case Value::Kind::real:
    case Value::Kind::uniform: {
      if (!fits_memory(type.element) && type.element != Element::index)
        fault(std::string("TCM holds no ") + name_of(type.element));
      const DType dtype = fits_memory(type.element) ? dtype_of(type.element) : DType::i64;
      if (v.is(Value::Kind::integer)) return of(number(v.n, shape.rank(), dtype), shape);
      return of(full(ones(shape.rank()), v.d, dtype), shape);
    }
    case Value::Kind::known: {
      const Known& k = *v.known;
      if (k.form == Known::Form::open) break;
      return of(known(k, zeros(k.shape.rank()), k.shape), k.shape);
    }
    default:
      break;
  }
  fault("a value of " + type.to_string() + " cannot be data in TCM");
}

// ---- Boxes --------------------------------------------------------------------------------------------------------

tl::Tensor Engines::stack(const std::vector<tl::Tensor>& pieces, int dimension) {
  const tl::Tensor& one = pieces.front();
  std::vector<int> order = {dimension};
  for (int d = 0; d < one.rank(); ++d) {
    if (d != dimension) order.push_back(d);
  }
  Dims shape;
  for (const int d : order) shape.push_back(one.shape()[d]);
  shape[0] = 0;
  for (const tl::Tensor& p : pieces) shape[0] += p.shape()[dimension];
  tl::Assembly all(tl_, one.dtype(), shape.elements(), where_.file, where_.line);
  int64_t at = 0;
  for (const tl::Tensor& p : pieces) {
    const tl::Tensor turned = p.permute(order, where_.file, where_.line);
    all.part(at, [&] { return sync_.copy(turned, where_.file, where_.line); });
    at += turned.elements();
  }
  std::vector<int> back(order.size());
  for (size_t i = 0; i < order.size(); ++i) back[static_cast<size_t>(order[i])] = static_cast<int>(i);
  return all.whole().reshape(shape, where_.file, where_.line).permute(back, where_.file, where_.line);
}

DataPtr Engines::pad(const DataPtr& d, const Dims& first, const Dims& count) {
  DataPtr now = d;
  for (int i = 0; i < d->shape.rank(); ++i) {
    const int64_t before = now->first[i] - first[i];
    const int64_t behind = first[i] + count[i] - now->first[i] - now->count[i];
    if ((before == 0 && behind == 0) || now->alike(i)) continue;
    now = plain(now);
    await(*now);
    tl::Tensor part = now->part;
    Dims shape = part.shape();
    shape[i] = now->count[i];
    part = part.broadcast_to(shape, where_.file, where_.line);
    std::vector<tl::Tensor> pieces;
    const auto around = [&](int64_t n) {
      Dims s = shape;
      s[i] = n;
      if (n > 0) pieces.push_back(full(s, now->fill, part.dtype()));
    };
    around(before);
    pieces.push_back(part);
    around(behind);
    auto next = std::make_shared<Data>(*now);
    next->part = stack(pieces, i);
    next->first[i] = first[i];
    next->count[i] = count[i];
    next->readable = next->product = false;
    now = next;
  }
  return now;
}

DataPtr Engines::whole(const DataPtr& d) {
  return d->whole() ? d : pad(d, zeros(d->shape.rank()), d->shape);
}

tl::Tensor Engines::dense(const DataPtr& d) {
  const DataPtr all = plain(whole(d));
  if (all->part.shape() == all->shape) return all->part;
  return tl_.copy(all->part.broadcast_to(all->shape, where_.file, where_.line), where_.file, where_.line);
}

std::vector<int64_t> Engines::read(const DataPtr& d) {
  return read_as<int64_t>(d, d->part.broadcast_to(d->count, where_.file, where_.line).loaded());
}

std::vector<double> Engines::read_reals(const DataPtr& d) {
  return read_as<double>(d, d->part.broadcast_to(d->count, where_.file, where_.line).loaded());
}

template <class T>
std::vector<T> Engines::read_as(const DataPtr& d, const tl::Loaded& box) {
  const std::vector<T> inside = box.to_vector<T>();
  if (d->whole()) return inside;
  std::vector<T> all(static_cast<size_t>(d->shape.elements()), static_cast<T>(d->fill));
  const Dims strides = TensorRef::row_major(d->shape);
  std::vector<int64_t> index(static_cast<size_t>(d->shape.rank()), 0);
  for (const T x : inside) {
    int64_t at = 0;
    for (size_t i = 0; i < index.size(); ++i)
      at += (index[i] + d->first[static_cast<int>(i)]) * strides[static_cast<int>(i)];
    all[static_cast<size_t>(at)] = x;
    for (size_t i = index.size(); i-- > 0;) {
      if (++index[i] < d->count[static_cast<int>(i)]) break;
      index[i] = 0;
    }
  }
  return all;
}

/// The box that covers the present elements of all blocks.
Engines::Box Engines::box_of(const Operands& x, const Dims& shape) {
  Box box{zeros(shape.rank()), shape};
  for (int d = 0; d < shape.rank(); ++d) {
    int64_t low = shape[d], high = 0;
    for (const DataPtr& b : x.blocks) {
      if (!b || b->alike(d)) continue;
      low = std::min(low, b->first[d]);
      high = std::max(high, b->first[d] + b->count[d]);
    }
    if (high == 0) continue;
    box.first[d] = low;
    box.count[d] = high - low;
  }
  return box;
}

/// The op's value around a box: each operand there must be a number or must not matter. False: unknown.
bool Engines::fill_of(const std::string& op, const Operands& x, const Box& box, const Dims& shape, double* fill) {
  std::vector<double> around(x.numbers.begin(), x.numbers.begin() + static_cast<std::ptrdiff_t>(x.count));
  std::vector<bool> anything(x.count, false);
  bool some = false;
  for (size_t i = 0; i < x.count; ++i) {
    if (!x.blocks[i]) continue;
    around[i] = x.blocks[i]->fill;
    for (int d = 0; d < shape.rank(); ++d) {
      const bool partial = box.first[d] != 0 || box.count[d] != shape[d];
      if (partial && x.blocks[i]->alike(d)) anything[i] = true;
    }
    some = some || anything[i];
  }
  if (some) {
    *fill = around.size() == 2 ? absorbed(op, around, anything) : std::nan("");
    return !std::isnan(*fill);
  }
  return apply_real(op, around, fill);
}

Value Engines::math(const std::string& op, const std::vector<Value>& operands, const std::vector<Type>& types,
                    const Type& result) {
  Operands x;
  x.count = operands.size();
  std::array<bool, Operands::kMost> is_number{};
  bool all_numbers = true;
  for (size_t i = 0; i < x.count; ++i) {
    const Value& v = operands[i];
    is_number[i] =
        v.is(Value::Kind::real) || v.is(Value::Kind::uniform) || (v.is(Value::Kind::integer) && is_immediate(v.n));
    x.numbers[i] = v.is(Value::Kind::integer) ? static_cast<double>(v.n) : v.d;
    all_numbers = all_numbers && is_number[i];
  }
  double known_result = 0;
  if (all_numbers && is_float(result.element) &&
      apply_real(op, {x.numbers.begin(), x.numbers.begin() + static_cast<std::ptrdiff_t>(x.count)}, &known_result)) {
    Value v = Value::of_real(rounded(known_result, result.element));
    if (result.tensor) v.kind = Value::Kind::uniform;
    return v;
  }
  for (size_t i = 0; i < x.count; ++i) {
    if (!is_number[i]) x.blocks[i] = data(operands[i], types[i]);
  }
  // Of the operands that carry a value, at least one must be a block.
  const size_t first_value = op == "where" ? 1 : 0;
  if (std::none_of(x.blocks.begin() + first_value, x.blocks.end(), [](const DataPtr& b) { return b != nullptr; }))
    x.blocks[first_value] = data(operands[first_value], types[first_value]);

  const Dims shape = shape_of(result);
  const Box whole_box{zeros(shape.rank()), shape};
  Box box = box_of(x, shape);
  auto d = std::make_shared<Data>();
  if (box.first != whole_box.first || box.count != whole_box.count) {
    if (!fill_of(op, x, box, shape, &d->fill) || !held(&d->fill, result.element)) box = whole_box;
  }
  d->folds = common_folds(x);
  std::vector<tl::Chained::Input> in;
  in.reserve(x.count);
  for (size_t i = 0; i < x.count; ++i) {
    if (!x.blocks[i]) {
      in.push_back(tl::Arg(x.numbers[i], where_.file, where_.line));
      continue;
    }
    DataPtr b = pad(x.blocks[i], box.first, box.count);
    if (d->folds.rank() > 0) {
      b = folded(b, d->folds);
    } else if (b->folded()) {
      b = plain(b);
    }
    in.push_back(input(*b));
  }
  compute(op, std::move(in), d.get());
  d->shape = shape;
  d->first = box.first;
  d->count = box.count;
  return Value::of(DataPtr(d));
}

Value Engines::power(const Value& x_in, const Value& y_in, const Type& type) {
  const auto is_number = [](const Value& v) { return v.is(Value::Kind::real) || v.is(Value::Kind::uniform); };
  const Type wide = type.with(type.kind, Element::f32), truth = type.with(type.kind, Element::i1);
  const auto widened = [&](const Value& v) { return is_number(v) ? v : Value::of(cast(data(v, type), Element::f32)); };
  const Value x = widened(x_in), y = widened(y_in);
  const auto number = [&](double d) {
    Value v = Value::of_real(d);
    if (type.tensor) v.kind = Value::Kind::uniform;
    return v;
  };
  const auto op = [&](const char* name, const std::vector<Value>& in) {
    return math(name, in, std::vector<Type>(in.size(), wide), wide);
  };
  const auto test = [&](const char* name, const Value& a, double b) {
    return math(name, {a, number(b)}, {wide, wide}, truth);
  };
  const auto either = [&](const Value& on, const Value& a, const Value& b) {
    return math("where", {on, a, b}, {truth, wide, wide}, wide);
  };
  const auto narrowed = [&](const Value& v) {
    return v.is(Value::Kind::data) && type.element != Element::f32 ? Value::of(cast(v.data, type.element)) : v;
  };
  if (is_number(x) && is_number(y)) return math(kPower, {x, y}, {type, type}, type);
  if (is_number(y) && y.d == 0) return number(1);
  if (is_number(y) && y.d == 1) return x_in;
  if (is_number(y) && y.d == 2) return narrowed(op("mul", {x, x}));
  const Value size = op("exp2", {op("mul", {op("log2", {op("abs", {x})}), y})});
  Value below = op("neg", {size});  // for x below 0
  if (is_number(y) && std::isfinite(y.d)) {
    const bool whole = y.d == std::trunc(y.d), odd = std::fabs(std::fmod(y.d, 2)) == 1;
    if (!whole) below = number(std::nan(""));
    return narrowed(whole && !odd ? size : either(test("lt", x, 0), below, size));
  }
  const Value odd = math("eq", {op("abs", {op("mod", {y, number(2)})}), number(1)}, {wide, wide}, truth);
  const Value whole = math("eq", {op("floor", {y}), y}, {wide, wide}, truth);
  below = either(odd, below, either(whole, size, number(std::nan(""))));
  const Value made = either(test("lt", x, 0), below, size);
  return narrowed(either(test("eq", y, 0), number(1), either(test("eq", x, 1), number(1), made)));
}

Value Engines::select(const Value& condition, const Value& a, const Value& b, const Type& condition_type,
                      const Type& result) {
  if (condition.is(Value::Kind::integer)) return condition.n != 0 ? a : b;
  if (condition.is(Value::Kind::known) && condition.known->form == Known::Form::product) {
    const Known& k = *condition.known;
    if (k.uniform()) return k.base ? a : b;
    // A box of the first operand with the number around it: only the box is stored.
    const bool number =
        b.is(Value::Kind::uniform) || (b.is(Value::Kind::known) && b.known->uniform() && is_immediate(b.known->base));
    const bool from_data = a.is(Value::Kind::data) || a.is(Value::Kind::uniform);
    Dims first = zeros(k.shape.rank()), count = k.shape;
    bool box = k.base != 0 && number && from_data;
    for (int d = 0; box && d < k.shape.rank(); ++d) {
      const auto& truths = k.axes[static_cast<size_t>(d)].values;
      if (!truths || k.shape[d] == 1) {
        box = box && (!truths || (*truths)[0]);
        continue;
      }
      int64_t low = 0, high = k.shape[d];
      while (low < high && !(*truths)[static_cast<size_t>(low)]) ++low;
      while (high > low && !(*truths)[static_cast<size_t>(high - 1)]) --high;
      if (low == high) return b;
      for (int64_t i = low; i < high; ++i) box = box && (*truths)[static_cast<size_t>(i)] != 0;
      first[d] = low;
      count[d] = high - low;
    }
    if (box) {
      const double around = b.is(Value::Kind::uniform) ? b.d : static_cast<double>(b.known->base);
      DataPtr from = data(a, result);
      // Elements of the box that the first operand lacks.
      Dims low = first, high = first;
      bool inside = true;
      for (int d = 0; d < k.shape.rank(); ++d) {
        low[d] = std::min(first[d], from->first[d]);
        high[d] = std::max(first[d] + count[d], from->first[d] + from->count[d]) - low[d];
        inside = inside && from->first[d] <= first[d] && from->first[d] + from->count[d] >= first[d] + count[d];
      }
      if (!inside) from = pad(from, low, high);
      from = plain(from);
      auto d = std::make_shared<Data>(*from);
      d->said = nullptr;
      for (int i = 0; i < k.shape.rank(); ++i) {
        if (d->part.shape()[i] > 1)
          d->part = d->part.slice(i, first[i] - from->first[i], count[i], where_.file, where_.line);
        d->first[i] = first[i];
        d->count[i] = count[i];
      }
      d->fill = around;
      return Value::of(DataPtr(d));
    }
  }
  return math("where", {condition, a, b}, {condition_type, result, result}, result);
}

DataPtr Engines::cast(const DataPtr& d, Element to) {
  // Casts saturate the fill value too.
  double fill = d->fill;
  if (!is_float(to) && to != Element::i1) fill = static_cast<double>(saturated(fill, to));
  const DataPtr from = held(&fill, to) ? d : whole(d);
  auto out = std::make_shared<Data>(*from);
  out->said = nullptr;
  out->fill = fill;
  if (from->dtype() == dtype_of(to)) return out;
  compute("cast", {input(*from)}, out.get(), dtype_of(to));
  out->readable = false;
  return out;
}

DataPtr Engines::reinterpret(const DataPtr& in, Element to) {
  const DataPtr& d = settled(in);
  Element from = Element::unknown;
  for (const Element e : {Element::i8, Element::i16, Element::i32, Element::i64, Element::f8e4m3, Element::f8e5m2,
                          Element::bf16, Element::f16, Element::f32}) {
    if (dtype_of(e) == d->part.dtype()) from = e;
  }
  Value around = Value::of_real(d->fill);
  // If the fill is no number, its cast is undefined.
  if (!is_float(from)) around = Value::of(std::isnan(d->fill) ? 0 : static_cast<int64_t>(d->fill));
  around = with_bits_of(around, from, to);
  const bool immediate = is_float(to) || is_immediate(around.n);
  const DataPtr whole_or_box = immediate ? d : whole(d);
  auto out = std::make_shared<Data>(*whole_or_box);
  out->said = nullptr;
  out->part = Retyped(whole_or_box->part, dtype_of(to)).tensor();
  out->fill = is_float(to) ? around.d : static_cast<double>(around.n);
  return out;
}

DataPtr Engines::truncate(const DataPtr& d, const Type& from, const Type& to) {
  const auto run = [&](const char* op, const Value& x, int64_t by) {
    return math(op, {x, Value::of(by)}, {from, from}, from);
  };
  const Value x = Value::of(d);
  if (to.element == Element::i1) return cast(run("bitwise_and", x, 1).data, to.element);
  const int bits = bits_of(to.element);
  if (bits >= bits_of(from.element)) return cast(d, to.element);
  // Casts saturate, so the low bits are taken relative to the type's least number, which is added again.
  const int64_t half = int64_t{1} << (bits - 1);
  const Value low = run("bitwise_and", run("add", x, half), 2 * half - 1);
  return cast(run("sub", low, half).data, to.element);
}

DataPtr Engines::without_sign(const DataPtr& d, const Type& from, Type* wide) {
  const int bits = bits_of(from.element);
  if (bits > 32) fault("the engines have no unsigned integers of 64 bits");
  *wide = from.with(from.kind, bits < 32 ? Element::i32 : Element::i64);
  const Value x = Value::of(cast(d, wide->element));
  if (bits == 1) return x.data;
  return math("bitwise_and", {x, Value::of((int64_t{1} << bits) - 1)}, {*wide, *wide}, *wide).data;
}

}  // namespace kernbench::triton
