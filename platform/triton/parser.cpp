// SPDX-License-Identifier: Apache-2.0
// Functions, values and regions.
#include "kernbench/platform/triton/parser.h"

#include <algorithm>
#include <utility>

#include "kernbench/phase2/op/errors.h"

namespace kernbench::triton {

std::shared_ptr<const Module> Parser::read() {
  raw_.emplace_back();
  while (!s_.at_end()) top_level();
  settle_locations();
  for (const Function& f : module_->functions) {
    const std::string fault = structure_fault(*module_, f);
    if (!fault.empty()) throw InputError(module_->file + ":" + fault);
  }
  return module_;
}

void Parser::top_level() {
  const char c = s_.peek();
  if (c == '#') {
    s_.step();
    const std::string alias = s_.name();
    s_.require("=");
    if (s_.take_word("loc")) {
      location_aliases_[alias] = location();
    } else {
      s_.skip_statement();
    }
  } else if (s_.take("{-#")) {
    while (!s_.take("#-}")) {
      if (s_.at_end()) s_.expected("'#-}'");
      s_.step();
    }
  } else if (c == '!') {
    s_.skip_statement();
  } else if (s_.take_word("module")) {
    const Depth depth(*this);
    if (s_.peek() == '@') symbol();
    if (s_.take_word("attributes")) s_.peek() == '{' ? s_.skip_brackets() : s_.expected("'{'");
    s_.require("{");
    while (!s_.take("}")) top_level();
    trailing_location();
  } else if (s_.take("\"builtin.module\"")) {
    const Depth depth(*this);
    s_.require("(");
    s_.require(")");
    if (s_.take("<")) properties();
    s_.require("(");
    s_.require("{");
    if (s_.take("^")) {
      s_.name();
      s_.require(":");
    }
    while (!s_.take("}")) top_level();
    s_.require(")");
    if (s_.peek() == '{') s_.skip_brackets();
    s_.require(":");
    s_.require("(");
    s_.require(")");
    s_.require("->");
    s_.require("(");
    s_.require(")");
    trailing_location();
  } else if (s_.take_word("tt.func")) {
    function();
  } else if (s_.take("\"tt.func\"")) {
    generic_function();
  } else if (s_.at_word() || c == '"') {
    Operation op;
    op.line = s_.line();
    op.name = c == '"' ? s_.string() : s_.word();
    unknown(op);
    s_.skip_statement();
  } else {
    s_.expected("a function");
  }
}

std::string Parser::symbol() {
  s_.require("@");
  return s_.name();
}

void Parser::begin_function() {
  module_->functions.emplace_back();
  f_ = &module_->functions.back();
  scopes_.assign(1, {});
}

void Parser::end_function() {
  trailing_location();
  for (const Function& other : module_->functions) {
    if (&other != f_ && other.name == f_->name) s_.fail("found a second function @" + f_->name);
  }
  f_ = nullptr;
}

void Parser::function() {
  begin_function();
  f_->line = s_.line();
  for (const char* visibility : {"public", "private", "nested"}) {
    if (s_.take_word(visibility)) f_->is_public = std::string(visibility) == "public";
  }
  f_->name = symbol();
  s_.require("(");
  std::vector<std::pair<std::string, Type>> arguments;
  std::vector<uint32_t> places;
  while (!s_.take(")")) {
    if (!arguments.empty()) s_.require(",");
    std::string name;
    if (s_.peek() == '%') {
      s_.step();
      name = s_.name();
      s_.require(":");
    }
    arguments.emplace_back(name, type());
    f_->arguments.emplace_back();
    f_->arguments.back().name = name;  // unless a location has another name
    if (s_.peek() == '{') {
      const auto attributes = dictionary();
      const auto at = attributes.find("tt.divisibility");
      if (at != attributes.end()) f_->arguments.back().divisibility = std::max<int64_t>(1, at->second.integer);
    }
    places.push_back(trailing_location());
  }
  argument_places_.emplace_back(module_->functions.size() - 1, places);
  if (s_.take("->")) {
    if (s_.take("(")) {
      while (!s_.take(")")) {
        if (!f_->results.empty()) s_.require(",");
        f_->results.push_back(type());
        if (s_.peek() == '{') s_.skip_brackets();
      }
    } else {
      f_->results.push_back(type());
    }
  }
  if (s_.take_word("attributes")) dictionary();
  if (s_.peek() == '{') {
    f_->body = region(&arguments);
    take_arguments(f_->body.blocks.front());
  } else {
    for (size_t i = 0; i < arguments.size(); ++i) f_->arguments[i].value = value(arguments[i].second);
  }
  end_function();
}

void Parser::take_arguments(const Block& entry) {
  if (f_->arguments.empty()) f_->arguments.resize(entry.arguments.size());
  for (size_t i = 0; i < entry.arguments.size(); ++i) f_->arguments[i].value = entry.arguments[i];
}

void Parser::generic_function() {
  begin_function();
  f_->line = s_.line();
  s_.require("(");
  s_.require(")");
  std::map<std::string, Attribute> attributes;
  if (s_.take("<")) attributes = properties();
  s_.require("(");
  f_->body = region(nullptr);
  s_.require(")");
  if (s_.peek() == '{') attributes.merge(dictionary());
  const auto name = attributes.find("sym_name");
  if (name == attributes.end()) s_.fail("found a function without sym_name");
  f_->name = name->second.text;
  for (const ValueId id : f_->body.blocks.front().arguments) {
    f_->arguments.emplace_back();
    f_->arguments.back().value = id;
  }
  argument_places_.emplace_back(module_->functions.size() - 1, block_places_);
  const auto signature =
      function_types_.find(attributes.count("function_type") ? attributes["function_type"].text : "");
  if (signature != function_types_.end()) f_->results = signature->second;
  s_.require(":");
  told();
  end_function();
}

ValueId Parser::value(const Type& t) {
  f_->types.push_back(t);
  return static_cast<ValueId>(f_->types.size() - 1);
}

void Parser::define(const std::string& name, const Named& n) {
  if (!scopes_.back().emplace(name, n).second) s_.fail("found a second value %" + name);
}

ValueId Parser::operand() {
  s_.require("%");
  const std::string name = s_.name();
  int64_t index = 0;
  bool numbered = false;
  if (s_.here('#')) {
    s_.step();
    index = s_.digits();
    numbered = true;
  }
  for (auto scope = scopes_.rbegin(); scope != scopes_.rend(); ++scope) {
    const auto it = scope->find(name);
    if (it == scope->end()) continue;
    if (index >= it->second.count || (!numbered && it->second.count != 1))
      s_.fail("found %" + name + (numbered ? "#" + std::to_string(index) : "") + ", which stands for " +
              std::to_string(it->second.count) + " values");
    return it->second.first + static_cast<ValueId>(index);
  }
  s_.fail("found %" + name + ", expected a value that is defined before");
}

Region Parser::region(const Arguments* entry) {
  const Depth depth(*this);
  s_.require("{");
  Region r;
  scopes_.emplace_back();
  labels_.emplace_back();
  block_places_.clear();
  if (entry || s_.peek() != '^') {
    r.blocks.emplace_back();
    labels_.back().defined.push_back(true);
    if (entry) {
      for (const auto& [name, t] : *entry) add_argument(r.blocks.back(), name, t);
    }
    operations(r.blocks.back());
  }
  while (s_.peek() == '^') {
    s_.step();
    const std::string name = s_.name();
    const uint32_t number = label(name, r.blocks.empty() && labels_.back().defined.empty());
    if (labels_.back().defined[number]) s_.fail("found a second block ^" + name);
    labels_.back().defined[number] = true;
    Block b;
    if (s_.take("(")) {
      while (!s_.take(")")) {
        if (!b.arguments.empty()) s_.require(",");
        s_.require("%");
        const std::string argument = s_.name();
        s_.require(":");
        add_argument(b, argument, type());
        const uint32_t place = trailing_location();
        if (number == 0) block_places_.push_back(place);
      }
    }
    s_.require(":");
    const std::vector<uint32_t> places = block_places_;
    operations(b);
    block_places_ = places;
    if (r.blocks.size() <= number) r.blocks.resize(number + 1);
    r.blocks[number] = std::move(b);
  }
  s_.require("}");
  const auto& defined = labels_.back().defined;
  if (std::find(defined.begin(), defined.end(), false) != defined.end())
    s_.fail("found a branch to a block that is not in its region");
  if (r.blocks.empty()) r.blocks.emplace_back();
  labels_.pop_back();
  scopes_.pop_back();
  return r;
}

void Parser::add_argument(Block& b, const std::string& name, const Type& t) {
  b.arguments.push_back(value(t));
  define(name, {b.arguments.back(), 1});
}

uint32_t Parser::label(const std::string& name, bool entry) {
  auto& l = labels_.back();
  const auto [at, fresh] = l.numbers.emplace(name, static_cast<uint32_t>(l.defined.size()));
  if (fresh) {
    l.defined.push_back(false);
    if (entry && at->second != 0) s_.fail("found ^" + name + " twice");
  }
  return at->second;
}

void Parser::operations(Block& b) {
  while (s_.peek() != '}' && s_.peek() != '^') operation(b);
}

}  // namespace kernbench::triton
