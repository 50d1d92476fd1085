#include "kernbench/platform/tools/single_changes.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <regex>
#include <set>

#include "kernbench/phase2/text/text_stream.h"
#include "kernbench/platform/insight/scaling.h"
#include "kernbench/systemc_models/core/effective_attributes.h"

namespace kernbench {
namespace {

using Words = std::vector<std::string>;
using Options = std::vector<std::pair<std::string, std::string>>;

/// "sip0.cube3.r1c4" → "sip*.cube*.r*c*".
std::string pattern_of(const std::string& id) {
  static const std::regex digits("[0-9]+");
  return std::regex_replace(id, digits, "*");
}

/// As --set and --param take it.
std::string text_of_value(const AttrValue& v) {
  if (const auto* d = std::get_if<double>(&v)) return fmt::format("{}", *d);
  if (const auto* i = std::get_if<int64_t>(&v)) return std::to_string(*i);
  if (const auto* b = std::get_if<bool>(&v)) return *b ? "true" : "false";
  if (const auto* s = std::get_if<std::string>(&v)) return *s;
  return text_of(std::get<NumberMap>(v));
}

bool is_legal(const AttrSpec& spec, const AttrValue& v) {
  try {
    check_value(spec, v);
    return true;
  } catch (const std::invalid_argument&) {
    return false;
  }
}

/// 0 for what is none.
double number_of(const AttrValue& v) {
  if (const auto* d = std::get_if<double>(&v)) return *d;
  if (const auto* i = std::get_if<int64_t>(&v)) return static_cast<double>(*i);
  return 0;
}

/// The value twice and half as large, and the factor; nothing of 0, of no number, and where that is not legal.
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
    std::map<std::string, size_t> owners;  // how many of these have an attribute of that name
    for (const auto& [impl, nodes] : by_impl) {
      if (const ImplSpec* spec = catalog_.find(impl))
        for (const AttrSpec& a : spec->attributes) ++owners[a.name];
    }
    for (const auto& [impl, nodes] : by_impl) {
      const ImplSpec* spec = catalog_.find(impl);
      if (!spec) continue;
      Words patterns;
      for (const topology::Node* n : nodes) patterns.push_back(pattern_of(n->id));
      std::sort(patterns.begin(), patterns.end());
      patterns.erase(std::unique(patterns.begin(), patterns.end()), patterns.end());
      std::map<const AttrSpec*, Values> values;
      for (const topology::Node* n : nodes) {
        for (const auto& [a, v] : effective_attributes(*spec, n->attrs)) {
          auto& found = values[a][text_of_value(v)];
          found.first.push_back(n->id);
          found.second = v;
        }
      }
      for (const AttrSpec& a : spec->attributes) {
        if (const auto it = values.find(&a); it != values.end())
          attribute(spec->kind, a, it->second, owners[a.name] == 1 ? Words{"*"} : patterns);
      }
    }
  }

  void edges() {
    std::map<std::string, std::set<double>> bandwidths;
    for (const topology::Edge& e : graph_.edges) {
      if (e.bw_gbs) bandwidths[e.kind].insert(*e.bw_gbs);
    }
    for (const auto& [kind, all] : bandwidths) {
      if (all.size() != 1) continue;  // --scale names them
      for (const double factor : {2.0, 0.5})
        add({{"set", fmt::format("edge:{}.bw_gbs={}", kind, *all.begin() * factor)}}, false, Of::edge, kind, factor);
    }
    for (const insight::ScaledPart& p : insight::scaled_parts())
      add({{"scale", fmt::format("{}=2", p.name)}}, false, Of::part, std::string(p.name), 2);
  }

  void launch(const spec::RunSpec& run) {
    if (run.text("launch") != "direct") add({{"launch", "direct"}}, true, Of::launch, "launch");
    if (run.text("address") == "virtual") add({{"address", "physical"}}, true, Of::address, "address");
  }

  /// Of one that makes matrix products (KernelSpec::products) the one that makes them quicker, where it needs the same
  /// tensors.
  void kernel(const KernelSpec& kernel) {
    const KernelSpec* quicker = KernelRegistry::instance().find("gemm_2d");
    if (!kernel.products || !quicker) return;
    const auto needed = [](const KernelSpec& k) {
      std::vector<std::pair<std::string, TensorSpec::Role>> all;
      for (const TensorSpec& t : k.tensors) {
        if (!t.optional) all.emplace_back(t.name, t.role);
      }
      return all;
    };
    if (needed(kernel) == needed(*quicker)) add({{"kernel", quicker->name}}, true, Of::kernel, quicker->name);
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
      std::vector<std::pair<std::string, double>> others;  // and the factor
      if (s.type == ParamType::integer) {
        const int64_t v = now.integer(s.name);
        others = {{std::to_string(v * 2), 2}, {std::to_string(v / 2), 0.5}};
      } else if (s.name == "algorithm") {
        TextInput legal(s.legal());  // "auto|ring|tree"
        for (std::string name; std::getline(legal, name, '|');) others.emplace_back(name, 0);
      }
      for (const auto& [other, factor] : others) {
        auto values = given;
        values.erase(std::remove_if(values.begin(), values.end(), [&](const auto& v) { return v.first == s.name; }),
                     values.end());
        values.emplace_back(s.name, other);
        try {
          if (shapes(values) != shapes(given)) continue;
        } catch (const BadParam&) {
          continue;
        }
        add({{"param", s.name + "=" + other}}, true, Of::parameter, s.name, factor);
      }
    }
  }

  std::vector<SingleChange> take() { return std::move(changes_); }

 private:
  /// By text: who has it.
  using Values = std::map<std::string, std::pair<Words, AttrValue>>;

  /// All nodes as most of them are.
  void make_alike(const std::string& kind, const AttrSpec& a, const Values& values, Options options,
                  const std::string& most) {
    add(std::move(options), false, Of::attribute, a.name, 0, kind);
    SingleChange& change = changes_.back();
    double least = 0, greatest = 0;
    for (const auto& [text, found] : values) {
      if (text != most) change.unlike.insert(change.unlike.end(), found.first.begin(), found.first.end());
      const double v = number_of(found.second);
      least = &found == &values.begin()->second ? v : std::min(least, v);
      greatest = std::max(greatest, v);
    }
    change.ratio = greatest > 0 ? least / greatest : 0;
  }

  void attribute(const std::string& kind, const AttrSpec& a, const Values& values, const Words& patterns) {
    const auto options_of = [&](const std::string& value) {
      Options options;
      for (const std::string& p : patterns) options.emplace_back("set", p + "." + a.name + "=" + value);
      return options;
    };
    const auto set = [&](const std::string& value, bool free, double factor = 0) {
      add(options_of(value), free, Of::attribute, a.name, factor, kind);
    };
    if (values.size() > 1) {
      const auto most = std::max_element(values.begin(), values.end(), [](const auto& x, const auto& y) {
        return x.second.first.size() < y.second.first.size();
      });
      if (a.type != AttrType::number_map) make_alike(kind, a, values, options_of(most->first), most->first);
      return;
    }
    const auto& [text, counted] = *values.begin();
    if (a.type == AttrType::boolean) set(text == "true" ? "false" : "true", true);
    for (const std::string& other : a.legal_texts()) {
      if (a.type == AttrType::string && other != text) set(other, true);
    }
    for (const auto& [other, factor] : twice_and_half(a, counted.second)) set(text_of_value(other), false, factor);
  }

  using Of = SingleChange::Of;
  void add(Options options, bool free, Of of_what, std::string name, double factor = 0, std::string kind = {}) {
    changes_.push_back({std::move(options), of_what, std::move(name), std::move(kind), factor, {}, 0, free});
  }

  const topology::Graph& graph_;
  const ImplCatalog& catalog_;
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
                                         const spec::RunSpec& run) {
  Changes all(graph, catalog);
  if (const std::string name = run.text_or_none("kernel"); !name.empty()) {
    const KernelSpec& kernel = KernelRegistry::instance().at(name);
    all.parameters(run, kernel);
    all.kernel(kernel);
  }
  all.launch(run);
  all.attributes();
  all.edges();
  return all.take();
}

}  // namespace kernbench
