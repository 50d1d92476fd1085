// SPDX-License-Identifier: Apache-2.0
// Reads JSON from outside; the project has no other reader. nlohmann/json parses. This file also refuses text that
// nlohmann/json accepts: nesting that is too deep (walking through it overflows the stack) and, in documents, duplicate
// keys (it would use the last one).
#pragma once

#include <cstdint>
#include <limits>
#include <new>
#include <nlohmann/json.hpp>
#include <stdexcept>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include "kernbench/phase2/text/text.h"

namespace kernbench::phase2 {

/// Malformed JSON, or JSON with an unexpected value. One line that names the position in the text, or the field.
class JsonFault : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

constexpr size_t kDeepestJson = 64;  ///< depth of nested lists and objects

// For nlohmann::json and nlohmann::ordered_json. Compiled once, because the parser takes longer to compile than most
// sources.

/// The whole value, as compact JSON.
template <class Json>
std::string json_text(const Json&);

/// The beginning of a value, for messages.
template <class Json>
std::string shown(const Json&);

/// nlohmann/json's message without its internal names.
std::string json_reason(const nlohmann::json::exception&);

/// JsonFault if the text nests deeper than kDeepestJson or begins with a byte order mark.
void check_json_text(std::string_view text);

/// Parses a text. JsonFault.
template <class Json>
Json parse_json(std::string_view text, const typename Json::parser_callback_t& each = nullptr);

/// Parses a document that a person wrote. A byte order mark, or a duplicate key in an object, is a JsonFault.
template <class Json>
Json parse_json_document(std::string_view text);

/// The value as a T: a truth value, a number or a text. JsonFault if it is of another kind or the number does not fit
/// T.
template <class T, class Json>
T json_value(const Json& v) {
  if constexpr (std::is_same_v<T, bool>) {
    if (v.is_boolean()) return v.template get<bool>();
    throw JsonFault("found " + shown(v) + ", expected true or false");
  } else if constexpr (std::is_same_v<T, std::string>) {
    if (v.is_string()) return v.template get<std::string>();
    throw JsonFault("found " + shown(v) + ", expected text");
  } else if constexpr (std::is_floating_point_v<T>) {
    if (v.is_number()) return v.template get<T>();
    throw JsonFault("found " + shown(v) + ", expected a number");
  } else {
    using Limits = std::numeric_limits<T>;
    if (v.is_number_unsigned()) {
      const auto n = v.template get<uint64_t>();
      if (n <= static_cast<uint64_t>(Limits::max())) return static_cast<T>(n);
    } else if (v.is_number_integer()) {
      const auto n = v.template get<int64_t>();
      if (n >= static_cast<int64_t>(Limits::min()) && (n < 0 || static_cast<uint64_t>(n) <= uint64_t{Limits::max()}))
        return static_cast<T>(n);
    }
    throw JsonFault("found " + shown(v) + ", expected a whole number from " + std::to_string(Limits::min()) + " to " +
                    std::to_string(Limits::max()));
  }
}

/// Applies `read` to the value of a key. The message of a fault begins with the key.
template <class Json, class Read>
decltype(auto) json_field(const Json& object, const std::string& key, const Read& read) {
  if (!object.is_object()) throw JsonFault("found " + shown(object) + ", expected an object");
  const auto it = object.find(key);
  if (it == object.end()) throw JsonFault("'" + key + "' is missing");
  try {
    return read(*it);
  } catch (const std::bad_alloc&) {
    throw;
  } catch (const std::exception& e) {
    throw JsonFault(key + ": " + e.what());
  }
}
template <class T, class Json>
T json_field(const Json& object, const std::string& key) {
  return json_field(object, key, [](const Json& v) { return json_value<T>(v); });
}
/// The same for an optional key.
template <class T, class Json>
T json_field_or(const Json& object, const std::string& key, T fallback) {
  return object.contains(key) ? json_field<T>(object, key) : fallback;
}

/// Applies `read` to each item of a list. The message of a fault begins with the item's number.
template <class Json, class Read>
auto json_items(const Json& list, const Read& read) {
  if (!list.is_array()) throw JsonFault("found " + shown(list) + ", expected a list");
  std::vector<std::decay_t<decltype(read(list))>> all;
  all.reserve(list.size());
  for (const Json& item : list) {
    try {
      all.push_back(read(item));
    } catch (const std::bad_alloc&) {
      throw;
    } catch (const std::exception& e) {
      throw JsonFault("[" + std::to_string(all.size()) + "]: " + e.what());
    }
  }
  return all;
}

}  // namespace kernbench::phase2
