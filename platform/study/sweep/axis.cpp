// SPDX-License-Identifier: Apache-2.0
#include "kernbench/platform/study/sweep/axis.h"

#include <fmt/format.h>

#include <algorithm>

#include "kernbench/phase2/op/errors.h"

namespace kernbench::sweep {
namespace {

/// End of the value that starts there: a comma outside of braces and brackets.
size_t end_of_value(const std::string& text, size_t from) {
  int depth = 0;
  for (size_t i = from; i < text.size(); ++i) {
    const char c = text[i];
    if (c == ',' && depth <= 0) return i;
    depth += (c == '{' || c == '[') - (c == '}' || c == ']');
  }
  return text.size();
}

}  // namespace

Words option_words(const std::string& name, const std::string& value) {
  const size_t dot = name.find('.');
  if (dot != std::string::npos) return {"--" + name.substr(0, dot), name.substr(dot + 1) + "=" + value};
  if (value == "true") return {"--" + name};
  if (value == "false") return {};
  return {"--" + name, value};
}

Axis parse_axis(const std::string& text) {
  Axis axis;
  const size_t equals = text.find('=');
  bool good = equals != std::string::npos && equals > 0 && text[0] != '-';
  if (good) axis.name = text.substr(0, equals);
  for (size_t from = equals + 1; good && from <= text.size();) {
    const size_t comma = end_of_value(text, from);
    axis.values.push_back(text.substr(from, comma - from));
    good = comma > from;
    from = comma + 1;
  }
  if (good) return axis;
  throw InputError(fmt::format(
      "--over: found '{}', expected OPTION=VALUE,VALUE,… such as links=ideal,flit or param.n=64,128", text));
}

}  // namespace kernbench::sweep
