#include "kernbench/phase2/text/text.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <locale>

namespace kernbench {

void append_shortest(std::string& out, double v) {
  char text[32];
  out.append(text, std::to_chars(text, text + sizeof text, v).ptr);
}

char* write_fixed(char* to, double v) {
  if (std::abs(v) < 5e-7) v = 0;
  // Nearly always v · 10⁶ is far enough from a half for its rounding to be certain: then two whole numbers are written.
  // 20 % of all CPU time of `traffic` on 64 PEs x 20,000 reads (storm_ideal_64), whose rows have six of these, against
  // std::to_chars alone, and 39 % against fmt's {:.6f}.
  const double scaled = std::abs(v) * 1e6;
  const bool small = scaled < 1e13;
  const auto n = static_cast<uint64_t>(small ? scaled + 0.5 : 0);
  if (!small || std::abs(std::abs(scaled - static_cast<double>(n)) - 0.5) < 0.01)
    return std::to_chars(to, to + kLongestFixed, v, std::chars_format::fixed, 6).ptr;
  const fmt::format_int whole(n / 1'000'000), decimals(1'000'000 + n % 1'000'000);
  if (v < 0) *to++ = '-';
  to = std::copy_n(whole.data(), whole.size(), to);
  *to++ = '.';
  return std::copy_n(decimals.data() + 1, 6, to);
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
