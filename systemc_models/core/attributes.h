// SPDX-License-Identifier: Apache-2.0
// Attributes of a block: declared by the class that `impl:` names, checked by the topology compiler.
// Plain C++: no SystemC here.
#pragma once

#include <cstdint>
#include <functional>
#include <limits>
#include <map>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "kernbench/systemc_models/core/bottleneck.h"
#include "kernbench/systemc_models/core/named_registry.h"

namespace kernbench::core {

using NumberMap = std::map<std::string, double>;
using AttrValue = std::variant<double, int64_t, bool, std::string, NumberMap>;

/// 0 for what is no number.
double number_of(const AttrValue&);
/// "f16=1, f32=0.5".
std::string text_of(const NumberMap&);
/// As --set takes it.
std::string text_of(const AttrValue&);

enum class AttrType { number, integer, boolean, string, number_map };

/// What a larger value of an attribute means.
enum class Direction : uint8_t {
  rate,     ///< the block is faster
  latency,  ///< the block is slower
  depth,    ///< more items wait, are under way, or are covered
  count,    ///< the block has more of something
  flag,     ///< nothing: the attribute is true or false
  choice,   ///< nothing: no value is faster by itself
};
/// "rate".
std::string_view name_of(Direction);

/// What another value of an attribute costs.
enum class CostClass : uint8_t {
  free,      ///< nothing: another setting of the same hardware
  room,      ///< memory for more of what waits
  hardware,  ///< more, faster or other hardware
};
/// "room".
std::string_view name_of(CostClass);

/// The area that an attribute takes on a die: its value times `each`, of the constant `area.CONSTANT` of an energy
/// table.
struct AreaTerm {
  std::string constant;  ///< "lane"; of "mac" a table has one constant a dtype
  std::string counts;    ///< what is counted, for reports: "lanes"
  double each = 1;
  bool factor = false;  ///< the value multiplies the block's other terms of the constant; a map does so by dtype
};

/// The least bandwidth, clock or rate: a byte takes a millisecond. Less is a slip; its times are soon no 64-bit number
/// of fs.
constexpr double kLeastRate = 1e-6;

/// A key of a number map that its block knows. Where the file does not say it, it is as that of `as`, if the file says
/// that.
struct KnownKey {
  std::string name, as;
  /// None: the map says neither.
  std::optional<double> in(const NumberMap&) const;
};

/// One attribute that a block understands.
struct AttrSpec {
  std::string name;
  AttrType type = AttrType::number;
  std::string unit;  ///< "ns", "GB/s", "MB", "GHz", "bytes", "" …
  std::string help;
  std::optional<AttrValue> default_value;  ///< none: see `required`
  bool required = false;
  double min = -std::numeric_limits<double>::infinity();
  bool min_exclusive = false;  ///< legal values are > min, not >= min
  double max = std::numeric_limits<double>::infinity();
  bool power_of_two = false;                ///< integers only
  uint64_t multiple_of = 1;                 ///< integers only
  std::vector<std::string> choices;         ///< legal strings (number maps: names), if not empty
  const NamedRegistry* registry = nullptr;  ///< strings: those that are registered there are legal, also later ones
  bool other_texts = false;                 ///< beside the registered ones others, of which the block judges
  std::vector<KnownKey> known_keys;         ///< number maps: those that the block knows; others are legal, too
  double key_default = 0;                   ///< what one of them is where the file says neither
  Direction direction = Direction::choice;
  std::optional<CostClass> cost;     ///< none: as cost_class() says
  bool overhead = false;             ///< the fixed delay of the block: counts as its kind's resource
  std::optional<Resource> resource;  ///< whose time it changes; --scale changes rates and latencies of it
  Limit limit = Limit::none;         ///< that a larger value, or another one, moves
  std::optional<bool> faster;        ///< flags: the value with which the block is faster
  std::optional<AreaTerm> area;
  /// What is declared; else flags and texts are free, depths are room, other numbers are hardware.
  CostClass cost_class() const;
  /// Legal strings now; empty: any, as far as the specification says.
  std::vector<std::string> legal_texts() const;
  bool is_legal(const std::string& text) const;
};

/// A value that does not go with the others of its node: "found 3; legal: a divisor of …".
struct AttrFault {
  std::string attribute, text;
};

/// Values of one node, in the order of the file.
class Attributes {
 public:
  void set(std::string name, AttrValue v);
  const AttrValue* find(const std::string& name) const;
  bool has(const std::string& name) const { return find(name) != nullptr; }
  double number(const std::string& name, double fallback) const;
  int64_t integer(const std::string& name, int64_t fallback) const;
  bool boolean(const std::string& name, bool fallback) const;
  std::string string(const std::string& name, const std::string& fallback) const;
  const NumberMap* map(const std::string& name) const;
  const std::vector<std::pair<std::string, AttrValue>>& items() const { return items_; }

 private:
  std::vector<std::pair<std::string, AttrValue>> items_;
};

/// std::invalid_argument where a value is not what the attribute allows: "freq_ghz: found 0, expected more than 0 GHz".
void check_value(const AttrSpec&, const AttrValue&);

}  // namespace kernbench::core
