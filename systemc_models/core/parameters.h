// Parameters of a block, stated once: a plain struct, and one list of its members with name, unit, range and help. From
// it come the attributes that YAML may give (ImplSpec), the struct that a block is made with, and the check of one that
// was filled in by hand.
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
// What several values must be together, fault_together() says: a struct that has one hides the one below.
//
// Members may be double, bool, std::string, NumberMap, whole numbers, and std::optional of a whole number (no default).
// Plain C++: no SystemC here.
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

namespace kernbench {

/// What every kind has.
struct BlockParameters {
  double overhead_ns = 0;
  /// Which value does not go with the others, and what was expected; each by itself is legal.
  std::optional<AttrFault> fault_together() const { return std::nullopt; }
  template <class List>
  static void describe(List& list) {
    list.add(&BlockParameters::overhead_ns, "overhead_ns", "ns", "fixed delay of a message through the block")
        .overhead();
  }
};

/// Says more of an attribute than its name, unit and help.
class DeclaredAttribute {
 public:
  explicit DeclaredAttribute(AttrSpec& spec) : spec_(spec) {}
  DeclaredAttribute& min(double v) { return set(&AttrSpec::min, v); }
  DeclaredAttribute& max(double v) { return set(&AttrSpec::max, v); }
  DeclaredAttribute& positive() { return min(0).set(&AttrSpec::min_exclusive, true); }
  DeclaredAttribute& power_of_two() { return set(&AttrSpec::power_of_two, true); }
  DeclaredAttribute& multiple_of(uint64_t n) { return set(&AttrSpec::multiple_of, n); }
  /// Has to be given: there is no default.
  DeclaredAttribute& required() { return set(&AttrSpec::required, true).set(&AttrSpec::default_value, std::nullopt); }
  DeclaredAttribute& choices(std::vector<std::string> legal) { return set(&AttrSpec::choices, std::move(legal)); }
  /// Names of classes that are registered there.
  DeclaredAttribute& of(const NamedRegistry& registry) { return set(&AttrSpec::registry, &registry); }
  /// Or another text, of which fault_together() judges.
  DeclaredAttribute& or_other_texts() { return set(&AttrSpec::other_texts, true); }
  /// Of a number map: what its block knows, and what each is where the file does not say it.
  DeclaredAttribute& known_keys(std::vector<std::string> keys, double each) {
    return set(&AttrSpec::known_keys, std::move(keys)).set(&AttrSpec::key_default, each);
  }

  // What the attribute is for. One that says nothing is a flag or a choice.
  DeclaredAttribute& direction(Direction d) { return set(&AttrSpec::direction, d); }
  /// A bandwidth, a clock, or a share of one; of a resource, which --scale changes by it.
  DeclaredAttribute& rate(std::optional<Resource> r = {}) { return min(kLeastRate).direction(Direction::rate).of(r); }
  /// A time, or cycles, that the block takes; likewise.
  DeclaredAttribute& latency(std::optional<Resource> r = {}) { return min(0).direction(Direction::latency).of(r); }
  /// The fixed delay of the block.
  DeclaredAttribute& overhead() { return latency().set(&AttrSpec::overhead, true); }
  /// 1 to 2^20.
  DeclaredAttribute& whole() { return min(1).max(1 << 20); }
  /// A number of things, 1 to 2^20; that a run may wait for.
  DeclaredAttribute& count(Limit l = Limit::none) { return whole().direction(Direction::count).of(l); }
  /// Places for what waits or is under way, 1 to 2^20; likewise.
  DeclaredAttribute& depth(Limit l = Limit::none) { return count(l).direction(Direction::depth); }
  /// Whose time it changes: what a remedy is predicted by.
  DeclaredAttribute& of(std::optional<Resource> r) { return set(&AttrSpec::resource, r); }
  DeclaredAttribute& of(Limit l) { return set(&AttrSpec::limit, l); }
  /// Where another value costs something else than AttrSpec::cost_class() says.
  DeclaredAttribute& costs(CostClass c) { return set(&AttrSpec::cost, c); }
  /// Flags: the value with which the block is faster.
  DeclaredAttribute& faster_if(bool value) { return set(&AttrSpec::faster, value); }
  /// The value times `each` is area: of the constant `area.CONSTANT`.
  DeclaredAttribute& area(std::string constant, std::string counts, double each = 1) {
    return set(&AttrSpec::area, AreaTerm{std::move(constant), std::move(counts), each});
  }
  /// The value multiplies what another attribute takes of the constant.
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

/// The attributes of a parameter struct P, each with the member it sets.
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

  /// A whole number of which only some values are legal: text in YAML.
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

  /// Defaults where nothing is given. What is given has been checked by who read it.
  P from(const Attributes& given) const {
    P p;
    for (const Entry& e : entries_) {
      if (const AttrValue* v = given.find(e.spec.name)) e.set(p, *v);
    }
    return p;
  }

  /// std::invalid_argument for the first value that YAML could not give: "overhead_ns: found -1, expected at least 0".
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
    if constexpr (std::is_same_v<T, double>) return AttrType::number;
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

/// The one list of a parameter struct.
template <class P>
const ParameterList<P>& parameters_of() {
  static const ParameterList<P> list;
  return list;
}

/// The parameters themselves, once they have been found legal.
template <class P>
const P& checked(const P& p) {
  parameters_of<P>().check(p);
  return p;
}

/// What the topology compiler must know of a class whose parameters are P. Behind it stands what its kind is:
///
///   return spec_of<Parameters>("custom.crossbar", "fast_xbar", "a crossbar of ours").transit();
///
/// likewise .initiator() and .memory("hbm"); nothing where the kind is one of kernbench's own.
template <class P>
ImplSpec spec_of(std::string impl, std::string kind, std::string help) {
  return {std::move(impl),
          std::move(kind),
          std::move(help),
          parameters_of<P>().attributes(),
          {},
          [](const Attributes& given) { return parameters_of<P>().from(given).fault_together(); }};
}

}  // namespace kernbench
