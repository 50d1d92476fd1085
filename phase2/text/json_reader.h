// Reads JSON that comes from outside: the one way in which this project does. nlohmann/json parses; what it lets pass is
// told here: text that nests deeper than anything of this project (such a value overflows the stack where it is walked
// through), and in documents a key that stands twice, of which it would take the last.
#pragma once

#include <cstdint>
#include <limits>
#include <nlohmann/json.hpp>
#include <set>
#include <stdexcept>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

namespace kernbench {

/// JSON that is well formed and not taken. One line.
class JsonFault : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

constexpr size_t kDeepestJson = 64;  ///< lists and objects in each other

/// JsonFault where lists and objects of the text nest deeper than kDeepestJson.
void check_json_depth(std::string_view text);

/// The value of a text. JsonFault, or Json::parse_error where it is no JSON.
template <class Json>
Json parse_json(std::string_view text) {
  check_json_depth(text);
  return Json::parse(text);
}

/// A whole number that T holds. JsonFault for all else, of which the library would make some other number.
template <class T, class Json>
T json_integer(const Json& j) {
  const auto refuse = [&] {
    throw JsonFault("found " + j.dump(-1, ' ', true, Json::error_handler_t::replace).substr(0, 60) +
                    ", expected a whole number from " + std::to_string(std::numeric_limits<T>::min()) + " to " +
                    std::to_string(std::numeric_limits<T>::max()));
  };
  if (!j.is_number_integer()) refuse();
  if (j.is_number_unsigned()) {
    const auto v = j.template get<uint64_t>();
    if (v > static_cast<uint64_t>(std::numeric_limits<T>::max())) refuse();
    return static_cast<T>(v);
  }
  const auto v = j.template get<int64_t>();
  if (v < 0 ? !std::is_signed_v<T> || v < static_cast<int64_t>(std::numeric_limits<T>::min())
            : static_cast<uint64_t>(v) > static_cast<uint64_t>(std::numeric_limits<T>::max()))
    refuse();
  return static_cast<T>(v);
}

/// The same of an object's member; `otherwise` where it has none of that name.
template <class T, class Json>
T json_integer(const Json& object, const char* name, T otherwise) {
  const auto it = object.find(name);
  return it == object.end() ? otherwise : json_integer<T>(*it);
}

/// The same of a document that a person has written: a key that stands twice in one object is a JsonFault.
template <class Json>
Json parse_json_document(std::string_view text) {
  check_json_depth(text);
  std::vector<std::set<std::string>> open;  // keys of the objects around
  return Json::parse(text, [&](int, typename Json::parse_event_t event, Json& value) {
    if (event == Json::parse_event_t::object_start) open.emplace_back();
    if (event == Json::parse_event_t::object_end) open.pop_back();
    if (event == Json::parse_event_t::key && !open.back().insert(value.template get<std::string>()).second)
      throw JsonFault("key " + value.dump(-1, ' ', true, Json::error_handler_t::replace) + " stands twice in an object");
    return true;
  });
}

}  // namespace kernbench
