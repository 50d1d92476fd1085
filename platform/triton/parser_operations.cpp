// SPDX-License-Identifier: Apache-2.0
// Operations in custom and generic form.
#include "kernbench/platform/triton/parser.h"

#include <algorithm>
#include <utility>

#include "kernbench/phase2/op/errors.h"

namespace kernbench::triton {

namespace {

constexpr int64_t kMostResults = 1024;

}  // namespace

void Parser::operation(Block& b) {
  Operation op;
  std::vector<std::pair<std::string, int64_t>> names;
  while (s_.peek() == '%') {
    s_.step();
    const std::string name = s_.name();
    int64_t count = 1;
    if (s_.take(":")) count = s_.digits();
    if (count < 1 || count > kMostResults) s_.fail("found " + std::to_string(count) + " results");
    names.emplace_back(name, count);
    if (!s_.take(",")) {
      s_.require("=");
      break;
    }
  }
  int64_t wanted = 0;
  for (const auto& [name, count] : names) wanted += count;
  if (s_.peek() != '"' && !s_.at_word()) s_.expected("an operation");
  op.line = s_.line();
  const bool generic = s_.peek() == '"';
  op.name = generic ? s_.string() : s_.word();
  op.info = find_op(op.name);
  std::vector<Type> results(static_cast<size_t>(wanted));
  if (op.info == nullptr) {
    unknown(op);
    s_.skip_statement();
  } else {
    results = generic ? generic_form(op) : own_form(op);
    op.location = trailing_location();
  }
  if (static_cast<int64_t>(results.size()) != wanted && !(names.empty() && op.info != nullptr))
    fail_at(op, "found " + std::to_string(wanted) + " results, expected " + std::to_string(results.size()));
  for (const Type& t : results) op.results.push_back(value(t));
  ValueId next = op.results.empty() ? 0 : op.results.front();
  for (const auto& [name, count] : names) {
    define(name, {next, count});
    next += static_cast<ValueId>(count);
  }
  if (op.info != nullptr) b.operations.push_back(std::move(op));
}

void Parser::fail_at(const Operation& op, const std::string& what) const {
  throw InputError(module_->file + ":" + std::to_string(op.line) + ": " + op.name + ": " + what);
}

std::vector<Type> Parser::settle(Operation& op, const Told& types) {
  std::string fault;
  std::vector<Type> operands;
  for (const ValueId v : op.operands) operands.push_back(type_of(v));
  std::vector<Type> results = settle_types(op, types, operands, &fault);
  if (!fault.empty()) fail_at(op, fault);
  return results;
}

std::vector<Type> Parser::generic_form(Operation& op) {
  s_.require("(");
  while (!s_.take(")")) {
    if (!op.operands.empty()) s_.require(",");
    op.operands.push_back(operand());
  }
  if (s_.take("[")) {
    while (!s_.take("]")) {
      if (!op.successors.empty()) s_.require(",");
      s_.require("^");
      op.successors.push_back({label(s_.name()), {}});
    }
  }
  if (s_.take("<")) op.attributes = properties();
  if (s_.take("(")) {
    while (!s_.take(")")) {
      if (!op.regions.empty()) s_.require(",");
      op.regions.push_back(region(nullptr));
    }
  }
  if (s_.peek() == '{') op.attributes.merge(dictionary());
  s_.require(":");
  Told types = told();
  if (!types.arrow) s_.expected("'->'");
  if (types.before.size() != op.operands.size())
    fail_at(op, "found " + std::to_string(op.operands.size()) + " operands of " + std::to_string(types.before.size()) +
                    " types");
  for (size_t i = 0; i < op.operands.size(); ++i) require_type(op, op.operands[i], types.before[i]);
  if (!op.successors.empty()) split_operands(op);
  types.arrow = true;
  Told as_told = types;
  return settle_generic(op, as_told);
}

void Parser::require_type(const Operation& op, ValueId v, const Type& t) {
  const Type& is = type_of(v);
  if (is.known() && t.known() && is != t)
    fail_at(op, "found an operand of " + is.to_string() + " where " + t.to_string() + " is told");
}

void Parser::split_operands(Operation& op) {
  const size_t kept = op.name == "cf.cond_br" ? 1 : 0;
  std::vector<ValueId> rest(op.operands.begin() + static_cast<std::ptrdiff_t>(std::min(kept, op.operands.size())),
                            op.operands.end());
  op.operands.resize(std::min(kept, op.operands.size()));
  size_t first = rest.size();
  if (op.successors.size() == 2) {
    const Attribute* sizes = op.attribute("operandSegmentSizes");
    if (sizes == nullptr || sizes->integers.size() != 3 || sizes->integers[1] < 0 ||
        sizes->integers[1] > static_cast<int64_t>(rest.size()))
      fail_at(op, "found two successors, expected operandSegmentSizes of three");
    first = static_cast<size_t>(sizes->integers[1]);
  }
  op.successors[0].operands.assign(rest.begin(), rest.begin() + static_cast<std::ptrdiff_t>(first));
  if (op.successors.size() == 2)
    op.successors[1].operands.assign(rest.begin() + static_cast<std::ptrdiff_t>(first), rest.end());
}

std::vector<Type> Parser::settle_generic(Operation& op, const Told& all) {
  switch (op.info->does) {
    case Does::for_loop:
    case Does::if_else:
    case Does::while_loop:
      return all.after;
    default:
      break;
  }
  if (op.info->does == Does::terminator || op.info->does == Does::branch) return {};
  Told t;
  switch (op.info->typing) {
    case Typing::alike:
    case Typing::compare:
    case Typing::load:
    case Typing::store:
      if (!all.before.empty()) t.before = {all.before.front()};
      break;
    case Typing::select:
      if (!all.before.empty()) t.before = {all.before.back()};
      break;
    case Typing::addptr:
      t.before = all.before;
      break;
    case Typing::dot:
      t.before.assign(all.before.begin(),
                      all.before.begin() + std::min<std::ptrdiff_t>(2, static_cast<std::ptrdiff_t>(all.before.size())));
      t.after = all.after;
      break;
    case Typing::shape:
      if (!all.before.empty()) t.before = {all.before.front()};
      if (!all.after.empty()) t.after = {all.after.front()};
      break;
    case Typing::tile:
      if (!all.before.empty()) t.before = {all.before.front()};
      if (op.info->does == Does::make_descriptor || op.info->does == Does::make_block_pointer) t.before.clear();
      for (const Type& x : all.after) t.before.push_back(x);
      t.after = all.after;
      break;
    case Typing::result:
      t.before = all.after;
      break;
    default:
      t = all;
  }
  const std::vector<Type> made = settle(op, t);
  if (!made.empty() && !all.after.empty() && made.front() != all.after.front())
    fail_at(op, "found a result of " + all.after.front().to_string() + ", expected " + made.front().to_string());
  return made;
}

std::vector<Type> Parser::own_form(Operation& op) {
  switch (op.info->does) {
    case Does::for_loop:
      return for_loop(op);
    case Does::if_else:
      return if_else(op);
    case Does::while_loop:
      return while_loop(op);
    case Does::branch:
      return branch(op);
    case Does::constant:
      return constant(op);
    default:
      break;
  }
  if (op.name == "scf.condition") return condition(op);
  // These operations may have no types and then end with the line.
  const bool may_stop =
      op.info->typing == Typing::nothing || op.info->does == Does::terminator || op.info->does == Does::print;
  Told types;
  int line = op.line;
  bool comma = true;  // before an operand
  for (;;) {
    const char c = s_.peek();
    if (may_stop && s_.line() != line) break;
    line = s_.line();
    if (c == '%') {
      if (!comma) s_.expected("','");
      op.operands.push_back(operand());
      comma = false;
    } else if (c == ',') {
      s_.step();
      comma = true;
    } else if (c == '[' || c == '(') {
      s_.step();
      comma = true;
    } else if (c == ']' || c == ')') {
      s_.step();
      comma = false;
    } else if (c == '{') {
      op.attributes.merge(dictionary());
      comma = true;
    } else if (c == '<') {
      s_.step();
      op.attributes.merge(properties());
    } else if (c == '"') {
      Attribute a;
      a.kind = Attribute::Kind::text;
      a.text = s_.string();
      op.attributes.emplace("text", a);  // after an assertion's text, Triton 3.1 writes file, function and line
      comma = true;
    } else if (op.info->does == Does::assertion && s_.at_number()) {
      s_.number();
      comma = true;
    } else if (c == '@') {
      Attribute a;
      a.kind = Attribute::Kind::text;
      a.text = symbol();
      op.attributes["callee"] = a;
    } else if (c == ':') {
      s_.step();
      if (s_.peek() == '%') {  // tt.print "x" : %a : i32
        comma = true;
        continue;
      }
      types = told(&op);
      break;
    } else if (s_.take("->")) {  // without operands
      types.after = told(&op).before;
      types.arrow = true;
      break;
    } else if (s_.at_word()) {
      if (peek_word("loc")) break;
      const std::string word = s_.word();
      if (s_.take("=")) {
        op.attributes[word] = attribute();
      } else if (s_.here('<')) {
        s_.skip_brackets();
      } else {
        Attribute a;
        a.kind = Attribute::Kind::text;
        a.text = word;
        // get_program_id x; cmpi slt; atomic_rmw fadd, acq_rel, gpu; dot_scaled's `scale`.
        op.attributes["word" + std::to_string(words_in(op))] = a;
      }
      comma = true;
    } else {
      break;
    }
  }
  return settle(op, types);
}

int Parser::words_in(const Operation& op) {
  int n = 0;
  while (op.attributes.count("word" + std::to_string(n))) ++n;
  return n;
}

bool Parser::peek_word(const char* w) {
  Scanner ahead = s_;
  return ahead.take_word(w);
}

void Parser::loop_values(Operation& op, Arguments* arguments) {
  s_.require("(");
  bool first = true;
  while (!s_.take(")")) {
    if (!first) s_.require(",");
    first = false;
    s_.require("%");
    const std::string name = s_.name();
    s_.require("=");
    op.operands.push_back(operand());
    arguments->emplace_back(name, type_of(op.operands.back()));
  }
}

std::vector<Type> Parser::type_list() {
  std::vector<Type> types;
  s_.require("(");
  while (!s_.take(")")) {
    if (!types.empty()) s_.require(",");
    types.push_back(type());
  }
  return types;
}

std::vector<Type> Parser::for_loop(Operation& op) {
  s_.take_word("unsigned");
  s_.require("%");
  const std::string induction = s_.name();
  s_.require("=");
  op.operands.push_back(operand());
  if (!s_.take_word("to")) s_.expected("'to'");
  op.operands.push_back(operand());
  if (!s_.take_word("step")) s_.expected("'step'");
  op.operands.push_back(operand());
  Arguments carried;
  std::vector<Type> results;
  if (s_.take_word("iter_args")) {
    loop_values(op, &carried);
    s_.require("->");
    results = s_.peek() == '(' ? type_list() : std::vector<Type>{type()};
  }
  Type counter{Type::Kind::number, Element::index};
  if (s_.take(":")) counter = type();
  for (size_t i = 0; i < 3; ++i) require_type(op, op.operands[i], counter);
  carried.insert(carried.begin(), {induction, counter});
  op.regions.push_back(region(&carried));
  end_with_yield(op.regions.back());
  if (s_.peek() == '{') op.attributes = dictionary();
  if (results.size() + 3 != op.operands.size())
    fail_at(op, "found " + std::to_string(op.operands.size() - 3) + " carried values of " +
                    std::to_string(results.size()) + " types");
  for (size_t i = 0; i < results.size(); ++i) require_type(op, op.operands[i + 3], results[i]);
  return results;
}

void Parser::end_with_yield(Region& r) {
  Block& last = r.blocks.back();
  if (!last.operations.empty() &&
      (last.operations.back().info->does == Does::terminator || last.operations.back().info->does == Does::branch))
    return;
  Operation yield;
  yield.name = "scf.yield";
  yield.info = find_op(yield.name);
  yield.line = s_.line();
  last.operations.push_back(std::move(yield));
}

std::vector<Type> Parser::if_else(Operation& op) {
  op.operands.push_back(operand());
  std::vector<Type> results;
  if (s_.take("->")) results = s_.peek() == '(' ? type_list() : std::vector<Type>{type()};
  op.regions.push_back(region(nullptr));
  end_with_yield(op.regions.back());
  if (s_.take_word("else")) {
    op.regions.push_back(region(nullptr));
    end_with_yield(op.regions.back());
  }
  if (s_.peek() == '{') op.attributes = dictionary();
  return results;
}

std::vector<Type> Parser::while_loop(Operation& op) {
  Arguments carried;
  if (s_.peek() == '(') loop_values(op, &carried);
  s_.require(":");
  const Told types = told();
  if (types.before.size() != op.operands.size()) fail_at(op, "found other types than carried values");
  for (size_t i = 0; i < op.operands.size(); ++i) require_type(op, op.operands[i], types.before[i]);
  op.regions.push_back(region(&carried));
  if (!s_.take_word("do")) s_.expected("'do'");
  op.regions.push_back(region(nullptr));
  end_with_yield(op.regions.back());
  if (s_.take_word("attributes")) op.attributes = dictionary();
  return types.after;
}

void Parser::successor(Operation& op) {
  s_.require("^");
  Successor to;
  to.block = label(s_.name());
  if (s_.take("(")) {
    while (s_.peek() == '%') {
      to.operands.push_back(operand());
      if (!s_.take(",")) break;
    }
    if (!to.operands.empty()) s_.require(":");
    std::vector<Type> types;
    while (s_.peek() != ')') {
      if (!types.empty()) s_.require(",");
      types.push_back(type());
    }
    s_.require(")");
    if (types.size() != to.operands.size()) fail_at(op, "found other types than operands");
    for (size_t i = 0; i < types.size(); ++i) require_type(op, to.operands[i], types[i]);
  }
  op.successors.push_back(std::move(to));
}

std::vector<Type> Parser::branch(Operation& op) {
  if (op.name == "cf.cond_br") {
    op.operands.push_back(operand());
    s_.require(",");
    if (s_.peek() != '^') s_.expected("'^'");
    successor(op);
    s_.require(",");
  }
  successor(op);
  if (s_.peek() == '{') op.attributes = dictionary();
  return {};
}

std::vector<Type> Parser::condition(Operation& op) {
  s_.require("(");
  op.operands.push_back(operand());
  s_.require(")");
  if (s_.peek() == '{') op.attributes = dictionary();
  while (s_.peek() == '%') {
    op.operands.push_back(operand());
    if (!s_.take(",")) break;
  }
  if (op.operands.size() == 1) return {};
  s_.require(":");
  const Told types = told();
  if (types.before.size() + 1 != op.operands.size()) fail_at(op, "found other types than values");
  for (size_t i = 0; i < types.before.size(); ++i) require_type(op, op.operands[i + 1], types.before[i]);
  return {};
}

std::vector<Type> Parser::constant(Operation& op) {
  if (s_.peek() == '{') op.attributes = dictionary();
  const bool truth = peek_word("true") || peek_word("false");
  op.attributes["value"] = attribute();
  Told types;
  types.before = {truth ? Type{Type::Kind::number, Element::i1} : op.attributes["value"].type};
  return settle(op, types);
}

}  // namespace kernbench::triton
