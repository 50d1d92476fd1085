// SPDX-License-Identifier: Apache-2.0
// Parameters of a block, declared once: a plain struct, and one list of its members with name, unit, range and help.
// The list yields the attributes in YAML (ImplSpec), the struct for the block's constructor, and the check of a struct
// filled in by hand.
//
//   struct Parameters : BlockParameters {
//     double refresh_ns = 100;                                   // the default
//     template <class List>
//     static void describe(List& list) {
//       BlockParameters::describe(list);
//       list.add(&Parameters::refresh_ns, "refresh_ns", "ns", "how long a refresh takes").positive();
//     }
//   };
//
// A rule that concerns several values belongs in fault_together(); it hides that of the base struct.
//
// Types of members: double, bool, std::string, NumberMap, integers, and std::optional of a number (without a
// default). Plain C++, no SystemC.
#pragma once

#include <algorithm>
#include <functional>
#include <optional>
#include <stdexcept>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "kernbench/systemc_models/core/impl_catalog.h"

namespace kernbench::core {

/// Parameters of every kind.
struct BlockParameters {
  double overhead_ns = 0;
  /// The value that conflicts with the others, each legal by itself, and the expected value.
  std::optional<AttrFault> fault_together() const { return std::nullopt; }
  template <class List>
  static void describe(List& list) {
    list.add(&BlockParameters::overhead_ns, "overhead_ns", "ns", "fixed delay of a message through the block")
        .overhead();
  }
};

/// Further properties of an attribute, beside name, unit and help.
class DeclaredAttribute {
 public:
  explicit DeclaredAttribute(AttrSpec& spec) : spec_(spec) {}
  DeclaredAttribute& min(double v) { return set(&AttrSpec::min, v); }
  DeclaredAttribute& max(double v) { return set(&AttrSpec::max, v); }
  DeclaredAttribute& positive() { return min(0).set(&AttrSpec::min_exclusive, true); }
  DeclaredAttribute& power_of_two() { return set(&AttrSpec::power_of_two, true); }
  DeclaredAttribute& multiple_of(uint64_t n) { return set(&AttrSpec::multiple_of, n); }
  /// Mandatory: there is no default.
  DeclaredAttribute& required() { return set(&AttrSpec::required, true).set(&AttrSpec::default_value, std::nullopt); }
  DeclaredAttribute& choices(std::vector<std::string> legal) { return set(&AttrSpec::choices, std::move(legal)); }
  /// Legal values are the names in this registry.
  DeclaredAttribute& of(const NamedRegistry& registry) { return set(&AttrSpec::registry, &registry); }
  /// Other texts are legal too; fault_together() checks them.
  DeclaredAttribute& or_other_texts() { return set(&AttrSpec::other_texts, true); }
  /// For a number map: the keys that the block knows, and the value of keys that the file omits.
  DeclaredAttribute& known_keys(std::vector<KnownKey> keys, double each) {
    return set(&AttrSpec::known_keys, std::move(keys)).set(&AttrSpec::key_default, each);
  }

  // Direction of the attribute. Default: a flag or a choice.
  DeclaredAttribute& direction(Direction d) { return set(&AttrSpec::direction, d); }
  /// A bandwidth, a clock, or a share of one; with a resource, --scale changes it.
  DeclaredAttribute& rate(std::optional<Resource> r = {}) { return min(kLeastRate).direction(Direction::rate).of(r); }
  /// A time, or cycles, of the block; with a resource, --scale changes it.
  DeclaredAttribute& latency(std::optional<Resource> r = {}) { return min(0).direction(Direction::latency).of(r); }
  /// The fixed delay of the block.
  DeclaredAttribute& overhead() { return latency().set(&AttrSpec::overhead, true); }
  /// 1 to 2^20.
  DeclaredAttribute& whole() { return min(1).max(1 << 20); }
  /// A number of things, 1 to 2^20; a run may wait for this limit.
  DeclaredAttribute& count(Limit l = Limit::none) { return whole().direction(Direction::count).of(l); }
  /// A capacity for waiting or outstanding items, 1 to 2^20; a run may wait for this limit.
  DeclaredAttribute& depth(Limit l = Limit::none) { return count(l).direction(Direction::depth); }
  /// The resource whose time it changes; remedies are predicted by it.
  DeclaredAttribute& of(std::optional<Resource> r) { return set(&AttrSpec::resource, r); }
  DeclaredAttribute& of(Limit l) { return set(&AttrSpec::limit, l); }
  /// For a cost class other than that of AttrSpec::cost_class().
  DeclaredAttribute& costs(CostClass c) { return set(&AttrSpec::cost, c); }
  /// For flags: the value that makes the block faster.
  DeclaredAttribute& faster_if(bool value) { return set(&AttrSpec::faster, value); }
  /// The value times `each` adds to the area, by the constant `area.CONSTANT`.
  DeclaredAttribute& area(std::string constant, std::string counts, double each = 1) {
    return set(&AttrSpec::area, AreaTerm{std::move(constant), std::move(counts), each});
  }
  /// The value multiplies the contribution of another attribute to this constant.
  DeclaredAttribute& area_factor(std::string constant) {
    return set(&AttrSpec::area, AreaTerm{std::move(constant), {}, 1, true});
  }

 private:
  template <class T, class V>
  DeclaredAttribute& set(T AttrSpec::*member, V value) {
    spec_.*member = std::move(value);
    return *this;
  }
  AttrSpec& spec_;
};

/// The attributes of a parameter struct P, each with its member.
template <class P>
class ParameterList {
 public:
  ParameterList() { P::describe(*this); }

  template <class Base, class T>
  DeclaredAttribute add(T Base::*member, const char* name, const char* unit, const char* help) {
    Entry e;
    e.spec.name = name;
    e.spec.unit = unit;
    e.spec.help = help;
    e.spec.type = type_of<T>();
    if (e.spec.type == AttrType::boolean) e.spec.direction = Direction::flag;
    if (const auto v = value_of(defaults_.*member)) e.spec.default_value = *v;
    e.set = [member](P& p, const AttrValue& v) { assign(p.*member, v); };
    e.get = [member](const P& p) { return value_of(p.*member); };
    entries_.push_back(std::move(e));
    return DeclaredAttribute(entries_.back().spec);
  }

  /// An integer with listed legal values: text in YAML.
  template <class Base>
  DeclaredAttribute add_choice(unsigned Base::*member, const char* name, const char* unit, const char* help,
                               std::vector<std::string> legal) {
    Entry e;
    e.spec.name = name;
    e.spec.unit = unit;
    e.spec.help = help;
    e.spec.type = AttrType::string;
    e.spec.default_value = std::to_string(defaults_.*member);
    e.spec.choices = std::move(legal);
    e.set = [member](P& p, const AttrValue& v) {
      p.*member = static_cast<unsigned>(std::stoul(std::get<std::string>(v)));
    };
    e.get = [member](const P& p) { return AttrValue(std::to_string(p.*member)); };
    entries_.push_back(std::move(e));
    return DeclaredAttribute(entries_.back().spec);
  }

  std::vector<AttrSpec> attributes() const {
    std::vector<AttrSpec> v;
    for (const Entry& e : entries_) v.push_back(e.spec);
    return v;
  }

  /// Defaults, overridden by the given attributes, which their reader has checked.
  P from(const Attributes& given) const {
    P p;
    for (const Entry& e : entries_) {
      if (const AttrValue* v = given.find(e.spec.name)) e.set(p, *v);
    }
    return p;
  }

  /// std::invalid_argument for the first value that is illegal in YAML: "overhead_ns: found -1, expected at least 0".
  void check(const P& p) const {
    for (const Entry& e : entries_) {
      if (const auto v = e.get(p)) check_value(e.spec, *v);
    }
    if (const auto fault = p.fault_together()) throw std::invalid_argument(fault->attribute + ": " + fault->text);
  }

 private:
  struct Entry {
    AttrSpec spec;
    std::function<void(P&, const AttrValue&)> set;
    std::function<std::optional<AttrValue>(const P&)> get;
  };

  template <class T>
  static constexpr AttrType type_of() {
    if constexpr (std::is_same_v<T, double> || std::is_same_v<T, std::optional<double>>) return AttrType::number;
    if constexpr (std::is_same_v<T, bool>) return AttrType::boolean;
    if constexpr (std::is_same_v<T, std::string>) return AttrType::string;
    if constexpr (std::is_same_v<T, NumberMap>) return AttrType::number_map;
    return AttrType::integer;
  }
  template <class T>
  static std::optional<AttrValue> value_of(const T& v) {
    if constexpr (std::is_integral_v<T> && !std::is_same_v<T, bool>) return AttrValue(static_cast<int64_t>(v));
    if constexpr (std::is_same_v<T, NumberMap>) return v.empty() ? std::nullopt : std::optional<AttrValue>(v);
    if constexpr (!std::is_integral_v<T> || std::is_same_v<T, bool>) return AttrValue(v);
  }
  template <class T>
  static std::optional<AttrValue> value_of(const std::optional<T>& v) {
    return v ? value_of(*v) : std::nullopt;
  }
  template <class T>
  static void assign(T& to, const AttrValue& v) {
    if constexpr (std::is_same_v<T, double> || (std::is_integral_v<T> && !std::is_same_v<T, bool>)) {
      const double* d = std::get_if<double>(&v);
      to = d ? static_cast<T>(*d) : static_cast<T>(std::get<int64_t>(v));
    } else {
      to = std::get<T>(v);
    }
  }
  template <class T>
  static void assign(std::optional<T>& to, const AttrValue& v) {
    assign(to.emplace(), v);
  }

  P defaults_;
  std::vector<Entry> entries_;
};

/// The list of a parameter struct.
template <class P>
const ParameterList<P>& parameters_of() {
  static const ParameterList<P> list;
  return list;
}

/// The parameters, after a check.
template <class P>
const P& checked(const P& p) {
  parameters_of<P>().check(p);
  return p;
}

/// The ImplSpec of a class with parameters P, for the topology compiler. Further calls declare the role of its kind:
///
///   return spec_of<Parameters>("custom.crossbar", "fast_xbar", "a crossbar of ours").transit();
///
/// Likewise .initiator() and .memory("hbm"). A built-in kind needs none of them.
template <class P>
ImplSpec spec_of(std::string impl, std::string kind, std::string help) {
  return {std::move(impl),
          std::move(kind),
          std::move(help),
          parameters_of<P>().attributes(),
          {},
          [](const Attributes& given) { return parameters_of<P>().from(given).fault_together(); }};
}

}  // namespace kernbench::core
