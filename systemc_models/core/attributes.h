// SPDX-License-Identifier: Apache-2.0
// Attributes of a block. The class that `impl:` names declares them; the topology compiler checks them. Plain C++, no
// SystemC.
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

/// 0 for a value that is not a number.
double number_of(const AttrValue&);
/// "f16=1, f32=0.5".
std::string text_of(const NumberMap&);
/// In the form of --set.
std::string text_of(const AttrValue&);

enum class AttrType { number, integer, boolean, string, number_map };

/// The effect of a larger value of an attribute.
enum class Direction : uint8_t {
  rate,     ///< the block is faster
  latency,  ///< the block is slower
  depth,    ///< more items can wait, be in flight, or be covered
  count,    ///< the block has more of something
  flag,     ///< none: the attribute is true or false
  choice,   ///< none: no value is faster by itself
};
/// "rate".
std::string_view name_of(Direction);

/// The cost of another value of an attribute.
enum class CostClass : uint8_t {
  free,      ///< none: another setting of the same hardware
  room,      ///< memory for more waiting items
  hardware,  ///< more, faster or other hardware
};
/// "room".
std::string_view name_of(CostClass);

/// The die area of an attribute: its value times `each`, with the constant `area.CONSTANT` of an energy table.
struct AreaTerm {
  std::string constant;  ///< "lane"; for "mac" a table has one constant per dtype
  std::string counts;    ///< the counted items, for reports: "lanes"
  double each = 1;
  bool factor = false;  ///< the value multiplies the block's other terms with this constant; a map does so by dtype
};

/// The minimum bandwidth, clock or rate: a byte takes a millisecond. Lower values are typing errors, and their times
/// would not fit 64 bits of fs.
constexpr double kLeastRate = 1e-6;

/// A key of a number map that its block uses. If the file omits it, the value of `as` applies, if the file has that.
struct KnownKey {
  std::string name, as;
  /// No value if the map has neither.
  std::optional<double> in(const NumberMap&) const;
};

/// An attribute that a block accepts.
struct AttrSpec {
  std::string name;
  AttrType type = AttrType::number;
  std::string unit;  ///< "ns", "GB/s", "MiB", "GHz", "bytes", "" …
  std::string help;
  std::optional<AttrValue> default_value;  ///< none: see `required`
  bool required = false;
  double min = -std::numeric_limits<double>::infinity();
  bool min_exclusive = false;  ///< legal values are > min, not >= min
  double max = std::numeric_limits<double>::infinity();
  bool power_of_two = false;                ///< only for integers
  uint64_t multiple_of = 1;                 ///< only for integers
  std::vector<std::string> choices;         ///< legal strings (number maps: names), if not empty
  const NamedRegistry* registry = nullptr;  ///< for strings: the names in this registry are legal, including later ones
  bool other_texts = false;                 ///< other strings are legal too, and the block checks them
  std::vector<KnownKey> known_keys;         ///< for number maps: the keys that the block uses; others are legal too
  double key_default = 0;                   ///< the value of a key if the file has neither
  Direction direction = Direction::choice;
  std::optional<CostClass> cost;     ///< none: see cost_class()
  bool overhead = false;             ///< the block's fixed delay; counts as the resource of its kind
  std::optional<Resource> resource;  ///< the resource whose time it changes; --scale changes rates and latencies of it
  Limit limit = Limit::none;         ///< the limit that a larger or another value moves
  std::optional<bool> faster;        ///< for flags: the value with which the block is faster
  std::optional<AreaTerm> area;
  /// The declared class; else `free` for flags and texts, `room` for depths, `hardware` for other numbers.
  CostClass cost_class() const;
  /// Currently legal strings; empty: any string that the specification allows.
  std::vector<std::string> legal_texts() const;
  bool is_legal(const std::string& text) const;
};

/// A value that conflicts with others of its node: "found 3; legal: a divisor of …".
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

/// std::invalid_argument if a value is illegal: "freq_ghz: found 0, expected more than 0 GHz".
void check_value(const AttrSpec&, const AttrValue&);

}  // namespace kernbench::core
