// SPDX-License-Identifier: Apache-2.0
#include "kernbench/phase2/text/json_reader.h"

#include <set>
#include <vector>

namespace kernbench::phase2 {

// "[json.exception.parse_error.101] parse error at line 1, column 1: …"
std::string json_reason(const nlohmann::json::exception& e) {
  std::string what = e.what();
  if (const size_t at = what.find("] "); at != std::string::npos) what.erase(0, at + 2);
  if (what.rfind("parse error ", 0) == 0) what.erase(0, 12);
  return cut(what, 160);
}

void check_json_text(std::string_view text) {
  if (text.substr(0, 3) == "\xEF\xBB\xBF")
    throw JsonFault("begins with a byte order mark, expected JSON in UTF-8 without one");
  size_t depth = 0;
  bool quoted = false;
  for (size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (quoted) {
      if (c == '\\') ++i;
      quoted = c != '"';
    } else if (c == '"') {
      quoted = true;
    } else if (c == '[' || c == '{') {
      if (++depth > kDeepestJson)
        throw JsonFault("nests deeper than " + std::to_string(kDeepestJson) + " at byte " + std::to_string(i));
    } else if ((c == ']' || c == '}') && depth > 0) {
      --depth;
    }
  }
}

template <class Json>
std::string json_text(const Json& v) {
  return v.dump();
}

template <class Json>
std::string shown(const Json& v) {
  return cut(v.dump(-1, ' ', true, Json::error_handler_t::replace));
}

template <class Json>
Json parse_json(std::string_view text, const typename Json::parser_callback_t& each) {
  check_json_text(text);
  try {
    return Json::parse(text, each);
  } catch (const nlohmann::json::exception& e) {
    throw JsonFault("not JSON: " + json_reason(e));
  }
}

template <class Json>
Json parse_json_document(std::string_view text) {
  std::vector<std::set<std::string>> open;  // keys of the enclosing objects
  return parse_json<Json>(text, [&](int, typename Json::parse_event_t event, Json& value) {
    if (event == Json::parse_event_t::object_start) open.emplace_back();
    if (event == Json::parse_event_t::object_end) open.pop_back();
    if (event == Json::parse_event_t::key && !open.back().insert(value.template get<std::string>()).second)
      throw JsonFault("key " + shown(value) + " stands twice in an object");
    return true;
  });
}

template std::string json_text(const nlohmann::json&);
template std::string json_text(const nlohmann::ordered_json&);
template std::string shown(const nlohmann::json&);
template std::string shown(const nlohmann::ordered_json&);
template nlohmann::json parse_json(std::string_view, const nlohmann::json::parser_callback_t&);
template nlohmann::ordered_json parse_json(std::string_view, const nlohmann::ordered_json::parser_callback_t&);
template nlohmann::json parse_json_document(std::string_view);
template nlohmann::ordered_json parse_json_document(std::string_view);

}  // namespace kernbench::phase2
