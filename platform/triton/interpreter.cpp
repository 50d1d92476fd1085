#include "kernbench/platform/triton/interpreter.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>
#include <deque>
#include <functional>
#include <set>
#include <utility>

namespace kernbench::triton {

namespace {

using VK = Value::Kind;

class Run {
 public:
  Run(const Program& program, tl::Context& tl, const Index3& id, const Index3& grid)
      : program_(program), tl_(tl), engines_(tl), cycles_(tl.scalar_cycles()), id_(id), grid_(grid) {}

  std::vector<Value> function(const Function& f, const std::vector<Value>& arguments) {
    Frame frame{f, std::vector<Value>(f.types.size())};
    Frame* const caller = frame_;
    frame_ = &frame;
    std::vector<Value> results = blocks(f.body, arguments);
    for (size_t i = 0; i < results.size(); ++i) {  // the caller does not know of its operations
      const Value& v = results[i];
      if (v.is(VK::known) && v.known->form == Known::Form::open) results[i] = Value::of(lanes(v, f.results[i]));
    }
    frame_ = caller;
    return results;
  }
  void finish() {
    flush();
    for (const tl::Event& e : engines_.take_stores()) tl_.wait(e);
  }

 private:
  struct Frame {
    const Function& function;
    std::vector<Value> values;
  };

  Value& value(ValueId v) { return frame_->values[v]; }
  const Type& type(ValueId v) const { return frame_->function.types[v]; }
  /// In a region that combines elements a number stands for a block of them.
  Type lanes_type(ValueId v) const {
    Type t = type(v);
    if (lanes_ && !t.tensor) {
      t.tensor = true;
      t.shape = *lanes_;
    }
    return t;
  }
  const Value& in(const Operation& op, size_t i) {
    const Value& v = value(op.operands[i]);
    if (v.is(VK::none)) fault(op, "a value is used before it is there");
    return v;
  }
  [[noreturn]] void fault(const Operation& op, const std::string& what) const {
    throw KernelFault(engines_.where(),
                      op.name + " (" + program_.module().file + ":" + std::to_string(op.line) + "): " + what);
  }

  // ---- pe_cpu ---------------------------------------------------------------------------------------------------
  void scalar_work() { work_ += cycles_.scalar; }
  void index_work() { work_ += cycles_.index; }
  void flush() {
    if (work_ == 0) return;
    const double cycles = work_;
    work_ = 0;
    tl_.elapse(cycles, engines_.where().file, engines_.where().line);
  }

  int64_t integer(const Operation& op, size_t i) { return integer(op, in(op, i)); }
  int64_t integer(const Operation& op, const Value& v) {
    if (v.is(VK::integer)) return v.n;
    if (v.is(VK::data)) {
      flush();
      if (v.data->said) return (*said(*v.data))[0];
      return v.data->part.loaded().item<int64_t>(engines_.where().file, engines_.where().line);
    }
    fault(op, "an integer that is not known here");
  }

  // ---- Control --------------------------------------------------------------------------------------------------
  /// The blocks of a function, from the first on; what it returns.
  std::vector<Value> blocks(const Region& r, std::vector<Value> arguments) {
    for (uint32_t at = 0;;) {
      const Block& b = r.blocks[at];
      const Operation& last = block(b, std::move(arguments));
      arguments.clear();
      if (last.info->does == Does::terminator) return left(last, taken(last, 0));
      const size_t way = last.successors.size() == 2 && integer(last, 0) == 0 ? 1 : 0;
      scalar_work();
      for (const ValueId v : last.successors[way].operands) arguments.push_back(value(v));
      arguments = left(last, std::move(arguments));
      at = last.successors[way].block;
    }
  }
  std::vector<Value> taken(const Operation& op, size_t first) {
    std::vector<Value> v;
    for (size_t i = first; i < op.operands.size(); ++i) v.push_back(in(op, i));
    return v;
  }
  /// Its operations but the last, which is given back.
  const Operation& block(const Block& b, std::vector<Value> arguments) {
    for (size_t i = 0; i < b.arguments.size(); ++i) value(b.arguments[i]) = std::move(arguments[i]);
    for (const ValueId v : program_.unused(b)) value(v) = {};
    for (const Program::Step& step : program_.steps(b)) {
      engines_.at(step.where);
      if (step.op == &b.operations.back()) break;
      operation(*step.op);
      for (const ValueId v : *step.dying) value(v) = {};
    }
    return b.operations.back();
  }
  /// Yields of a region of one block.
  std::vector<Value> region(const Region& r, std::vector<Value> arguments) {
    const Operation& last = block(r.blocks[0], std::move(arguments));
    return left(last, taken(last, 0));
  }
  /// What a block hands on, when nothing of it is needed any more.
  std::vector<Value> left(const Operation& last, std::vector<Value> handed_on) {
    for (const ValueId v : program_.dying(last)) value(v) = {};
    return handed_on;
  }
  void give(const Operation& op, std::vector<Value> results) {
    for (size_t i = 0; i < op.results.size(); ++i) value(op.results[i]) = std::move(results[i]);
  }

  void for_loop(const Operation& op) {
    const int64_t first = integer(op, 0), end = integer(op, 1), step = integer(op, 2);
    if (step <= 0) fault(op, "a step of " + std::to_string(step));
    std::vector<Value> carried = taken(op, 3);
    // With num_stages no load of a turn begins before the dots of so many turns ago: it goes where their operands were.
    const Attribute* stages = op.attribute("tt.num_stages");
    std::deque<tl::Tensor> products;  // a turn's last
    tl::Tensor* const outer = product_;
    for (int64_t i = first; i < end; i += step) {
      scalar_work();
      if (stages) {
        if (static_cast<int64_t>(products.size()) >= std::max<int64_t>(1, stages->integer)) {
          flush();
          if (products.front().valid()) tl_.wait(products.front());
          products.pop_front();
        }
        product_ = &products.emplace_back();
      }
      std::vector<Value> arguments = {Value::of(i)};
      std::move(carried.begin(), carried.end(), std::back_inserter(arguments));
      carried = settled(op.results, region(op.regions[0], std::move(arguments)));
      if (end - i <= step) break;
    }
    product_ = outer;
    if (outer && !products.empty()) *outer = products.back();
    give(op, std::move(carried));
  }
  /// What is carried into the next turn does not grow with the turns.
  std::vector<Value> settled(const std::vector<ValueId>& as, std::vector<Value> values) {
    for (size_t i = 0; i < values.size(); ++i) {
      Value& v = values[i];
      if (v.is(VK::known) && v.known->form == Known::Form::open) v = Value::of(lanes(v, type(as[i])));
    }
    return values;
  }

  void while_loop(const Operation& op) {
    std::vector<Value> carried = taken(op, 0);
    for (;;) {
      const Operation& last = block(op.regions[0].blocks[0], std::move(carried));
      const bool on = integer(last, 0) != 0;
      scalar_work();
      carried = left(last, taken(last, 1));
      if (!on) break;
      carried = settled(op.operands, region(op.regions[1], std::move(carried)));
    }
    give(op, std::move(carried));
  }

  void if_else(const Operation& op) {
    const bool on = integer(op, 0) != 0;
    scalar_work();
    const size_t way = on ? 0 : 1;
    if (way < op.regions.size() && !op.regions[way].blocks[0].operations.empty()) {
      give(op, region(op.regions[way], {}));
    }
  }

  // ---- Integers ---------------------------------------------------------------------------------------------------
  /// A block of integers as such; null where it is data.
  KnownPtr known(const Value& v, const Type& t) {
    if (v.is(VK::known)) return v.known;
    if (v.is(VK::integer)) return Known::of(t.element, t.tensor ? t.shape : Dims{}, v.n);
    return nullptr;
  }
  /// Its elements, by reading what was loaded.
  Known::Values elements(const Value& v, const Type& t) {
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
  /// Computed once; what it is made of goes then.
  static Known::Values said(const Data& d) {
    if (!d.said->all) d.said->all = std::exchange(d.said->compute, nullptr)();
    return d.said->all;
  }
  /// Of an open one its elements alone, which keeps no data alive.
  static KnownPtr only_elements(const KnownPtr& k) {
    if (k->form != Known::Form::open) return k;
    auto e = Known::of(k->element, k->shape, 0);
    e->form = Known::Form::open;
    e->source = k->source;
    e->loaded = k->loaded;
    e->all = k->all;
    return e;
  }
  /// Of blocks that only their elements say: by the op from its operands, when they are needed.
  Value open(const Operation& op, const Type& result, std::vector<Value> operands, std::vector<Type> types,
             const Combine& f) {
    return open(op, result, std::move(operands), std::move(types), [f](const std::vector<Known::Values>& x, size_t i) {
      int64_t n = 0;
      f((*x.front())[i], (*x.back())[i], &n);  // 0 of a division by 0, or a shift by too much: a mask may leave it out
      return n;
    });
  }
  using OfElements = std::function<int64_t(const std::vector<Known::Values>& operands, size_t i)>;
  Value open(const Operation& op, const Type& result, std::vector<Value> operands, std::vector<Type> types,
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

  /// As data in TCM; of an open one they are made once, and live as long as it does.
  DataPtr lanes(const Value& v, const Type& t) {
    flush();
    if (v.is(VK::known) && v.known->form == Known::Form::open) {
      // What it is made of goes first, however long the chain: a kernel's stack is small.
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
  void make(const Known& k) {
    Frame of{*k.function, {}};
    Frame* const caller = std::exchange(frame_, &of);
    const Value made = on_engine(*k.op, k.operands);
    k.made = made.is(VK::data) ? made.data : engines_.data(made, lanes_type(k.op->results[0]));
    k.operands.clear();
    frame_ = caller;
  }
  Value laned(const Value& v, const Type& t) {
    if (v.is(VK::known)) return Value::of(lanes(v, t));
    return v;
  }

  void integer_op(const Operation& op) {
    const Type result = lanes_type(op.results[0]);
    const Value& a = in(op, 0);
    const Value& b = op.operands.size() > 1 ? in(op, 1) : a;
    const Combine f = [&op, e = result.element](int64_t x, int64_t y, int64_t* out) {
      return apply_integer(op.name, e, x, y, out);
    };
    value(op.results[0]) = combined(op, a, b, result, f);
  }

  Value combined(const Operation& op, const Value& a_in, const Value& b_in, const Type& result, const Combine& f) {
    // One number that was loaded is read.
    const auto is_read = [&](const Value& v) {
      return !lanes_ && v.is(VK::data) && !result.tensor && v.data->readable;
    };
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
      if (const auto k = combine(op.name, result.element, *x, *y, f, &bad)) {
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

  /// The op on data: a call of tl.
  Value on_engine(const Operation& op, std::vector<Value> operands) {
    flush();
    const Type result = lanes_type(op.results[0]);
    std::vector<Type> types;
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
        if (name.empty()) fault(op, "of data that is not known on pe_cpu: the engines have no such op");
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
        fault(op, "of addresses that follow no rule, as data");
      default:
        return view(op, laned(operands[0], types[0]));
    }
  }

  /// Operands of one type by their bits; the type that they have then.
  Type without_sign(std::vector<Value>* operands, const std::vector<Type>& types) {
    Type wide;
    for (size_t i = 0; i < operands->size(); ++i) {
      Value& v = (*operands)[i];
      v = Value::of(engines_.without_sign(engines_.data(v, types[i]), types[i], &wide));
    }
    return wide;
  }

  void compare_op(const Operation& op) {
    const Type result = lanes_type(op.results[0]);
    const std::string predicate = op.attribute("word0")->text;
    const Value& a = in(op, 0);
    const Value& b = in(op, 1);
    const Type t = type(op.operands[0]);
    if (!is_float(t.element)) {
      const Combine f = [predicate, e = t.element](int64_t x, int64_t y, int64_t* out) {
        *out = apply_compare(predicate, e, x, y);
        return true;
      };
      value(op.results[0]) = combined(op, a, b, result, f);
      return;
    }
    const bool number = (a.is(VK::real) || a.is(VK::uniform)) && (b.is(VK::real) || b.is(VK::uniform));
    if (number) {
      scalar_work();
      const bool holds = apply_compare(predicate, a.d, b.d);
      value(op.results[0]) = result.tensor && !lanes_ ? Value::of(KnownPtr(Known::of(Element::i1, result.shape, holds)))
                                                      : Value::of(holds);
      return;
    }
    value(op.results[0]) = sayable(on_engine(op, {a, b}), a, b, predicate);
  }

  /// What an engine makes of a comparison of floats, as pe_cpu says it where both were loaded or are known: a branch or
  /// an atomic's mask may ask for it. Of few elements, since the operands stay in TCM as long.
  Value sayable(Value made, const Value& a, const Value& b, const std::string& predicate) {
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

  Value compare(const Operation& op, std::vector<Value> operands, const std::vector<Type>& types, const Type& result) {
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

  // ---- Conversions ------------------------------------------------------------------------------------------------
  void convert_op(const Operation& op) {
    const Type from = lanes_type(op.operands[0]);
    const Type to = lanes_type(op.results[0]);
    const Value& v = in(op, 0);
    Value& out = value(op.results[0]);
    const bool unsigned_source =
        op.name == "arith.extui" || op.name == "arith.uitofp" || op.name == "arith.index_castui";
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

  /// Whether a float becomes the low bits of its integer; else it saturates.
  static bool low_bits(const Operation& op, const Type& to) {
    return op.name == "arith.fptoui" || to.element == Element::i1;
  }

  DataPtr converted(const Operation& op, const Value& v, const Type& from, const Type& to) {
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

  // ---- Views --------------------------------------------------------------------------------------------------------
  void view_op(const Operation& op) {
    const Value& v = in(op, 0);
    const Type& to = type(op.results[0]);
    if (!v.is(VK::data)) index_work();
    if (v.is(VK::known) && v.known->form == Known::Form::open) {
      value(op.results[0]) = open_view(op, v, to);
      return;
    }
    value(op.results[0]) = view(op, v);
  }

  Value view(const Operation& op, const Value& v) {
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
        return Value::of(engines_.expand(v.data, static_cast<int>(op.attribute("axis")->integer), to.shape));
      case Does::broadcast:
        return Value::of(engines_.spread(v.data, to.shape));
      case Does::trans:
        return Value::of(engines_.permute(v.data, op.attribute("order")->integers, to.shape));
      default:
        return Value::of(engines_.reshape(v.data, to.shape));
    }
  }
  KnownPtr known_view(const Operation& op, const Known& k, const Type& to) {
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
  Value open_view(const Operation& op, const Value& v, const Type& to) {
    auto k = Known::of(to.element, to.shape, 0);
    k->form = Known::Form::open;
    k->op = &op;
    k->function = &frame_->function;
    k->operands = {v};
    k->loaded = v.known->loaded;
    k->source = std::make_shared<Known::Elements>();
    k->source->compute = [source = only_elements(v.known), shape = to.shape, &op] {
      const auto all = source->elements();
      if (op.info->does == Does::expand_dims || op.info->does == Does::reshape) return all;
      // From each index of the view to that of the source.
      const int rank = shape.rank();
      const Dims strides = TensorRef::row_major(source->shape);
      std::vector<int64_t> step(static_cast<size_t>(rank));
      for (int d = 0; d < rank; ++d) {
        const int from = op.info->does == Does::trans
                             ? static_cast<int>(op.attribute("order")->integers[static_cast<size_t>(d)])
                             : d;
        step[static_cast<size_t>(d)] = source->shape[from] == 1 ? 0 : strides[from];
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

  void splat(const Operation& op) {
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
      for (int i = 0; i < to.shape.rank(); ++i) ones.push_back(1);
      out = Value::of(Engines::of(v.data->part.reshape(ones, engines_.where().file, engines_.where().line), to.shape));
    }
  }

  // ---- Memory -------------------------------------------------------------------------------------------------------
  void addptr(const Operation& op) {
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
    out.known = combine("arith.addi", Element::i64, *p.known, *wide, f, &bad);
  }

  void int_to_ptr(const Operation& op) {
    const Type& to = type(op.results[0]);
    Value& out = value(op.results[0]);
    const auto pointer = [&](int64_t address) {
      return tl::Ptr(Space::hbm, static_cast<uint64_t>(address), dtype_of(to.element));
    };
    if (!to.tensor) {
      out = Value::of(pointer(integer(op, 0)));
      return;
    }
    // Elements from the first one's address on.
    index_work();
    const auto all = elements(in(op, 0), type(op.operands[0]));
    const auto size = static_cast<int64_t>(size_of(dtype_of(to.element)));
    const int64_t first = (*all)[0];
    std::vector<int64_t> offsets;
    for (const int64_t address : *all) {
      if ((address - first) % size != 0) fault(op, "addresses that lie no whole elements apart");
      offsets.push_back((address - first) / size);
    }
    auto k = Known::of(Element::i64, to.shape, 0);
    if (to.shape.rank() == 1) {
      k->axes[0].values = std::make_shared<const std::vector<int64_t>>(std::move(offsets));
    } else {
      k->form = Known::Form::open;
      k->all = std::make_shared<const std::vector<int64_t>>(std::move(offsets));
    }
    out = Value::of(pointer(first));
    out.kind = VK::pointers;
    out.known = k;
  }
  void ptr_to_int(const Operation& op) {
    const Value& p = in(op, 0);
    const auto address = static_cast<int64_t>(p.ptr.addr);
    if (p.is(VK::pointer)) {
      value(op.results[0]) = Value::of(address);
      return;
    }
    index_work();
    const Type& to = type(op.results[0]);
    const auto each = [&](const char* name, const KnownPtr& a, int64_t by, const Combine& f) {
      bool bad = false;
      const auto b = Known::of(Element::i64, to.shape, by);
      if (const auto k = combine(name, Element::i64, *a, *b, f, &bad)) return KnownPtr(k);
      return open(op, to, {Value::of(a)}, {to}, [by, f](int64_t x, int64_t, int64_t* n) { return f(x, by, n); }).known;
    };
    const auto size = static_cast<int64_t>(size_of(dtype_of(type(op.operands[0]).element)));
    const KnownPtr bytes = each("arith.muli", p.known, size, [](int64_t x, int64_t by, int64_t* n) {
      *n = x * by;
      return true;
    });
    value(op.results[0]) = Value::of(each("arith.addi", bytes, address, [](int64_t x, int64_t by, int64_t* n) {
      *n = x + by;
      return true;
    }));
  }

  /// Whether only Phase 2 knows it.
  static bool is_pending(const Value& v) {
    return v.is(VK::data) && !v.data->readable;  // blocks of integers are made of what can be read alone
  }

  /// The mask of an access; null: none, or it is `pending`, known to Phase 2 alone. `some`: whether it selects any.
  KnownPtr mask_of(const Operation& op, size_t i, bool* some, DataPtr* pending = nullptr) {
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
      auto all = Known::of(Element::i1, t.tensor ? t.shape : Dims{}, 0);
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

  /// Of a load: what it gives where it reads nothing.
  double other_of(const Operation& op, bool* number, size_t i) {
    *number = true;
    if (op.operands.size() <= i) return 0;
    const Value& v = in(op, i);
    if (v.is(VK::uniform) || v.is(VK::real)) return v.d;
    if (v.is(VK::integer)) return static_cast<double>(v.n);
    if (v.is(VK::known) && v.known->uniform() && is_immediate(v.known->base)) return static_cast<double>(v.known->base);
    *number = false;
    return 0;
  }

  /// Of block pointers and descriptors of floats: PAD_NAN.
  bool pads_with_nan(const Operation& op) const {
    const Attribute* padding = op.attribute("padding");
    return padding && padding->integer == 2 && is_float(type(op.results[0]).element);
  }

  void load(const Operation& op) {
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
    } else if (!number && mask) {  // elsewhere it is another block
      const Value on = mask->form == Known::Form::open ? laned(in(op, 1), truth) : Value::of(mask);
      out = engines_.select(on, out, laned(in(op, 2), result), truth, result);
    }
  }
  Value nothing(const Type& t) {
    Value v = is_float(t.element) ? Value::of_real(0) : Value::of(int64_t{0});
    if (!t.tensor) return v;
    if (!is_float(t.element)) return Value::of(KnownPtr(Known::of(t.element, t.shape, 0)));
    v.kind = VK::uniform;
    return v;
  }

  void store(const Operation& op) {
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
      engines_.store(p.tile->base, Engines::tile_offsets(*p.tile, t.shape),
                     Engines::tile_mask(*p.tile, t.shape, checked), v, t);
      return;
    }
    const KnownPtr offsets = p.is(VK::pointer) ? Known::of(Element::i64, {}, 0) : p.known;
    engines_.store(p.ptr, offsets, p.is(VK::pointer) ? nullptr : mask, v, t, pending);
  }

  void atomic(const Operation& op) {
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

  /// Its words, or what stands for them in the generic form (Triton's enumerations).
  Engines::Atomic atomic_of(const Operation& op, bool cas) {
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

  void make_tile(const Operation& op) {
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
  void advance(const Operation& op) {
    auto tile = std::make_shared<Tile>(*in(op, 0).tile);
    for (size_t i = 0; i < tile->offsets.size(); ++i) {
      tile->offsets[i] += integer(op, 1 + i);
      scalar_work();
    }
    value(op.results[0]) = in(op, 0);
    value(op.results[0]).tile = tile;
  }
  void descriptor(const Operation& op) {
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

  // ---- Reductions
  // -----------------------------------------------------------------------------------------------------
  /// The tl reduction that the region is, if it is one.
  std::string single_reduction(const Operation& op) const {
    if (op.operands.size() != 1) return {};
    const Block& b = op.regions[0].blocks[0];
    if (b.operations.size() == 2) {
      const Operation& only = b.operations[0];
      if (b.operations[1].operands[0] != only.results.at(0) || only.operands.size() != 2) return {};
      const std::set<ValueId> used(only.operands.begin(), only.operands.end());
      if (used != std::set<ValueId>(b.arguments.begin(), b.arguments.end())) return {};
      static const std::map<std::string, std::string> names = {
          {"arith.addf", "sum"},  {"arith.addi", "sum"},     {"arith.maximumf", "max"},   {"arith.maxnumf", "maxnum"},
          {"arith.maxsi", "max"}, {"arith.minimumf", "min"}, {"arith.minnumf", "minnum"}, {"arith.minsi", "min"}};
      const auto it = names.find(only.name);
      return it == names.end() ? "" : it->second;
    }
    // a > b ? a : b
    if (b.operations.size() == 3 && b.operations[1].name == "arith.select" &&
        (b.operations[0].name == "arith.cmpf" || b.operations[0].name == "arith.cmpi")) {
      const Operation& c = b.operations[0];
      const Operation& s = b.operations[1];
      const std::string p = c.attribute("word0")->text;
      if (s.operands[0] != c.results[0] || b.operations[2].operands[0] != s.results[0] ||
          s.operands[1] != c.operands[0] || s.operands[2] != c.operands[1] || c.operands[0] != b.arguments[0] ||
          c.operands[1] != b.arguments[1])
        return {};
      if (p == "ogt" || p == "oge" || p == "sgt" || p == "sge") return "max";
      if (p == "olt" || p == "ole" || p == "slt" || p == "sle") return "min";
    }
    return {};
  }

  /// The region on blocks: each argument a block of the same shape.
  std::vector<Value> combine_blocks(const Operation& op, const std::vector<tl::Tensor>& a,
                                    const std::vector<tl::Tensor>& b) {
    const Dims shape = a[0].shape();
    const Dims* const outer = lanes_;
    lanes_ = &shape;
    std::vector<Value> arguments;
    for (const auto* side : {&a, &b}) {
      for (const tl::Tensor& t : *side) arguments.push_back(Value::of(Engines::of(t, shape)));
    }
    std::vector<Value> results = region(op.regions[0], std::move(arguments));
    const Operation& last = op.regions[0].blocks[0].operations.back();
    for (size_t i = 0; i < results.size(); ++i) {
      Type t = lanes_type(last.operands[i]);
      results[i] = Value::of(lanes(results[i], t));
    }
    lanes_ = outer;
    return results;
  }

  std::vector<tl::Tensor> dense_operands(const Operation& op) {
    std::vector<tl::Tensor> x;
    for (size_t i = 0; i < op.operands.size(); ++i) x.push_back(engines_.dense(lanes(in(op, i), type(op.operands[i]))));
    return x;
  }

  void reduce(const Operation& op) {
    const int axis = static_cast<int>(op.attribute("axis")->integer);
    const std::string single = single_reduction(op);
    flush();
    const Type& t = type(op.operands[0]);
    if (!single.empty() && !(single == "sum" && t.element == Element::i1)) {
      value(op.results[0]) = Value::of(engines_.reduce(single, lanes(in(op, 0), t), axis, type(op.results[0])));
      return;
    }
    reduce_in_pairs(op, axis);
  }

  /// Neighbours by neighbours, in their order.
  void reduce_in_pairs(const Operation& op, int axis) {
    std::vector<tl::Tensor> x = dense_operands(op);
    const char* file = engines_.where().file;
    const int line = engines_.where().line;
    if (x[0].rank() == kMaxRank) {  // pairs are a dimension more
      Dims merged = {1, x[0].shape()[axis], 1};
      for (int d = 0; d < kMaxRank; ++d) {
        if (d != axis) merged[d < axis ? 0 : 2] *= x[0].shape()[d];
      }
      for (tl::Tensor& v : x) v = tl_.reshape(v, merged, file, line);
      axis = 1;
    }
    while (x[0].shape()[axis] > 1) {
      std::vector<tl::Tensor> a, b, rest;
      const int64_t n = x[0].shape()[axis];
      for (tl::Tensor& v : x) {
        if (n % 2 != 0) {
          rest.push_back(v.slice(axis, n - 1, 1, file, line));
          v = v.slice(axis, 0, n - 1, file, line);
        }
        Dims pairs;
        for (int d = 0; d < v.rank(); ++d) {
          pairs.push_back(d == axis ? n / 2 : v.shape()[d]);
          if (d == axis) pairs.push_back(2);
        }
        const tl::Tensor two = v.reshape(pairs, file, line);
        Dims half = v.shape();
        half[axis] = n / 2;
        a.push_back(two.slice(axis + 1, 0, 1, file, line).reshape(half, file, line));
        b.push_back(two.slice(axis + 1, 1, 1, file, line).reshape(half, file, line));
      }
      const std::vector<Value> made = combine_blocks(op, a, b);
      for (size_t i = 0; i < x.size(); ++i) {
        x[i] = engines_.dense(made[i].data);
        if (!rest.empty()) x[i] = engines_.stack({x[i], rest[i]}, axis);
      }
    }
    for (size_t i = 0; i < x.size(); ++i) {
      const Type& result = type(op.results[i]);
      Dims shape = result.tensor ? result.shape : Dims{};
      value(op.results[i]) = Value::of(Engines::of(tl_.reshape(x[i], shape, file, line), shape));
    }
  }

  void scan(const Operation& op) {
    const int axis = static_cast<int>(op.attribute("axis")->integer);
    const Attribute* reverse = op.attribute("reverse");
    const bool backward = reverse && reverse->integer != 0;
    flush();
    std::vector<tl::Tensor> x = dense_operands(op);
    const int64_t n = x[0].shape()[axis];
    const char* file = engines_.where().file;
    const int line = engines_.where().line;
    for (int64_t step = 1; step < n; step *= 2) {
      std::vector<tl::Tensor> before, now, kept;
      for (const tl::Tensor& v : x) {
        before.push_back(v.slice(axis, backward ? step : 0, n - step, file, line));
        now.push_back(v.slice(axis, backward ? 0 : step, n - step, file, line));
        kept.push_back(v.slice(axis, backward ? n - step : 0, step, file, line));
      }
      const std::vector<Value> made = combine_blocks(op, before, now);
      for (size_t i = 0; i < x.size(); ++i) {
        const tl::Tensor done = engines_.dense(made[i].data);
        x[i] = backward ? engines_.stack({done, kept[i]}, axis) : engines_.stack({kept[i], done}, axis);
      }
    }
    for (size_t i = 0; i < x.size(); ++i) value(op.results[i]) = Value::of(Engines::of(x[i], x[i].shape()));
  }

  void histogram(const Operation& op) {
    const Type& t = type(op.operands[0]);
    Value x = Value::of(lanes(in(op, 0), t));
    if (op.operands.size() > 1) {  // what is left out has no bin
      const Type& mask = type(op.operands[1]);
      x = engines_.math("where", {Value::of(lanes(in(op, 1), mask)), x, Value::of(int64_t{-1})}, {mask, t, t}, t);
    }
    const Dims& bins = type(op.results[0]).shape;
    const SourceLine& at = engines_.where();
    const tl::Tensor counts = engines_.tl().histogram(engines_.dense(x.data), bins.elements(), at.file, at.line);
    value(op.results[0]) = Value::of(Engines::of(counts, bins));
  }

  void gather(const Operation& op) {
    const auto axis = static_cast<int>(op.attribute("axis")->integer);
    const KnownPtr index = known(in(op, 1), type(op.operands[1]));
    if (index && !index->loaded) {  // what was loaded tl says, or Phase 2
      const auto all = index->elements();
      const int64_t n = type(op.operands[0]).shape[axis];
      for (const int64_t i : *all) {
        if (i < 0 || i >= n) fault(op, fmt::format("found index {}, expected one of the axis' {}", i, n));
      }
    }
    std::vector<tl::Tensor> x = dense_operands(op);
    const SourceLine& at = engines_.where();
    const tl::Tensor made = engines_.tl().gather(x[0], x[1], axis, at.file, at.line);
    value(op.results[0]) = Value::of(Engines::of(made, type(op.results[0]).shape));
  }

  // ---- The rest
  // -------------------------------------------------------------------------------------------------------
  void constant(const Operation& op) {
    const Attribute& a = *op.attribute("value");
    const Type& t = type(op.results[0]);
    Value& out = value(op.results[0]);
    if (!t.tensor) {
      out = is_float(t.element) ? Value::of_real(rounded(a.real, t.element)) : Value::of(wrapped(a.integer, t.element));
      return;
    }
    if (is_float(t.element)) {
      for (const double d : a.reals) {
        if (d != a.reals[0] && !(std::isnan(d) && std::isnan(a.reals[0]))) fault(op, "floats that are not alike");
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
    if (t.shape.rank() == 1) {
      auto values = std::make_shared<std::vector<int64_t>>();
      for (const int64_t n : a.integers) values->push_back(wrapped(n, t.element));
      if (t.element == Element::i1) k->base = 1;
      k->axes[0].values = values;
    } else {
      fault(op, "a block of more than one dimension whose elements are not alike");
    }
    out = Value::of(KnownPtr(k));
  }

  void bitcast(const Operation& op) {
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
  /// A block of a number.
  static Value blocked(const Value& number, const Type& t) {
    if (!is_float(t.element)) return Value::of(KnownPtr(Known::of(t.element, t.shape, number.n)));
    Value v = number;
    v.kind = VK::uniform;
    return v;
  }

  /// Of tt.clampf: propagateNan, which is none or all.
  static bool passes_nan_on(const Operation& op) {
    const Attribute* all = op.attribute("propagateNan");
    return all && (all->text == "all" || all->integer != 0);
  }

  void real_op(const Operation& op, const std::string& name) {
    std::vector<Value> operands;
    std::vector<Type> types;
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
    value(op.results[0]) = engines_.math(name, operands, types, lanes_type(op.results[0]));
  }

  void select(const Operation& op) {
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

  /// By an engine.
  Value select(const std::vector<Value>& operands, const Type& condition, const Type& result) {
    const Value& c = operands[0];
    const Value on = c.is(VK::known) && c.known->form == Known::Form::open ? laned(c, condition) : c;
    Value out = engines_.select(on, laned(operands[1], result), laned(operands[2], result), condition, result);
    if (out.is(VK::data) && out.data->part.dtype() != dtype_of(result.element) && fits_memory(result.element))
      out = Value::of(engines_.cast(out.data, result.element));
    return out;
  }

  /// Of blocks of integers that pe_cpu knows or can read: as a sum of what one dimension says, else by their elements;
  /// none where only Phase 2 knows them.
  Value select_known(const Operation& op, const Value& c, const Value& a, const Value& b, const Type& condition,
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
        return Value::of(KnownPtr(combine("select", result.element, *place, *place, f, &bad)));
      }
    }
    if (lanes_ || !result.tensor || !condition.tensor || is_pending(c) || is_pending(a) || is_pending(b)) return {};
    return open(op, result, {c, a, b}, {condition, result, result},
                OfElements([](const std::vector<Known::Values>& v, size_t i) { return (*v[(*v[0])[i] ? 1 : 2])[i]; }));
  }

  /// As offsets to the first's base.
  Value select_pointers(const Operation& op, const Value& c, const Value& a, const Value& b, const Type& condition,
                        const Type& result) {
    if (!a.is(VK::pointers) || !b.is(VK::pointers)) fault(op, "of pointers, by data");
    const Type offsets = result.with(Type::Kind::number, Element::i64);
    const auto size = static_cast<int64_t>(size_of(dtype_of(result.element)));
    const auto apart = static_cast<int64_t>(b.ptr.addr - a.ptr.addr);
    if (apart % size != 0) fault(op, "of pointers that lie no whole elements apart");
    const Combine sum = [](int64_t i, int64_t by, int64_t* n) {
      *n = i + by;
      return true;
    };
    bool bad = false;
    const auto away = Known::of(Element::i64, result.shape, apart / size);
    const KnownPtr moved = apart == 0 ? b.known : combine("arith.addi", Element::i64, *b.known, *away, sum, &bad);
    const Value other =
        moved ? Value::of(moved)
              : open(op, offsets, {Value::of(b.known), Value::of(KnownPtr(away))}, {offsets, offsets}, sum);
    const Value chosen = select_known(op, c, Value::of(a.known), other, condition, offsets);
    if (chosen.is(VK::none)) fault(op, "of pointers, by what only Phase 2 knows");
    Value out = a;
    if (apart != 0) out.ptr = a.ptr.unbounded();  // it leads to either tensor
    out.known = chosen.known;
    return out;
  }

  void print(const Operation& op) {
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

  void promise(const Operation& op, const std::string& what) {
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

  /// Whether it hands values on as they are, or (a dot) says itself what it waits for.
  static bool passes_on(Does d) {
    return d == Does::dot || d == Does::expand_dims || d == Does::broadcast || d == Does::trans || d == Does::call ||
           d == Does::for_loop || d == Does::if_else || d == Does::while_loop;
  }

  void operation(const Operation& op) {
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
        return promise(op, "what the compiler was told does not hold");
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

  const Program& program_;
  tl::Context& tl_;
  Engines engines_;
  const ScalarCycles cycles_;
  const Index3 id_, grid_;
  Frame* frame_ = nullptr;
  const Dims* lanes_ = nullptr;
  tl::Tensor* product_ = nullptr;  ///< what the last dot makes, of a turn that is asked for it
  double work_ = 0;
};

}  // namespace

void run_program(const Program& program, tl::Context& tl, const std::vector<Value>& arguments, const Index3& id,
                 const Index3& grid) {
  Run run(program, tl, id, grid);
  run.function(program.function(), arguments);
  run.finish();
}

}  // namespace kernbench::triton
