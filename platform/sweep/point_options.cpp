#include "kernbench/platform/sweep/point_options.h"

#include <fmt/format.h>

#include "kernbench/phase2/text/text.h"
#include "kernbench/platform/spec/run_spec.h"

namespace kernbench::sweep {
namespace {

/// Null for what no point is given.
const spec::Option* point_option(std::string_view name) {
  const spec::Option* o = spec::find_option(name);
  return o && o->is_of_points() ? o : nullptr;
}

}  // namespace

std::vector<std::string> point_option_names() {
  std::vector<std::string> names;
  for (const spec::Option& o : spec::options()) {
    if (o.is_of_points()) names.emplace_back(o.name);
  }
  return names;
}

std::string option_name_fault(const std::string& name) {
  const size_t dot = name.find('.');
  const spec::Option* o = point_option(std::string_view(name).substr(0, dot));
  if (!o) return fmt::format("unknown option; legal: {}", fmt::join(point_option_names(), ", "));
  if (o->has_names() == (dot != std::string::npos)) return {};
  return dot == std::string::npos ? "found no name; legal: " + name + ".NAME"
                                  : "found a name; legal: " + std::string(o->name) + " alone";
}

std::string option_value_fault(const std::string& name, const std::string& value) {
  const spec::Option* o = point_option(std::string_view(name).substr(0, name.find('.')));
  if (!o || o->type != spec::Option::Type::flag || value == "true" || value == "false") return {};
  return "found " + in_quotes(value) + "; legal: true or false";
}

}  // namespace kernbench::sweep
