// SPDX-License-Identifier: Apache-2.0
#include "kernbench/kernel_api/params.h"

#include <algorithm>
#include <cerrno>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <optional>

#include "kernbench/phase2/text/text.h"

namespace kernbench {

namespace {

std::string shortest(double v) {
  char text[40];
  for (int digits = 1; digits <= 17; ++digits) {
    std::snprintf(text, sizeof text, "%.*g", digits, v);
    if (std::strtod(text, nullptr) == v) break;
  }
  return text;
}

std::optional<double> read_number(const std::string& text) {
  char* end = nullptr;
  errno = 0;
  const double v = std::strtod(text.c_str(), &end);
  if (text.empty() || text[0] == ' ' || *end != '\0' || errno == ERANGE || !std::isfinite(v)) return std::nullopt;
  return v;
}

std::optional<int64_t> read_integer(const std::string& text) {
  char* end = nullptr;
  errno = 0;
  const long long v = std::strtoll(text.c_str(), &end, 10);
  if (text.empty() || text[0] == ' ' || *end != '\0' || errno == ERANGE) return std::nullopt;
  return v;
}

std::optional<ParamValue> read(const ParamSpec& s, const std::string& text) {
  const auto in_range = [&s](double v) { return v >= s.min && v <= s.max; };
  const bool legal_name = std::find(s.choices.begin(), s.choices.end(), text) != s.choices.end();
  switch (s.type) {
    case ParamType::integer:
      if (const auto v = read_integer(text); v.has_value() && in_range(static_cast<double>(*v))) return ParamValue(*v);
      break;
    case ParamType::number:
      if (const auto v = read_number(text); v.has_value() && in_range(*v)) return ParamValue(*v);
      break;
    case ParamType::boolean:
      if (text == "true" || text == "1") return ParamValue(true);
      if (text == "false" || text == "0") return ParamValue(false);
      break;
    case ParamType::choice:
      if (legal_name) return ParamValue(text);
      break;
    case ParamType::text:
      return ParamValue(text);
    case ParamType::dtype:
      if (legal_name) return ParamValue(*parse_dtype(text));
      break;
  }
  return std::nullopt;
}

}  // namespace

ParamSpec ParamSpec::size(std::string name, int64_t default_value, std::string help) {
  ParamSpec s;
  s.name = std::move(name);
  s.help = std::move(help);
  s.default_value = default_value;
  s.min = 1;
  s.max = 1099511627776.0;
  return s;
}

ParamSpec ParamSpec::size_over_pes(std::string name, int64_t default_value, std::string help) {
  ParamSpec s = size(std::move(name), default_value, std::move(help));
  s.split_over_pes = true;
  return s;
}

ParamSpec ParamSpec::number(std::string name, double default_value, double min, double max, std::string help) {
  ParamSpec s;
  s.name = std::move(name);
  s.type = ParamType::number;
  s.help = std::move(help);
  s.default_value = default_value;
  s.min = min;
  s.max = max;
  return s;
}

ParamSpec ParamSpec::flag(std::string name, bool default_value, std::string help) {
  ParamSpec s;
  s.name = std::move(name);
  s.type = ParamType::boolean;
  s.help = std::move(help);
  s.default_value = default_value;
  return s;
}

ParamSpec ParamSpec::choice(std::string name, std::vector<std::string> legal, std::string help) {
  ParamSpec s;
  s.name = std::move(name);
  s.type = ParamType::choice;
  s.help = std::move(help);
  s.default_value = legal.at(0);
  s.choices = std::move(legal);
  return s;
}

ParamSpec ParamSpec::text(std::string name, std::string default_value, std::string legal, std::string help) {
  ParamSpec s;
  s.name = std::move(name);
  s.type = ParamType::text;
  s.help = std::move(help);
  s.default_value = std::move(default_value);
  s.choices = {std::move(legal)};
  return s;
}

ParamSpec ParamSpec::dtypes(std::vector<DType> legal, std::string help) {
  ParamSpec s;
  s.name = "dtype";
  s.type = ParamType::dtype;
  s.help = std::move(help);
  s.default_value = legal.at(0);
  for (DType t : legal) s.choices.emplace_back(name_of(t));
  return s;
}

ParamSpec ParamSpec::tuning() const {
  ParamSpec s = *this;
  s.is_tuning = true;
  return s;
}

std::string ParamSpec::legal() const {
  switch (type) {
    case ParamType::boolean:
      return "true|false";
    case ParamType::choice:
    case ParamType::dtype:
    case ParamType::text:
      return joined(choices, "|");
    case ParamType::integer:
    case ParamType::number:
      break;
  }
  std::string text = type == ParamType::integer ? "an integer" : "a number";
  if (std::isfinite(min)) text += ", " + shortest(min) + (std::isfinite(max) ? " to " + shortest(max) : " or more");
  return text;
}

std::string ParamSpec::default_text() const {
  return to_text(default_value);
}

std::string to_text(const ParamValue& v) {
  if (const auto* i = std::get_if<int64_t>(&v)) return std::to_string(*i);
  if (const auto* d = std::get_if<double>(&v)) return shortest(*d);
  if (const auto* b = std::get_if<bool>(&v)) return *b ? "true" : "false";
  if (const auto* t = std::get_if<DType>(&v)) return std::string(name_of(*t));
  return std::get<std::string>(v);
}

Params parse_params(const std::string& what, const std::vector<ParamSpec>& specs,
                    const std::vector<std::pair<std::string, std::string>>& given) {
  Params params;
  for (const ParamSpec& s : specs) params.set(s.name, s.default_value);
  std::vector<std::string> seen;
  for (const auto& [name, text] : given) {
    const auto spec = std::find_if(specs.begin(), specs.end(), [&n = name](const ParamSpec& s) { return s.name == n; });
    if (spec == specs.end()) {
      std::vector<std::string> names;
      for (const ParamSpec& s : specs) names.push_back(s.name);
      throw BadParam(what + " has no parameter '" + name + "'" + did_you_mean(name, names) + " it has " +
                     joined(names));
    }
    if (std::find(seen.begin(), seen.end(), name) != seen.end()) {
      throw BadParam("parameter '" + name + "' of " + what + " is given twice");
    }
    seen.push_back(name);
    const auto value = read(*spec, text);
    if (!value.has_value()) {
      throw BadParam("parameter '" + name + "' of " + what + " is '" + text + "'; legal: " + spec->legal());
    }
    params.set(name, *value);
  }
  return params;
}

}  // namespace kernbench
