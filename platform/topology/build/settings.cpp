#include "kernbench/platform/topology/build/settings.h"

#include <fmt/format.h>
#include <fnmatch.h>

#include <algorithm>
#include <set>

#include "kernbench/phase2/text/text.h"
#include "kernbench/platform/topology/read/block_reader.h"

namespace kernbench::topology {
namespace {

bool matches(const std::string& pattern, const std::string& text) {
  return fnmatch(pattern.c_str(), text.c_str(), 0) == 0;
}

/// One setting: what it names, and its value as YAML reads it.
class Applied {
 public:
  Applied(const Setting& s, FaultList& faults) : faults_(faults), field_("--set " + cut(s.target, 200)) {
    const bool edge = s.target.compare(0, 5, "edge:") == 0;
    const size_t begin = edge ? 5 : 0, dot = s.target.rfind('.');
    of_edges_ = edge;
    if (dot == std::string::npos || dot <= begin || dot + 1 == s.target.size()) {
      fault("found no attribute; legal: NODE-GLOB.ATTR=VALUE or edge:GLOB.bw_gbs=VALUE");
      return;
    }
    pattern_ = s.target.substr(begin, dot - begin);
    attribute_ = s.target.substr(dot + 1);
    FaultList of_value(field_);
    document_ = parse_yaml(s.value, of_value);
    of_value.throw_if_any();
    for (YamlValue& v : document_.values) v.line = 0;  // the value stands in no file
    legible_ = true;
  }

  /// Adds the nodes that it sets to `touched`.
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
      if (!spec) continue;  // told where the file names it
      const auto a = std::find_if(spec->attributes.begin(), spec->attributes.end(),
                                  [&](const AttrSpec& s) { return s.name == attribute_; });
      for (const AttrSpec& s : spec->attributes) legal.insert(s.name);
      if (a == spec->attributes.end()) continue;
      const size_t before = faults_.count();
      read_attribute(document_.root, field_, *a, n.attrs, faults_);
      if (faults_.count() > before) return;  // it would be told of every node
      set = true;
      touched.insert(&n);
    }
    if (!matched) {
      fault("matches no node; legal: a shell pattern of node ids, then .ATTR");
    } else if (!set) {
      const std::vector<std::string> names(legal.begin(), legal.end());
      fault("no node that it matches has '" + cut(attribute_) + "'" + did_you_mean(attribute_, names) +
            " legal: " + join(names));
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
    if (!matched)
      fault("matches no edge; legal: a shell pattern of 'FROM->TO' or of a kind: " +
            join(std::vector<std::string>(kinds.begin(), kinds.end())));
  }

  FaultList& faults_;
  std::string field_, pattern_, attribute_;
  YamlDocument document_;
  bool of_edges_ = false, legible_ = false;
};

}  // namespace

void apply_settings(const std::vector<Setting>& settings, const ImplCatalog& catalog, Graph& graph, FaultList& faults) {
  std::set<const Node*> touched;
  for (const Setting& s : settings) Applied(s, faults).apply(graph, catalog, touched);
  if (!faults.empty()) return;
  // Only now: two values may go together, though neither goes with the file's.
  for (const Node* n : touched) {
    const ImplSpec* spec = catalog.find(n->impl);
    const auto fault = spec->fault_together ? spec->fault_together(n->attrs) : std::nullopt;
    if (!fault) continue;
    faults.add(0, "--set", fmt::format("{} of '{}': {}", fault->attribute, n->id, fault->text));
    return;  // it would be told of every node alike
  }
}

}  // namespace kernbench::topology
