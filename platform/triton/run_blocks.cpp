// SPDX-License-Identifier: Apache-2.0
// Reductions, scans and other operations on whole blocks.
#include "kernbench/platform/triton/run.h"

#include <fmt/format.h>

#include <map>
#include <utility>

namespace kernbench::triton {

std::string Run::single_reduction(const Operation& op) const {
  if (op.operands.size() != 1) return {};
  const Block& b = op.regions[0].blocks[0];
  if (b.operations.size() == 2) {
    const Operation& only = b.operations[0];
    if (b.operations[1].operands[0] != only.results.at(0) || only.operands.size() != 2) return {};
    const ValueId x = only.operands[0], y = only.operands[1];
    const bool both = (x == b.arguments[0] && y == b.arguments[1]) || (x == b.arguments[1] && y == b.arguments[0]);
    if (!both) return {};
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

std::vector<Value> Run::combine_blocks(const Operation& op, const std::vector<tl::Tensor>& a,
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

std::vector<tl::Tensor> Run::dense_operands(const Operation& op) {
  std::vector<tl::Tensor> x;
  for (size_t i = 0; i < op.operands.size(); ++i) x.push_back(engines_.dense(lanes(in(op, i), type(op.operands[i]))));
  return x;
}

namespace {

/// An axis; all dimensions before it are one, all after it another.
Dims around(const Shape& shape, int axis) {
  Dims three = {1, shape[axis], 1};
  for (int d = 0; d < shape.rank(); ++d) {
    if (d != axis) three[d < axis ? 0 : 2] *= shape[d];
  }
  return three;
}

}  // namespace

void Run::reduce(const Operation& op) {
  const int axis = static_cast<int>(op.attribute("axis")->integer);
  const std::string single = single_reduction(op);
  flush();
  const Type& t = type(op.operands[0]);
  if (!single.empty() && !(single == "sum" && t.element == Element::i1)) {
    DataPtr x = lanes(in(op, 0), t);
    Type result = type(op.results[0]);
    if (t.shape.is_deep()) {
      const Dims three = around(t.shape, axis);
      x = engines_.reshape(x, three);
      result.shape = Dims{three[0], three[2]};
    }
    x = engines_.reduce(single, x, t.shape.is_deep() ? 1 : axis, result);
    value(op.results[0]) = Value::of(t.shape.is_deep() ? engines_.reshape(x, type(op.results[0]).shape) : x);
    return;
  }
  reduce_in_pairs(op, axis);
}

void Run::reduce_in_pairs(const Operation& op, int axis) {
  std::vector<tl::Tensor> x = dense_operands(op);
  const char* file = engines_.where().file;
  const int line = engines_.where().line;
  const Shape& full = type(op.operands[0]).shape;
  if (full.rank() >= kMaxRank) {  // pairs need one more dimension
    for (tl::Tensor& v : x) v = tl_.reshape(v, around(full, axis), file, line);
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
    Dims shape = result.tensor ? result.shape.dims() : Dims{};
    value(op.results[i]) = Value::of(Engines::of(tl_.reshape(x[i], shape, file, line), shape));
  }
}

void Run::scan(const Operation& op) {
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

void Run::histogram(const Operation& op) {
  const Type& t = type(op.operands[0]);
  Value x = Value::of(lanes(in(op, 0), t));
  if (op.operands.size() > 1) {  // masked-out elements have no bin
    const Type& mask = type(op.operands[1]);
    x = engines_.math("where", {Value::of(lanes(in(op, 1), mask)), x, Value::of(int64_t{-1})}, {mask, t, t}, t);
  }
  const Dims& bins = type(op.results[0]).shape;
  const SourceLine& at = engines_.where();
  const tl::Tensor counts = engines_.tl().histogram(engines_.dense(x.data), bins.elements(), at.file, at.line);
  value(op.results[0]) = Value::of(Engines::of(counts, bins));
}

void Run::gather(const Operation& op) {
  const auto axis = static_cast<int>(op.attribute("axis")->integer);
  const KnownPtr index = known(in(op, 1), type(op.operands[1]));
  if (index && !index->loaded) {  // for loaded indices tl or phase 2 reports the fault
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

}  // namespace kernbench::triton
