#include "kernbench/platform/sweep/point_options.h"

#include <algorithm>

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

}  // namespace kernbench::sweep
