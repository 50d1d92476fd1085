// SPDX-License-Identifier: Apache-2.0
#include "kernbench/platform/study/what_if/single_changes.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <map>
#include <optional>
#include <set>
#include <tuple>

#include "kernbench/phase2/op/named_values.h"
#include "kernbench/phase2/text/text.h"
#include "kernbench/phase2/text/text_stream.h"
#include "kernbench/platform/insight/scaling.h"
#include "kernbench/platform/topology/build/settings.h"
#include "kernbench/systemc_models/core/effective_attributes.h"

namespace kernbench::study {
namespace {

using Words = std::vector<std::string>;
using Options = std::vector<std::pair<std::string, std::string>>;

/// "sip0.cube3.r1c4" → "sip*.cube*.r*c*".
std::string pattern_of(const std::string& id) {
  std::string pattern;
  bool in_number = false;
  for (const char c : id) {
    const bool digit = c >= '0' && c <= '9';
    if (!digit || !in_number) pattern += digit ? '*' : c;
    in_number = digit;
  }
  return pattern;
}

/// The words of "auto|ring|tree".
Words names_of(const std::string& text, char between) {
  Words names;
  TextInput in(text);
  for (std::string name; std::getline(in, name, between);) names.push_back(name);
  return names;
}

bool is_legal(const AttrSpec& spec, const AttrValue& v) {
  try {
    check_value(spec, v);
    return true;
  } catch (const std::invalid_argument&) {
    return false;
  }
}

/// Twice and half the value, with the factor. None for 0, for texts, and for illegal values.
std::vector<std::pair<AttrValue, double>> twice_and_half(const AttrSpec& spec, const AttrValue& v) {
  std::vector<std::pair<AttrValue, double>> others;
  const double number = number_of(v);
  for (const double factor : {2.0, 0.5}) {
    const double other = number * factor;
    if (other == 0 || (spec.type == AttrType::integer && other != static_cast<double>(static_cast<int64_t>(other))))
      continue;
    const AttrValue value = spec.type == AttrType::integer ? AttrValue(static_cast<int64_t>(other)) : AttrValue(other);
    if (is_legal(spec, value)) others.emplace_back(value, factor);
  }
  return others;
}

class Changes {
 public:
  Changes(const topology::Graph& graph, const ImplCatalog& catalog) : graph_(graph), catalog_(catalog) {}

  void attributes() {
    std::map<std::string, std::vector<const topology::Node*>> by_impl;
    for (const topology::Node& n : graph_.nodes) by_impl[n.impl].push_back(&n);
    std::map<std::string, size_t> owners;  // how many of these classes have an attribute of that name
    for (const auto& [impl, nodes] : by_impl) {
      if (const ImplSpec* spec = catalog_.find(impl))
        for (const AttrSpec& a : spec->attributes) ++owners[a.name];
    }
    for (const auto& [impl, nodes] : by_impl) {
      const ImplSpec* spec = catalog_.find(impl);
      if (!spec) continue;
      auto blocks = std::make_shared<std::set<std::string>>();
      for (const topology::Node* n : nodes) blocks->insert(n->id);
      blocks_ = std::move(blocks);
      std::map<const AttrSpec*, ByPattern> values;
      for (const topology::Node* n : nodes) {
        const std::string pattern = pattern_of(n->id);
        for (const auto& [a, v] : effective_attributes(*spec, n->attrs)) {
          auto& found = values[a][pattern][text_of(v)];
          found.first.push_back(n->id);
          found.second = v;
        }
      }
      for (const AttrSpec& a : spec->attributes) {
        const auto it = values.find(&a);
        if (it == values.end()) continue;
        unlike(*spec, a, it->second, owners[a.name] == 1);
        attribute(*spec, a, it->second, owners[a.name] == 1);
      }
    }
  }

  void edges() {
    std::map<std::string, std::set<double>> bandwidths;
    std::map<std::string, ByPattern> values;  // by kind
    for (const topology::Edge& e : graph_.edges) {
      if (!e.bw_gbs) continue;
      bandwidths[e.kind].insert(*e.bw_gbs);
      const std::string name = graph_.nodes[e.from].id + "->" + graph_.nodes[e.to].id;
      auto& found = values[e.kind][pattern_of(name)][fmt::format("{}", *e.bw_gbs)];
      found.first.push_back(name);
      found.second = *e.bw_gbs;
    }
    for (const auto& [kind, all] : values) {
      for (const auto& [pattern, of] : all) {
        if (of.size() == 1) continue;
        add({{"set", "edge:" + pattern + ".bw_gbs=" + most_of(of)}}, CostClass::hardware, Of::edge, "edge:" + kind);
        make_alike(of);
      }
    }
    for (const auto& [kind, all] : bandwidths) {
      if (all.size() != 1) continue;  // --scale changes it
      for (const double factor : {2.0, 0.5})
        add({{"set", fmt::format("edge:{}.bw_gbs={}", kind, *all.begin() * factor)}}, CostClass::hardware, Of::edge,
            kind, factor);
    }
    for (const insight::ScaledPart& p : insight::scaled_parts())
      add({{"scale", fmt::format("{}=2", p.name)}}, CostClass::hardware, Of::part, std::string(p.name), 2);
  }

  void launch(const spec::RunSpec& run) {
    if (run.text("launch") != "direct") add({{"launch", "direct"}}, CostClass::free, Of::launch, "launch");
    if (run.text("address") == "virtual") add({{"address", "physical"}}, CostClass::free, Of::address, "address");
  }

  /// For a kernel of matrix products (KernelSpec::products): other kernels with the same tensors, such as gemm_2d.
  void other_kernels(const KernelSpec& kernel) {
    if (!kernel.products) return;
    const auto needed = [](const KernelSpec& k) {
      std::vector<std::pair<std::string, TensorSpec::Role>> all;
      for (const TensorSpec& t : k.tensors) {
        if (!t.optional) all.emplace_back(t.name, t.role);
      }
      return all;
    };
    for (const KernelSpec* other : KernelRegistry::instance().all()) {
      if (other == &kernel || (!other->products && other->name != kQuickest)) continue;
      if (needed(kernel) == needed(*other)) add({{"kernel", other->name}}, CostClass::free, Of::kernel, other->name);
    }
  }

  /// All PEs if the run has only some; the first of each cube; half of the run's PEs.
  void pes(const spec::RunSpec& run) {
    constexpr size_t kIds = 16;  // longer lists are unsuitable as an option
    if (run.text("device") != "all" || (run.table().find("ranks") && run.text("ranks") != "all")) return;
    const std::string now = run.text("pes");
    Words ids;
    for (const topology::Pe& pe : graph_.pes) ids.push_back(pe.id);
    const size_t all = ids.size();
    if (now != "all" && now != "leaders") ids = names_of(now, ',');
    const auto use = [&](const std::string& pes, double factor) {
      add({{"pes", pes}}, CostClass::free, Of::pes, "pes", factor);
    };
    const std::set<std::string> cubes = [&] {
      std::set<std::string> found;
      for (const topology::Pe& pe : graph_.pes) found.insert(pe.id.substr(0, pe.id.rfind('.')));
      return found;
    }();
    const auto share = [&](size_t pes, size_t of) { return static_cast<double>(pes) / static_cast<double>(of); };
    if (now == "leaders" || ids.size() < all) use("all", share(all, now == "leaders" ? cubes.size() : ids.size()));
    if (now == "all" && cubes.size() < all) use("leaders", share(cubes.size(), all));
    if (now == "leaders" || ids.size() < 2 || ids.size() / 2 > kIds) return;
    ids.resize(ids.size() / 2);
    use(joined(ids, ","), 0.5);
  }

  void parameters(const spec::RunSpec& run, const KernelSpec& kernel) {
    const auto given = run.named("param");
    const auto shapes = [&](const std::vector<std::pair<std::string, std::string>>& values) {
      std::vector<Dims> all;
      const Params p = kernel_params(kernel, values);
      for (const TensorSpec& t : kernel.tensors) all.push_back(t.shape(p));
      return all;
    };
    const Params now = kernel_params(kernel, given);
    for (const ParamSpec& s : kernel.params) {
      if (!s.is_tuning) continue;
      for (const auto& [other, factor] : others_of(s, now)) {
        auto values = given;
        values.erase(std::remove_if(values.begin(), values.end(), [&](const auto& v) { return v.first == s.name; }),
                     values.end());
        values.emplace_back(s.name, other);
        try {
          if (shapes(values) != shapes(given)) continue;
        } catch (const BadParam&) {
          continue;
        }
        add({{"param", s.name + "=" + other}}, CostClass::free, Of::parameter, s.name, factor);
      }
    }
  }

  /// Degrees of parallelism for a model, limited by the number of SIPs; those that need as many SIPs as now come first.
  void spread(const spec::RunSpec& run) {
    std::set<std::string> sips;
    for (const topology::Pe& pe : graph_.pes) sips.insert(pe.id.substr(0, pe.id.find('.')));
    const uint64_t tp = run.whole("tp"), pp = run.whole("pp"), ep = run.whole("ep"), now = tp * pp * ep;
    for (const bool as_many : {true, false}) {
      for (uint64_t t = 1; t <= sips.size(); t *= 2) {
        for (uint64_t p = 1; t * p <= sips.size(); p *= 2) {
          for (uint64_t e = 1; t * p * e <= sips.size(); e *= 2) {
            if ((t == tp && p == pp && e == ep) || (t * p * e == now) != as_many) continue;
            Options options;
            for (const auto& [name, is, was] : {std::tuple("tp", t, tp), {"pp", p, pp}, {"ep", e, ep}})
              if (is != was) options.emplace_back(name, std::to_string(is));
            add(std::move(options), CostClass::free, Of::spread, "spread",
                static_cast<double>(t * p * e) / static_cast<double>(now));
          }
        }
      }
    }
  }

  /// Twice and half the numbers of the topology file, except attributes, bandwidths and positions. Those of `timing`
  /// keep the nodes.
  void file_keys(const std::string& yaml, const std::vector<std::pair<std::string, std::string>>& settings) {
    topology::FaultList faults("");
    topology::YamlDocument file = topology::parse_document(yaml, faults);
    std::vector<topology::Setting> of_file;
    for (const auto& [target, value] : settings)
      if (target.rfind("file:", 0) == 0) of_file.emplace_back(target, value);
    topology::set_in_file(of_file, file, faults);
    file_key(file.root, "");
  }

  std::vector<SingleChange> take() { return std::move(changes_); }

 private:
  using Of = SingleChange::Of;
  static constexpr std::string_view kQuickest = "gemm_2d";  ///< for large products
  /// By text: the nodes that have it.
  using Values = std::map<std::string, std::pair<Words, AttrValue>>;
  using ByPattern = std::map<std::string, Values>;  ///< of ids

  static const std::string& most_of(const Values& values) {
    return std::max_element(values.begin(), values.end(),
                            [](const auto& x, const auto& y) { return x.second.first.size() < y.second.first.size(); })
        ->first;
  }

  /// Other values of a parameter, with the factor; choices have factor 0.
  static std::vector<std::pair<std::string, double>> others_of(const ParamSpec& s, const Params& now) {
    std::vector<std::pair<std::string, double>> others;
    if (s.type == ParamType::integer) {
      const int64_t v = now.integer(s.name);
      if (v > 0) others.emplace_back(std::to_string(v * 2), 2);
      if (v > 1) others.emplace_back(std::to_string(v / 2), 0.5);
    } else if (s.type == ParamType::boolean) {
      others.emplace_back(now.flag(s.name) ? "false" : "true", 0);
    } else {
      for (const std::string& name : names_of(s.legal(), '|')) {
        const bool is_word = name.find_first_of(" ,") == std::string::npos;
        if (is_word && name != to_text(now.values().at(s.name))) others.emplace_back(name, 0);
      }
    }
    return others;
  }

  void file_key(const topology::YamlNode& node, const std::string& way) {
    for (const topology::YamlItem& item : node) {
      const std::string key(item.key.text());
      const bool other = key == "attrs" || key == "bw_gbs" || (key.size() > 3 && key.substr(key.size() - 3) == "_mm");
      if (!node.is_map() || other) continue;
      const std::string name = way.empty() ? key : way + "." + key;
      if (item.value.is_map()) file_key(item.value, name);
      const auto number = item.value.is_scalar() ? parsed_number(item.value.text()) : std::nullopt;
      if (!number || *number == 0) continue;
      for (const double factor : {2.0, 0.5})
        add({{"set", fmt::format("file:{}={}", name, *number * factor)}}, CostClass::hardware, Of::file, name, factor);
    }
  }

  static std::optional<double> parsed_number(std::string_view text) {
    double v = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), v);
    return error == std::errc() && end == text.data() + text.size() ? std::optional(v) : std::nullopt;
  }

  /// For a change that gives all nodes or edges of one pattern the most common value: those that had another.
  void make_alike(const Values& values) {
    SingleChange& change = changes_.back();
    double least = 0, greatest = 0;
    for (const auto& [text, found] : values) {
      if (text != most_of(values)) change.unlike.insert(change.unlike.end(), found.first.begin(), found.first.end());
      const double v = number_of(found.second);
      least = &found == &values.begin()->second ? v : std::min(least, v);
      greatest = std::max(greatest, v);
    }
    change.ratio = greatest > 0 ? least / greatest : 0;
  }

  void unlike(const ImplSpec& impl, const AttrSpec& a, const ByPattern& all, bool only_owner) {
    if (a.type == AttrType::number_map) return;
    for (const auto& [pattern, values] : all) {
      if (values.size() == 1) continue;
      const std::string target = only_owner && all.size() == 1 ? "*" : pattern;
      add_attribute(impl, a, {{"set", target + "." + a.name + "=" + most_of(values)}});
      make_alike(values);
    }
  }

  /// If all nodes of each pattern have the same value; patterns may differ.
  void attribute(const ImplSpec& impl, const AttrSpec& a, const ByPattern& all, bool only_owner) {
    std::set<std::string> texts;
    for (const auto& [pattern, values] : all) {
      if (values.size() > 1) return;
      texts.insert(values.begin()->first);
    }
    const AttrValue& value = all.begin()->second.begin()->second.second;
    const std::string& now = *texts.begin();
    const auto set_all = [&](const std::string& text, double factor = 0) {
      Options options;
      if (only_owner) options.emplace_back("set", "*." + a.name + "=" + text);
      for (const auto& [pattern, values] : all) {
        if (!only_owner) options.emplace_back("set", pattern + "." + a.name + "=" + text);
      }
      add_attribute(impl, a, std::move(options), factor);
      if (a.faster) changes_.back().worse = *a.faster == (now == "true");
    };
    if (texts.size() > 1) return each_by(impl, a, all);
    if (a.type == AttrType::boolean) set_all(now == "true" ? "false" : "true");
    for (const std::string& other : a.legal_texts()) {
      if (a.type == AttrType::string && other != now) set_all(other);
    }
    for (const auto& [other, factor] : twice_and_half(a, value)) set_all(text_of(other), factor);
  }

  /// Twice and half each pattern's value; 0 stays 0.
  void each_by(const ImplSpec& impl, const AttrSpec& a, const ByPattern& all) {
    for (const double factor : {2.0, 0.5}) {
      Options options;
      for (const auto& [pattern, values] : all) {
        for (const auto& [other, of] : twice_and_half(a, values.begin()->second.second)) {
          if (of == factor) options.emplace_back("set", pattern + "." + a.name + "=" + text_of(other));
        }
      }
      if (!options.empty()) add_attribute(impl, a, std::move(options), factor);
    }
  }

  void add(Options options, CostClass cost, Of of_what, std::string name, double factor = 0) {
    changes_.push_back(
        {std::move(options), of_what, std::move(name), nullptr, nullptr, nullptr, factor, false, {}, 0, cost});
  }

  void add_attribute(const ImplSpec& impl, const AttrSpec& a, Options options, double factor = 0) {
    const Direction d = a.direction;
    const bool worse = d == Direction::latency ? factor > 1 : d != Direction::choice && factor == 0.5;
    changes_.push_back(
        {std::move(options), Of::attribute, a.name, &impl, &a, blocks_, factor, worse, {}, 0, a.cost_class()});
  }

  const topology::Graph& graph_;
  const ImplCatalog& catalog_;
  std::shared_ptr<const std::set<std::string>> blocks_;  ///< nodes of the impl whose attributes change
  std::vector<SingleChange> changes_;
};

}  // namespace

std::string SingleChange::words() const {
  std::string text;
  for (const auto& [option, value] : options) {
    const bool plain = value.find_first_of("*? '\"$") == std::string::npos;
    text += (text.empty() ? "--" : " --") + option + " " + (plain ? value : "'" + value + "'");
  }
  return text;
}

SingleChange SingleChange::again() const {
  SingleChange more = *this;
  for (auto& [option, value] : more.options) {
    const size_t at = value.rfind('=') + 1;
    double number = 0;
    const auto [end, error] = std::from_chars(value.data() + at, value.data() + value.size(), number);
    if (error == std::errc() && end == value.data() + value.size())
      value = value.substr(0, at) + text_of(AttrValue(number * factor));
  }
  return more;
}

spec::RunSpec SingleChange::of(spec::RunSpec run) const {
  if (of_what == Of::kernel) {
    const auto& known = KernelRegistry::instance().at(name).params;
    auto& given = run.list("param");
    given.erase(std::remove_if(given.begin(), given.end(),
                               [&](const std::string& v) {
                                 return std::none_of(known.begin(), known.end(),
                                                     [&](const ParamSpec& p) { return v.rfind(p.name + "=", 0) == 0; });
                               }),
                given.end());
  }
  for (const auto& [word, value] : options) {
    const spec::Option& option = run.table().at(word);
    if (option.often == spec::Option::Often::named) {
      const std::string key = value.substr(0, value.find('=') + 1);
      auto& list = run.list(word);
      list.erase(std::remove_if(list.begin(), list.end(), [&](const auto& v) { return v.rfind(key, 0) == 0; }),
                 list.end());
    }
    option.often == spec::Option::Often::once ? run.set(word, value) : run.add(word, value);
  }
  return run;
}

std::vector<SingleChange> single_changes(const topology::Graph& graph, const ImplCatalog& catalog,
                                         const spec::RunSpec& run, const std::string& yaml) {
  Changes all(graph, catalog);
  if (run.table().find("tp")) {
    all.spread(run);
    all.pes(run);
  }
  if (const std::string name = run.text_or_none("kernel"); !name.empty()) {
    const KernelSpec& kernel = KernelRegistry::instance().at(name);
    all.parameters(run, kernel);
    if (!kernel.queues) all.pes(run);  // else the kernel's work depends on the number of PEs
    all.other_kernels(kernel);
  }
  all.launch(run);
  all.attributes();
  all.edges();
  std::vector<std::pair<std::string, std::string>> settings;
  for (const std::string& s : run.list("set")) settings.push_back(name_and_value("--set", s, "TARGET=VALUE"));
  all.file_keys(yaml, settings);
  return all.take();
}

}  // namespace kernbench::study
