// SPDX-License-Identifier: Apache-2.0
// Regions, loops and branches.
#include "kernbench/platform/triton/run.h"

#include <algorithm>
#include <deque>
#include <iterator>
#include <utility>

namespace kernbench::triton {

std::vector<Value> Run::blocks(const Region& r, std::vector<Value> arguments) {
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

std::vector<Value> Run::taken(const Operation& op, size_t first) {
  std::vector<Value> v;
  v.reserve(op.operands.size() - first);
  for (size_t i = first; i < op.operands.size(); ++i) v.push_back(in(op, i));
  return v;
}

const Operation& Run::block(const Block& b, std::vector<Value> arguments) {
  for (size_t i = 0; i < b.arguments.size(); ++i) value(b.arguments[i]) = std::move(arguments[i]);
  for (const ValueId v : program_.unused(b)) value(v) = {};
  for (const Program::Step& step : program_.steps(b)) {
    engines_.at(step.where);
    if (step.op == &b.operations.back()) break;
    operation(*step.op);
    if (!step.joins) {
      for (const ValueId v : step.op->results) Engines::settle(value(v));
    }
    for (const ValueId v : *step.dying) value(v) = {};
  }
  return b.operations.back();
}

std::vector<Value> Run::region(const Region& r, std::vector<Value> arguments) {
  const Operation& last = block(r.blocks[0], std::move(arguments));
  return left(last, taken(last, 0));
}

std::vector<Value> Run::left(const Operation& last, std::vector<Value> handed_on) {
  for (const ValueId v : program_.dying(last)) value(v) = {};
  return handed_on;
}

void Run::give(const Operation& op, std::vector<Value> results) {
  for (size_t i = 0; i < op.results.size(); ++i) value(op.results[i]) = std::move(results[i]);
}

void Run::for_loop(const Operation& op) {
  const int64_t first = integer(op, 0), end = integer(op, 1), step = integer(op, 2);
  if (step <= 0) fault(op, "a step of " + std::to_string(step));
  std::vector<Value> carried = taken(op, 3);
  // With num_stages, a load of an iteration starts only when the dots `num_stages` iterations earlier are done: it
  // reuses their operands' buffers.
  const Attribute* stages = op.attribute("tt.num_stages");
  std::deque<tl::Tensor> products;  // last dot of each iteration
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
    std::vector<Value> arguments;
    arguments.reserve(carried.size() + 1);
    arguments.push_back(Value::of(i));
    std::move(carried.begin(), carried.end(), std::back_inserter(arguments));
    carried = settled(op.results, region(op.regions[0], std::move(arguments)));
    if (end - i <= step) break;
  }
  product_ = outer;
  if (outer && !products.empty()) *outer = products.back();
  give(op, std::move(carried));
}

std::vector<Value> Run::settled(const std::vector<ValueId>& as, std::vector<Value> values) {
  for (size_t i = 0; i < values.size(); ++i) {
    Value& v = values[i];
    if (v.is(VK::known) && v.known->form == Known::Form::open) v = Value::of(lanes(v, type(as[i])));
  }
  return values;
}

void Run::while_loop(const Operation& op) {
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

void Run::if_else(const Operation& op) {
  const bool on = integer(op, 0) != 0;
  scalar_work();
  const size_t way = on ? 0 : 1;
  if (way < op.regions.size() && !op.regions[way].blocks[0].operations.empty()) {
    give(op, region(op.regions[way], {}));
  }
}

}  // namespace kernbench::triton
