// Reads JSON that comes from outside: the one way in which this project does. nlohmann/json parses; what it lets pass is
// told here: text that nests deeper than anything of this project (such a value overflows the stack where it is walked
// through), and in documents a key that stands twice, of which it would take the last.
#pragma once

#include <nlohmann/json.hpp>
#include <set>
#include <stdexcept>
#include <string>
#include <string_view>
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
