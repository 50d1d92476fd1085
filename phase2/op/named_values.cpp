// SPDX-License-Identifier: Apache-2.0
#include "kernbench/phase2/op/named_values.h"

#include <fmt/format.h>

#include <set>

#include "kernbench/phase2/op/errors.h"
#include "kernbench/phase2/text/text.h"

namespace kernbench::phase2 {

std::string missing_value(const std::string& value, bool file) {
  if (!value.empty() && value.compare(0, 2, "--") != 0) return "";
  return fmt::format("found {}, expected {}", in_quotes(value), file ? "the name of a file" : "a value");
}

std::pair<std::string, std::string> name_and_value(const std::string& what, const std::string& text,
                                                   std::string_view form) {
  const size_t equals = text.find('=');
  if (equals == std::string::npos || equals == 0 || equals + 1 == text.size())
    throw InputError(fmt::format("{}: found {}, expected {}", what, in_quotes(text), form));
  return {text.substr(0, equals), text.substr(equals + 1)};
}

std::vector<std::pair<std::string, std::string>> named_values(const std::string& what,
                                                              const std::vector<std::string>& texts,
                                                              std::string_view form, bool once) {
  std::vector<std::pair<std::string, std::string>> pairs;
  std::set<std::string> names;
  for (const std::string& text : texts) {
    pairs.push_back(name_and_value(what, text, form));
    if (once && !names.insert(pairs.back().first).second)
      throw InputError(fmt::format("{}: found {} twice, expected each name once", what, pairs.back().first));
  }
  return pairs;
}

}  // namespace kernbench::phase2
