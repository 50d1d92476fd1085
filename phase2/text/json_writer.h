// SPDX-License-Identifier: Apache-2.0
// Writes JSON as text; the project has no other writer. (nlohmann/json reads it.)
#pragma once

#include <fmt/format.h>

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <variant>

#include "kernbench/phase2/text/text.h"

namespace kernbench::phase2 {

/// Appends keys and values to a string in the order of the calls, and inserts commas, blanks and line ends. The string
/// may be emptied between calls.
class JsonWriter {
 public:
  enum class Layout {
    compact,   ///< {"a":1,"b":[2,3]}
    spaced,    ///< {"a": 1, "b": [2, 3]}
    indented,  ///< spaced; each item on a new line, indented by one blank more than its container
  };
  enum class Reals {
    shortest,  ///< 8, 1e+05: the shortest form that reads back as the same number; "nan", "inf" and "-inf" as texts
    pointed,   ///< 8.0, 1e+05: the same, but with a decimal point for integers
    decimal,   ///< 8.0, 100000.0, 1e+22: like nlohmann/json; null if not finite
    fixed,     ///< 8.000000: like append_fixed()
  };

  explicit JsonWriter(std::string& out, Layout layout = Layout::compact, Reals reals = Reals::shortest)
      : out_(out), layout_(layout), reals_(reals) {}

  /// '{' or '['.
  JsonWriter& open(char bracket) {
    separate();
    out_ += bracket;
    place_ = Place::first;
    ++depth_;
    return *this;
  }
  JsonWriter& close(char bracket) {
    --depth_;
    if (layout_ == Layout::indented && place_ != Place::first) line_ = depth_;
    if (line_ >= 0) end_line();
    out_ += bracket;
    place_ = Place::later;
    return *this;
  }
  JsonWriter& key(std::string_view k) {
    separate();
    text(k);
    return colon();
  }
  /// A literal that needs no escaping. This is an optimisation: op logs have a dozen in each record.
  template <size_t N>
  JsonWriter& key(const char (&word)[N]) {
    separate();
    out_ += '"';
    out_.append(word, N - 1);
    out_ += '"';
    return colon();
  }
  /// A truth value, a number, a text, null (std::monostate), or a list of these.
  template <class T>
  JsonWriter& value(const T& v) {
    if constexpr (std::is_same_v<T, std::monostate>) {
      return null();
    } else if constexpr (std::is_same_v<T, bool>) {
      return raw(v ? "true" : "false");
    } else if constexpr (std::is_integral_v<T>) {
      const fmt::format_int digits(v);
      return raw({digits.data(), digits.size()});
    } else if constexpr (std::is_floating_point_v<T>) {
      separate();
      real(v);
    } else if constexpr (std::is_convertible_v<const T&, std::string_view>) {
      separate();
      text(v);
    } else {
      open('[');
      for (const auto& item : v) value(item);
      close(']');
    }
    return *this;
  }
  template <class T>
  JsonWriter& value(const std::optional<T>& v) {
    return v ? value(*v) : null();
  }
  template <class T>
  JsonWriter& value(const std::map<std::string, T>& items) {
    open('{');
    for (const auto& [k, v] : items) field(k, v);
    return close('}');
  }
  template <class... T>
  JsonWriter& value(const std::variant<T...>& v) {
    std::visit([this](const auto& x) { this->value(x); }, v);
    return *this;
  }
  template <class Key, class T>
  JsonWriter& field(const Key& k, const T& v) {
    return key(k).value(v);
  }
  JsonWriter& null() { return raw("null"); }
  /// Text that is already JSON.
  JsonWriter& raw(std::string_view json) {
    separate();
    out_ += json;
    return *this;
  }
  /// Puts the next item, or the end of a list, on a new line, indented by that many blanks.
  JsonWriter& new_line(int blanks) {
    line_ = blanks;
    return *this;
  }

 private:
  enum class Place { first, later, behind_key };

  void separate() {
    if (place_ == Place::behind_key) {
      place_ = Place::later;
      return;
    }
    if (place_ == Place::later) out_ += ',';
    if (layout_ != Layout::compact || line_ >= 0) space();
    place_ = Place::later;
  }
  void space() {
    if (layout_ == Layout::indented && depth_ > 0) line_ = depth_;
    if (line_ >= 0) {
      end_line();
    } else if (place_ == Place::later) {
      out_ += ' ';
    }
  }
  JsonWriter& colon() {
    out_ += ':';
    if (layout_ != Layout::compact) out_ += ' ';
    place_ = Place::behind_key;
    return *this;
  }
  void end_line() {
    out_.append(1, '\n').append(static_cast<size_t>(line_), ' ');
    line_ = -1;
  }
  void real(double v);
  void text(std::string_view s);

  std::string& out_;
  Layout layout_;
  Reals reals_;
  Place place_ = Place::first;
  int depth_ = 0;
  int line_ = -1;  // indentation of the line to begin; -1: no new line
};

}  // namespace kernbench::phase2
