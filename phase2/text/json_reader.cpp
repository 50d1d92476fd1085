#include "kernbench/phase2/text/json_reader.h"

namespace kernbench {

// "[json.exception.parse_error.101] parse error at line 1, column 1: …"
std::string json_reason(const nlohmann::json::exception& e) {
  std::string what = e.what();
  if (const size_t at = what.find("] "); at != std::string::npos) what.erase(0, at + 2);
  if (what.rfind("parse error ", 0) == 0) what.erase(0, 12);
  return cut(what, 160);
}

void check_json_depth(std::string_view text) {
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

}  // namespace kernbench
