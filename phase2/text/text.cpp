#include "kernbench/phase2/text/text.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <iterator>
#include <locale>

namespace kernbench {

void append_shortest(std::string& out, double v) {
  char text[32];
  out.append(text, std::to_chars(text, text + sizeof text, v).ptr);
}

void append_fixed(std::string& out, double v) {
  if (std::abs(v) < 5e-7) v = 0;
  fmt::format_to(std::back_inserter(out), "{:.6f}", v);
}

std::string grouped(uint64_t v) {
  struct Commas : std::numpunct<char> {
    char do_thousands_sep() const override { return ','; }
    std::string do_grouping() const override { return "\3"; }
  };
  static const std::locale commas(std::locale::classic(), new Commas);
  return fmt::format(commas, "{:L}", v);
}

std::string in_quotes(std::string_view s) {
  constexpr size_t kLongest = 60;
  std::string shown(s.substr(0, kLongest));
  std::replace_if(
      shown.begin(), shown.end(), [](char c) { return c < ' ' || c > '~'; }, '?');
  return "'" + shown + (s.size() > kLongest ? "…'" : "'");
}

}  // namespace kernbench
