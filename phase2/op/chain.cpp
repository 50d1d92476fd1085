// SPDX-License-Identifier: Apache-2.0
#include "kernbench/phase2/op/chain.h"

#include <charconv>
#include <stdexcept>
#include <unordered_map>

namespace kernbench::phase2 {
namespace {

[[noreturn]] void no_chain(std::string_view text, const std::string& what) {
  throw std::invalid_argument("chain '" + std::string(text) + "': " + what);
}

/// Removes the part of the text before `end`, with `end`, and returns it.
std::string_view take_word(std::string_view* text, std::string_view end) {
  const size_t at = text->find(end);
  const std::string_view part = text->substr(0, at);
  *text = at == std::string_view::npos ? std::string_view() : text->substr(at + end.size());
  return part;
}

Chain::Source chain_source(std::string_view word, size_t before, std::string_view text) {
  Chain::Source s;
  s.of_step = !word.empty() && word[0] == 's';
  const char* const end = word.data() + word.size();
  const bool letter = s.of_step || (!word.empty() && word[0] == 'x');
  const auto [rest, error] = std::from_chars(word.data() + std::min<size_t>(1, word.size()), end, s.index);
  if (!letter || error != std::errc() || rest != end || (s.of_step && s.index >= before))
    no_chain(text, "found '" + std::string(word) + "', expected x and an operand, or s and an earlier step");
  return s;
}

Chain::Step chain_step(std::string_view words, size_t before, std::string_view text) {
  Chain::Step s;
  const std::string_view head = take_word(&words, " ");
  const size_t colon = std::min(head.find(':'), head.size());
  s.op = find_math_op(head.substr(0, colon));
  const auto dtype = parse_dtype(head.substr(std::min(colon + 1, head.size())));
  if (!s.op || !s.op->is_elementwise() || !dtype)
    no_chain(text, "found '" + std::string(head) + "', expected an elementwise op, : and a type");
  s.dtype = *dtype;
  while (!words.empty()) s.in.push_back(chain_source(take_word(&words, " "), before, text));
  if (static_cast<int>(s.in.size()) != s.op->arity)
    no_chain(text, "'" + std::string(head) + "' has " + std::to_string(s.in.size()) + " operands");
  return s;
}

}  // namespace

Chain::Chain(std::string_view text) {
  const std::string_view end = "; ";
  if (text.size() >= end.size() && text.substr(text.size() - end.size()) == end) no_chain(text, "ends with a ;");
  for (std::string_view left = text; !left.empty() || steps_.empty();) {
    steps_.push_back(chain_step(take_word(&left, end), steps_.size(), text));
    if (steps_.size() > kMostSteps) no_chain(text, "has more than " + std::to_string(kMostSteps) + " steps");
  }
}

std::shared_ptr<const Chain> Chain::of(const std::string& text) {
  constexpr size_t kMost = 256;
  thread_local std::unordered_map<std::string, std::shared_ptr<const Chain>> known;
  const auto it = known.find(text);
  if (it != known.end()) return it->second;
  if (known.size() >= kMost) known.clear();
  return known[text] = std::make_shared<const Chain>(text);
}

void Chain::append(std::string* text, const MathOp& op, DType dtype, const Source* in, size_t count) {
  if (!text->empty()) *text += "; ";
  (*text += op.name) += ':';
  *text += name_of(dtype);
  for (size_t i = 0; i < count; ++i) {
    *text += in[i].of_step ? " s" : " x";
    *text += std::to_string(in[i].index);
  }
}

std::string Chain::Step::to_string() const {
  std::string text;
  append(&text, *op, dtype, in.data(), in.size());
  return text;
}

}  // namespace kernbench::phase2
