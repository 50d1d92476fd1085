// SPDX-License-Identifier: Apache-2.0
// Locations, resolved when all aliases are known.
#include "kernbench/platform/triton/parser.h"

#include <algorithm>
#include <utility>

#include "kernbench/phase2/op/errors.h"

namespace kernbench::triton {

uint32_t Parser::raw(RawLocation l) {
  raw_.push_back(std::move(l));
  return static_cast<uint32_t>(raw_.size() - 1);
}

uint32_t Parser::location() {
  s_.require("(");
  const uint32_t l = inner_location();
  s_.require(")");
  return l;
}

uint32_t Parser::inner_location() {
  const Depth depth(*this);
  RawLocation l;
  if (s_.peek() == '#') {
    s_.step();
    const std::string alias = s_.name();
    const auto known = alias_raw_.find(alias);
    if (known != alias_raw_.end()) return known->second;
    l.alias = alias;
    return alias_raw_[alias] = raw(std::move(l));
  }
  if (s_.take_word("loc")) return location();
  if (s_.take_word("unknown")) return 0;
  if (s_.take_word("callsite")) {
    s_.require("(");
    l.call_site = true;
    l.inner.push_back(inner_location());
    if (!s_.take_word("at")) s_.expected("'at'");
    l.inner.push_back(inner_location());
    s_.require(")");
  } else if (s_.take_word("fused")) {
    if (s_.peek() == '<') s_.skip_brackets();
    s_.require("[");
    while (!s_.take("]")) {
      if (!l.inner.empty()) s_.require(",");
      l.inner.push_back(inner_location());
    }
  } else if (s_.peek() == '"') {
    const std::string text = s_.string();
    if (s_.take(":")) {
      l.file = text;
      s_.skip();
      l.line = static_cast<int>(std::min<int64_t>(s_.digits(), 1 << 30));
      s_.require(":");
      s_.skip();
      s_.digits();
      if (s_.take_word("to")) {  // a range
        while (s_.peek() == ':' || s_.at_number()) s_.at_number() ? static_cast<void>(s_.number()) : s_.step();
      }
    } else {
      l.name = text;
      if (s_.take("(")) {
        l.inner.push_back(inner_location());
        s_.require(")");
      }
    }
  } else {
    s_.expected("a location");
  }
  return raw(std::move(l));
}

const Location& Parser::settled(uint32_t n, int depth) {
  static const Location none;
  if (n == 0 || depth > 2 * kDeepest) return none;
  if (state_[n] == 2) return module_->locations[n];
  if (state_[n] == 1) return none;  // refers to itself
  state_[n] = 1;
  const RawLocation& l = raw_[n];
  Location out;
  if (!l.alias.empty()) {
    const auto it = location_aliases_.find(l.alias);
    if (it == location_aliases_.end())
      throw InputError(module_->file + ": found #" + l.alias + ", which is no location of the file");
    out = settled(it->second, depth + 1);
  } else if (l.call_site) {
    out = settled(l.inner[1], depth + 1);
    if (out.file.empty()) out = settled(l.inner[0], depth + 1);
  } else {
    for (const uint32_t i : l.inner) {
      if (out.file.empty()) out = settled(i, depth + 1);
    }
    if (!l.file.empty()) {
      out.file = l.file;
      out.line = l.line;
    }
    if (!l.name.empty()) out.name = l.name;
  }
  state_[n] = 2;
  module_->locations[n] = out;
  return module_->locations[n];
}

void Parser::settle_locations() {
  module_->locations.resize(raw_.size());
  state_.assign(raw_.size(), 0);
  for (uint32_t n = 1; n < raw_.size(); ++n) settled(n, 0);
  for (const auto& [function, places] : argument_places_) {
    Function& f = module_->functions[function];
    for (size_t i = 0; i < f.arguments.size(); ++i) {
      std::string& name = f.arguments[i].name;
      const std::string& told = i < places.size() ? module_->locations[places[i]].name : "";
      if (!told.empty() || (!name.empty() && name[0] >= '0' && name[0] <= '9')) name = told;
      const bool taken = std::any_of(f.arguments.begin(), f.arguments.begin() + static_cast<std::ptrdiff_t>(i),
                                     [&](const Argument& a) { return a.name == f.arguments[i].name; });
      if (f.arguments[i].name.empty() || taken) f.arguments[i].name = "arg" + std::to_string(i);
    }
  }
}

}  // namespace kernbench::triton
