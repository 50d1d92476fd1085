#include "kernbench/phase2/op/combiner.h"

#include <algorithm>
#include <charconv>
#include <stdexcept>

namespace kernbench {
namespace {

constexpr size_t kMostSteps = 64;

[[noreturn]] void wrong(std::string_view text, const std::string& what) {
  throw std::invalid_argument("combiner '" + std::string(text) + "': " + what);
}

Combiner::Step step_of(std::string_view word, std::string_view text) {
  Combiner::Step s;
  if (word == "a") return s;
  s.kind = Combiner::Step::Kind::second;
  if (word == "b") return s;
  s.kind = Combiner::Step::Kind::constant;
  const auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), s.constant);
  if (error == std::errc() && end == word.data() + word.size()) return s;
  s.kind = Combiner::Step::Kind::call;
  s.op = find_math_op(word);
  if (!s.op || !s.op->is_elementwise())
    wrong(text, "found '" + std::string(word) + "', expected a, b, a number or an elementwise op");
  return s;
}

}  // namespace

Combiner::Combiner(std::string_view text) {
  int held = 0;
  for (size_t at = 0; at <= text.size();) {
    const size_t end = std::min(text.find(' ', at), text.size());
    steps_.push_back(step_of(text.substr(at, end - at), text));
    at = end + 1;
    if (steps_.size() > kMostSteps) wrong(text, "has more than " + std::to_string(kMostSteps) + " words");
    const MathOp* op = steps_.back().op;
    if (op && held < op->arity) wrong(text, "'" + std::string(op->name) + "' lacks operands");
    held += op ? 1 - op->arity : 1;
    depth_ = std::max(depth_, held);
  }
  if (held != 1) wrong(text, "leaves " + std::to_string(held) + " values, expected 1");
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

}  // namespace kernbench
