// SPDX-License-Identifier: Apache-2.0
#include "kernbench/phase2/op/combiner.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <stdexcept>

namespace kernbench::phase2 {
namespace {

constexpr size_t kMostSteps = 64;

[[noreturn]] void wrong(std::string_view text, const std::string& what) {
  throw std::invalid_argument("combiner '" + std::string(text) + "': " + what);
}

Combiner::Step step_of(std::string_view word, std::string_view text, size_t members) {
  Combiner::Step s;
  for (; s.member < members; ++s.member) {
    const std::string number = s.member > 0 ? std::to_string(s.member) : "";
    s.kind = Combiner::Step::Kind::first;
    if (word == "a" + number) return s;
    s.kind = Combiner::Step::Kind::second;
    if (word == "b" + number) return s;
  }
  s.kind = Combiner::Step::Kind::constant;
  const auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), s.constant);
  if (error == std::errc() && end == word.data() + word.size()) return s;
  s.kind = Combiner::Step::Kind::call;
  s.op = find_math_op(word);
  if (!s.op || !s.op->is_elementwise())
    wrong(text, "found '" + std::string(word) + "', expected a, b, a number or an elementwise op");
  return s;
}

/// State of a stack entry while types are determined.
struct Typed {
  size_t step;
  bool free;  ///< a number or the result of a comparison: float or integer, as its use requires
  bool floats;
};

}  // namespace

Combiner::Combiner(std::string_view text, size_t members) : members_(members) {
  int held = 0;
  for (size_t at = 0; at <= text.size();) {
    const size_t end = std::min(text.find(' ', at), text.size());
    steps_.push_back(step_of(text.substr(at, end - at), text, members));
    at = end + 1;
    const size_t most = kMostSteps * members;
    if (steps_.size() > most) wrong(text, "has more than " + std::to_string(most) + " words");
    const MathOp* op = steps_.back().op;
    if (op && held < op->arity) wrong(text, "'" + std::string(op->name) + "' lacks operands");
    held += op ? 1 - op->arity : 1;
    depth_ = std::max(depth_, held);
  }
  if (held != static_cast<int>(members))
    wrong(text, "leaves " + std::to_string(held) + " values, expected " + std::to_string(members));
}

std::vector<Combiner::Types> Combiner::types(const std::vector<bool>& floats) const {
  std::vector<Types> all(steps_.size());
  std::vector<Typed> stack;
  const auto refuse = [](const MathOp& op, const char* why) {
    throw std::invalid_argument("'" + std::string(op.name) + "' " + why);
  };
  const auto take = [&](const Typed& v, bool as_floats) {
    all[v.step].taken_as_floats = as_floats;
    const Step& s = steps_[v.step];
    if (s.kind != Step::Kind::constant) return;
    all[v.step].computed_in_floats = as_floats;
    if (!as_floats && s.constant != std::floor(s.constant))
      throw std::invalid_argument(fmt::format("{} stands where integers are combined", s.constant));
  };
  for (size_t i = 0; i < steps_.size(); ++i) {
    const Step& s = steps_[i];
    if (s.kind != Step::Kind::call) {
      const bool number = s.kind == Step::Kind::constant;
      all[i].computed_in_floats = floats[number ? 0 : s.member];
      stack.push_back({i, number, floats[number ? 0 : s.member]});
      continue;
    }
    const std::vector<Typed> in(stack.end() - s.op->arity, stack.end());
    stack.resize(stack.size() - in.size());
    const auto of_value = in.begin() + (s.op->first_is_condition ? 1 : 0);
    const auto fixed = std::find_if(of_value, in.end(), [](const Typed& v) { return !v.free; });
    const bool in_floats = fixed == in.end() ? !s.op->integer_only && (s.op->float_only || floats[0]) : fixed->floats;
    for (auto v = of_value; v != in.end(); ++v) {
      if (!v->free && v->floats != in_floats) refuse(*s.op, "meets floats and integers");
    }
    if (in_floats ? s.op->integer_only : s.op->float_only)
      refuse(*s.op, in_floats ? "does not take floats" : "does not take integers");
    for (const Typed& v : in) take(v, in_floats);
    all[i].computed_in_floats = in_floats;
    stack.push_back({i, s.op->result == ResultRule::boolean, in_floats});
  }
  for (size_t m = 0; m < stack.size(); ++m) {
    if (!stack[m].free && stack[m].floats != floats[m])
      throw std::invalid_argument(std::string("gives ") + (floats[m] ? "integers" : "floats") + " for member " +
                                  std::to_string(m) + ", which holds others");
    take(stack[m], floats[m]);
  }
  return all;
}

Combiner Combiner::of(std::string_view op, std::string_view own) {
  if (op == "sum" || op == "cumsum") return Combiner("a b add");
  if (op == "prod" || op == "cumprod") return Combiner("a b mul");
  if (op == "max") return Combiner("a b maximum");
  if (op == "min") return Combiner("a b minimum");
  if (op == "xor_sum") return Combiner("a b bitwise_xor");
  return Combiner(own);
}

bool Combiner::takes(Values v) const {
  return std::any_of(steps_.begin(), steps_.end(), [v](const Step& s) {
    return s.op && (v == Values::floats ? s.op->float_only : v == Values::integers && s.op->integer_only);
  });
}

bool has_own_combiner(const MathOp& op) {
  return op.name == "reduce" || op.name == "associative_scan";
}

bool takes_operands(const MathOp& op, size_t operands) {
  if (op.arity == kAnyNumber) return operands > 0;
  const auto least = static_cast<size_t>(op.arity);
  return has_own_combiner(op) ? operands >= least && operands < least + Combiner::kMostMembers : operands == least;
}

}  // namespace kernbench::phase2
