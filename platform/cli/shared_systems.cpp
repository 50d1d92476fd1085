#include "kernbench/platform/cli/shared_systems.h"

#include <map>
#include <utility>

namespace kernbench::cli {
namespace {

using Name = std::vector<std::string>;
constexpr size_t kMost = 8;

/// By name; without a system: one point of it has ended.
std::map<Name, std::optional<topology::Graph>>& systems() {
  static std::map<Name, std::optional<topology::Graph>> all;
  return all;
}

/// What decides how it is compiled.
Name name_of(const TopologyOptions& o) {
  Name name = {o.file, o.links, o.response, o.yaml};
  for (const auto* list : {&o.settings, &o.scales}) {
    name.push_back(std::to_string(list->size()));
    name.insert(name.end(), list->begin(), list->end());
  }
  return name;
}

TopologyOptions options_of(const std::vector<std::string>& words) {
  TopologyOptions options;
  CLI::App app;
  app.allow_extras();
  options.add_to(app);
  app.parse(std::vector<std::string>(words.rbegin(), words.rend()));
  return options;
}

}  // namespace

void share_system(const std::vector<std::string>& words) try {
  const TopologyOptions options = options_of(words);
  if (!options.plugins.files.empty()) return;
  const auto known = systems().find(name_of(options));
  if (known == systems().end()) {
    if (systems().size() < kMost) systems().emplace(name_of(options), std::nullopt);
  } else if (!known->second) {
    known->second = options.compile();
  }
} catch (const std::exception&) {
  // The next point says what is the matter with it.
}

std::optional<topology::Graph> take_shared_system(const TopologyOptions& options) {
  if (systems().empty() || !options.plugins.files.empty()) return std::nullopt;
  const auto known = systems().find(name_of(options));
  return known == systems().end() ? std::nullopt : std::exchange(known->second, std::nullopt);
}

}  // namespace kernbench::cli
