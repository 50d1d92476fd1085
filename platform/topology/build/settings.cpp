// SPDX-License-Identifier: Apache-2.0
#include "kernbench/platform/topology/build/settings.h"

#include <fmt/format.h>
#include <fnmatch.h>

#include <algorithm>
#include <charconv>
#include <optional>
#include <set>

#include "kernbench/phase2/text/text.h"
#include "kernbench/platform/topology/read/block_reader.h"

namespace kernbench::topology {
namespace {

bool matches(const std::string& pattern, const std::string& text) {
  return fnmatch(pattern.c_str(), text.c_str(), 0) == 0;
}

constexpr std::string_view kOfFile = "file:", kOfEdges = "edge:";

bool begins_with(const std::string& text, std::string_view start) {
  return text.compare(0, start.size(), start) == 0;
}

std::string field_of(const Setting& s) {
  return "--set " + cut(s.target, 200);
}

/// The value as YAML; InputError or TopologyError with the setting's name, because it has no line in a file.
YamlDocument value_of(const Setting& s) {
  FaultList faults(field_of(s));
  if (s.value.find_first_not_of(" \t\r\n~") == std::string::npos) faults.add(0, "", "found nothing; legal: a value");
  faults.throw_if_any();
  YamlDocument document = parse_yaml(s.value, faults);
  faults.throw_if_any();
  for (YamlValue& v : document.values) v.line = 0;
  return document;
}

/// cube.pe_layout.count, sip.io_chiplets[0].side.
struct FileKey {
  std::string name;          // key of a map
  std::optional<size_t> at;  // index of a list
};

std::optional<std::vector<FileKey>> keys_of(std::string_view way) {
  constexpr size_t kMostKeys = 64;  // far more than the depth of any file
  std::vector<FileKey> keys;
  while (keys.size() < kMostKeys) {
    const size_t end = std::min(way.find_first_of(".["), way.size());
    if (end == 0) return std::nullopt;
    keys.push_back({std::string(way.substr(0, end)), {}});
    way.remove_prefix(end);
    while (!way.empty() && way[0] == '[') {
      size_t at = 0;
      const auto read = std::from_chars(way.data() + 1, way.data() + way.size(), at);
      if (read.ec != std::errc() || read.ptr == way.data() + way.size() || *read.ptr != ']') return std::nullopt;
      keys.push_back({"", at});
      way.remove_prefix(static_cast<size_t>(read.ptr - way.data()) + 1);
    }
    if (way.empty()) return keys;
    if (way[0] != '.') return std::nullopt;
    way.remove_prefix(1);
  }
  return std::nullopt;
}

/// `node` with `value` at the end of the path. Containers on the path are copied, because aliases may refer to them.
/// Undefined, with the reason in `fault`, if the path does not exist.
YamlNode with(YamlNode node, const FileKey* key, const FileKey* end, YamlNode value, YamlDocument& file,
              std::string& fault) {
  if (key == end) return value;
  YamlValue copy;
  copy.kind = key->at ? YamlValue::Kind::list : YamlValue::Kind::map;
  copy.line = node.line();
  copy.items.assign(node.begin(), node.end());
  const auto same = [&](const YamlItem& item) { return item.key.text() == key->name; };
  auto item = key->at ? copy.items.begin() + static_cast<std::ptrdiff_t>(std::min(*key->at, copy.items.size()))
                      : std::find_if(copy.items.begin(), copy.items.end(), same);
  if (key->at && (!node.is_list() || item == copy.items.end())) {
    fault = fmt::format("found [{}] in {}; legal: an item of a list", *key->at, describe(node));
    return {};
  }
  if (!key->at && node.is_defined() && !node.is_null() && !node.is_map()) {
    fault = "found '" + cut(key->name) + "' in " + describe(node) + "; legal: a key of a map";
    return {};
  }
  if (item == copy.items.end()) {
    YamlValue name;
    name.kind = YamlValue::Kind::scalar;
    name.text = key->name;
    item = copy.items.insert(item, {YamlNode(&file.values.emplace_back(std::move(name))), YamlNode()});
  }
  item->value = with(item->value, key + 1, end, value, file, fault);
  return item->value.is_defined() ? YamlNode(&file.values.emplace_back(std::move(copy))) : YamlNode();
}

/// A setting of the graph: its target, and its value as YAML.
class Applied {
 public:
  Applied(const Setting& s, FaultList& faults) : faults_(faults), field_(field_of(s)) {
    const bool edge = begins_with(s.target, kOfEdges);
    const size_t begin = edge ? kOfEdges.size() : 0, dot = s.target.rfind('.');
    of_edges_ = edge;
    if (dot == std::string::npos || dot <= begin || dot + 1 == s.target.size()) {
      fault("found no attribute; legal: NODE-GLOB.ATTR=VALUE, edge:GLOB.bw_gbs=VALUE or file:KEY.KEY=VALUE");
      return;
    }
    pattern_ = s.target.substr(begin, dot - begin);
    attribute_ = s.target.substr(dot + 1);
    document_ = value_of(s);
    legible_ = true;
  }

  /// Adds the changed nodes to `touched`.
  void apply(Graph& graph, const ImplCatalog& catalog, std::set<const Node*>& touched) {
    if (!legible_) return;
    of_edges_ ? set_edges(graph) : set_nodes(graph, catalog, touched);
  }

 private:
  void fault(const std::string& text) { faults_.add(0, field_, text); }

  void set_nodes(Graph& graph, const ImplCatalog& catalog, std::set<const Node*>& touched) {
    bool matched = false, set = false;
    std::set<std::string> legal;
    for (Node& n : graph.nodes) {
      if (!matches(pattern_, n.id)) continue;
      matched = true;
      const ImplSpec* spec = catalog.find(n.impl);
      if (!spec) continue;  // the file's own error is reported elsewhere
      const auto a = std::find_if(spec->attributes.begin(), spec->attributes.end(),
                                  [&](const AttrSpec& s) { return s.name == attribute_; });
      for (const AttrSpec& s : spec->attributes) legal.insert(s.name);
      if (a == spec->attributes.end()) continue;
      const size_t before = faults_.count();
      const NumberMap* map = n.attrs.map(attribute_);
      const NumberMap old = map && document_.root.size() > 0 ? *map : NumberMap();
      read_attribute(document_.root, field_, *a, n.attrs, faults_);
      if (faults_.count() > before) return;  // avoids one error per node
      if (map) {                             // merges the given keys into the present map
        NumberMap both = *n.attrs.map(attribute_);
        both.insert(old.begin(), old.end());
        n.attrs.set(attribute_, std::move(both));
      }
      set = true;
      touched.insert(&n);
    }
    if (!matched) {
      fault("matches no node; legal: a shell pattern of node ids, then .ATTR");
    } else if (!set) {
      const std::vector<std::string> names(legal.begin(), legal.end());
      fault("no node that it matches has '" + cut(attribute_) + "'" + did_you_mean(attribute_, names) +
            " legal: " + joined(names));
    }
  }

  /// An edge's name is its kind, or "FROM->TO".
  void set_edges(Graph& graph) {
    const bool bandwidth = attribute_ == "bw_gbs";
    if (!bandwidth && attribute_ != "distance_mm") {
      fault("found '" + cut(attribute_) + "'" + did_you_mean(attribute_, {"bw_gbs", "distance_mm"}) +
            " legal: bw_gbs, distance_mm");
      return;
    }
    const auto rule = bandwidth ? NumberRule::bandwidth() : NumberRule::not_negative("mm", kMostDistanceMm);
    const auto value = read_number(document_.root, field_, rule, faults_);
    if (!value) return;
    bool matched = false;
    std::set<std::string> kinds;
    for (Edge& e : graph.edges) {
      kinds.insert(e.kind);
      if (!matches(pattern_, e.kind) && !matches(pattern_, graph.nodes[e.from].id + "->" + graph.nodes[e.to].id))
        continue;
      matched = true;
      if (bandwidth) {
        e.bw_gbs = *value;
      } else {
        e.distance_mm = *value;
      }
    }
    if (!matched) fault("matches no edge; legal: a shell pattern of 'FROM->TO' or of a kind: " + joined(kinds));
  }

  FaultList& faults_;
  std::string field_, pattern_, attribute_;
  YamlDocument document_;
  bool of_edges_ = false, legible_ = false;
};

}  // namespace

void set_in_file(const std::vector<Setting>& settings, YamlDocument& file, FaultList& faults) {
  for (const Setting& s : settings) {
    if (!begins_with(s.target, kOfFile)) continue;
    const auto keys = keys_of(std::string_view(s.target).substr(kOfFile.size()));
    std::string fault = "found no keys; legal: file:KEY.KEY=VALUE, file:KEY[0].KEY=VALUE";
    YamlNode root;
    if (keys) {
      const YamlNode value = file.parts.emplace_back(value_of(s)).root;
      root = with(file.root, keys->data(), keys->data() + keys->size(), value, file, fault);
    }
    if (!root.is_defined()) {
      faults.add(0, field_of(s), fault);
      return;
    }
    file.root = root;
  }
}

void apply_settings(const std::vector<Setting>& settings, const ImplCatalog& catalog, Graph& graph, FaultList& faults) {
  std::set<const Node*> touched;
  for (const Setting& s : settings) {
    if (!begins_with(s.target, kOfFile)) Applied(s, faults).apply(graph, catalog, touched);
  }
  if (!faults.empty()) return;
  // Checked at the end: two new values may fit together although neither fits the file's values.
  for (const Node* n : touched) {
    const ImplSpec* spec = catalog.find(n->impl);
    const auto fault = spec->fault_together ? spec->fault_together(n->attrs) : std::nullopt;
    if (!fault) continue;
    faults.add(0, "--set", fmt::format("{} of '{}': {}", fault->attribute, n->id, fault->text));
    return;  // avoids one error per node
  }
}

}  // namespace kernbench::topology
