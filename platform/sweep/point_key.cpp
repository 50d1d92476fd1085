#include "kernbench/platform/sweep/point_key.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>

#include "kernbench/phase2/io/input_file.h"
#include "kernbench/phase2/op/errors.h"
#include "kernbench/phase2/text/text.h"
#include "kernbench/platform/sweep/point_options.h"
#include "kernbench/platform/sweep/sha256.h"
#include "kernbench/platform/topology/graph/faults.h"
#include "kernbench/platform/topology/read/yaml_tree.h"

namespace kernbench::sweep {
namespace {

/// The values that each option was given, in the order of point_options().
std::vector<Words> values_by_option(const Words& run) {
  if (run.empty() || run[0] != "run")
    throw InputError("--store: keeps runs; found " + in_quotes(run.empty() ? "" : run[0]));
  std::vector<Words> values(point_options().size());
  for (size_t i = 1; i < run.size(); ++i) {
    const size_t equals = run[i].find('=');
    const std::string name =
        run[i].compare(0, 2, "--") == 0 ? run[i].substr(2, std::min(equals, run[i].size()) - 2) : "";
    const PointOption* o = point_option(name);
    if (!o && !decides_nothing(name)) {
      throw InputError(fmt::format("--store: found {} in the command; legal: --{}", in_quotes(run[i]),
                                   fmt::join(point_option_names(), ", --")));
    }
    if (o && o->kind == PointOption::Kind::flag) {
      values[static_cast<size_t>(o - point_options().data())] = {"true"};
      continue;
    }
    std::string value;
    if (equals != std::string::npos) {
      value = run[i].substr(equals + 1);
    } else if (++i < run.size()) {
      value = run[i];
    } else {
      throw InputError(fmt::format("--store: found --{} without a value", name));
    }
    if (o) values[static_cast<size_t>(o - point_options().data())].push_back(std::move(value));
  }
  return values;
}

}  // namespace

const std::string& PointKeys::hash_of_file(const std::string& name) {
  const auto it = files_.find(name);
  if (it != files_.end()) return it->second;
  std::ifstream in = open_input(name);
  return files_.emplace(name, sha256(read_all(in, name))).first->second;
}

const std::string& PointKeys::hash_of_topology(const std::string& name) {
  const auto it = topologies_.find(name);
  if (it != topologies_.end()) return it->second;
  std::string hash = hash_of_file(name);
  std::ifstream in = open_input(name);
  topology::FaultList faults(name);  // those of a run
  const topology::YamlDocument document = topology::parse_yaml(read_all(in, name), faults);
  for (const topology::YamlItem& item : document.root) {
    if (item.key.text() == "energy" && item.value.is_scalar())
      hash += hash_of_file((std::filesystem::path(name).parent_path() / item.value.text()).string());
  }
  return topologies_.emplace(name, std::move(hash)).first->second;
}

std::string PointKeys::key(const Words& run) {
  const std::vector<Words> values = values_by_option(run);
  Sha256 hash;
  // Each part behind its length: no two lists of parts are the same bytes.
  const auto add = [&](std::string_view part) { hash.add(fmt::format("{}:", part.size())).add(part); };
  add(version_);
  for (size_t i = 0; i < values.size(); ++i) {
    const PointOption& o = point_options()[i];
    Words parts = values[i];
    for (std::string& v : parts) {
      if (o.file == PointOption::File::named) {
        const std::string file = find_file_(std::string(o.name), v);
        v = o.name == "topology" ? hash_of_topology(file) : hash_of_file(file);
      }
      if (o.file != PointOption::File::other) continue;
      const size_t name_end = o.kind == PointOption::Kind::named ? std::min(v.find('='), v.size() - 1) + 1 : 0;
      v = v.substr(0, name_end) + hash_of_file(v.substr(name_end));
    }
    // Of one name the order stays.
    if (!o.ordered) {
      const auto name = [](const std::string& v) { return std::string_view(v).substr(0, v.find('=')); };
      std::stable_sort(parts.begin(), parts.end(), [&](const auto& a, const auto& b) { return name(a) < name(b); });
    }
    add(o.name);
    add(std::to_string(parts.size()));
    for (const std::string& v : parts) add(v);
  }
  return hash.hex();
}

}  // namespace kernbench::sweep
