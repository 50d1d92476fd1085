#include "kernbench/platform/sweep/point_options.h"

#include <fmt/format.h>

#include "kernbench/phase2/text/text.h"

namespace kernbench::sweep {

const std::vector<PointOption>& point_options() {
  using Kind = PointOption::Kind;
  using File = PointOption::File;
  static const std::vector<PointOption> all = {
      {"topology", Kind::value, File::named},
      {"energy", Kind::value, File::named},
      {"links"},
      {"response"},
      {"set", Kind::named, File::none, true},
      {"scale", Kind::named, File::none, true},
      {"plugin", Kind::value, File::other, true},
      {"kernel"},
      {"program"},
      {"param", Kind::named},
      {"tensor", Kind::named, File::other},
      {"expected", Kind::named, File::other},
      {"seed"},
      {"pes"},
      {"device"},
      {"ranks"},
      {"launch"},
      {"transfer"},
      {"address"},
      {"verify", Kind::flag},
      {"debug-verify", Kind::flag},
      {"check-races", Kind::flag},
      {"explain", Kind::flag},
      {"isa"},
      {"corrupt"},
      {"max-time"},
  };
  return all;
}

const PointOption* point_option(std::string_view name) {
  for (const PointOption& o : point_options()) {
    if (o.name == name) return &o;
  }
  return nullptr;
}

bool decides_nothing(std::string_view name) {
  return name == "threads";
}

std::vector<std::string> point_option_names() {
  std::vector<std::string> names;
  for (const PointOption& o : point_options()) names.emplace_back(o.name);
  return names;
}

std::string option_name_fault(const std::string& name) {
  const size_t dot = name.find('.');
  const PointOption* o = point_option(std::string_view(name).substr(0, dot));
  if (!o) return fmt::format("unknown option; legal: {}", fmt::join(point_option_names(), ", "));
  if ((o->kind == PointOption::Kind::named) == (dot != std::string::npos)) return {};
  return dot == std::string::npos ? "found no name; legal: " + name + ".NAME"
                                  : "found a name; legal: " + std::string(o->name) + " alone";
}

std::string option_value_fault(const std::string& name, const std::string& value) {
  const PointOption* o = point_option(std::string_view(name).substr(0, name.find('.')));
  if (!o || o->kind != PointOption::Kind::flag || value == "true" || value == "false") return {};
  return "found " + in_quotes(value) + "; legal: true or false";
}

}  // namespace kernbench::sweep
