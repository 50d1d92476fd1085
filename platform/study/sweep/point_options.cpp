// SPDX-License-Identifier: Apache-2.0
#include "kernbench/platform/study/sweep/point_options.h"

#include <fmt/format.h>

#include "kernbench/phase2/text/text.h"

namespace kernbench::sweep {
namespace {

/// Null if points cannot have that option.
const spec::Option* point_option(const spec::Table& table, std::string_view name) {
  const spec::Option* o = table.find(name.substr(0, name.find('.')));
  return o && o->is_of_points() ? o : nullptr;
}

}  // namespace

std::vector<std::string> point_option_names(const spec::Table& table) {
  std::vector<std::string> names;
  for (const spec::Option& o : table.options) {
    if (o.is_of_points()) names.emplace_back(o.name);
  }
  return names;
}

std::string option_name_fault(const spec::Table& table, const std::string& name) {
  const spec::Option* o = point_option(table, name);
  const std::string option = name.substr(0, name.find('.'));
  if (!o) {
    const std::vector<std::string> legal = point_option_names(table);
    return fmt::format("unknown option{} legal: {}", did_you_mean(option, legal), joined(legal));
  }
  const bool named = name.find('.') != std::string::npos;
  if (o->has_names() == named) return {};
  return named ? "found a name; legal: " + std::string(o->name) + " alone" : "found no name; legal: " + name + ".NAME";
}

std::string option_value_fault(const spec::Table& table, const std::string& name, const std::string& value) {
  const spec::Option* o = point_option(table, name);
  if (!o) return {};
  if (o->type != spec::Option::Type::flag) return spec::value_fault(*o, value);
  return value == "true" || value == "false" ? "" : "found " + in_quotes(value) + "; legal: true or false";
}

}  // namespace kernbench::sweep
