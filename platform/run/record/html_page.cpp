// SPDX-License-Identifier: Apache-2.0
#include "kernbench/platform/run/record/html_page.h"

namespace kernbench {

namespace page {
extern const std::string_view head, colours, css, common_js;
}

std::string escaped_html(std::string_view text) {
  std::string out;
  for (const char c : text) {
    switch (c) {
      case '&':
        out += "&amp;";
        break;
      case '<':
        out += "&lt;";
        break;
      case '>':
        out += "&gt;";
        break;
      default:
        out += c;
    }
  }
  return out;
}

std::string escaped_json(const std::string& json) {
  std::string out;
  out.reserve(json.size());
  for (const char c : json) c == '<' ? out += "\\u003c" : out += c;
  return out;
}

namespace {

using Parts = std::vector<std::pair<std::string_view, std::string_view>>;

void fill(std::string_view page, const Parts& parts, const std::function<void(std::string_view)>& write) {
  for (size_t at; (at = page.find("{{")) != std::string_view::npos;) {
    write(page.substr(0, at));
    const size_t end = page.find("}}", at);
    const std::string_view name = page.substr(at + 2, end - at - 2);
    for (const auto& [part, text] : parts) {
      if (part == name) write(text);
    }
    page.remove_prefix(end + 2);
  }
  write(page);
}

}  // namespace

void write_page(std::string_view body, std::vector<std::pair<std::string_view, std::string_view>> parts,
                const std::function<void(std::string_view)>& write) {
  parts.insert(parts.end(), {{"colours", page::colours}, {"css", page::css}, {"common_js", page::common_js}});
  fill(page::head, parts, write);
  fill(body, parts, write);
}

}  // namespace kernbench
