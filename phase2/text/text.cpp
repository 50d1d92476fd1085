// SPDX-License-Identifier: Apache-2.0
#include "kernbench/phase2/text/text.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <locale>
#include <numeric>
#include <utility>

namespace kernbench::phase2 {

void append_shortest(std::string& out, double v) {
  char text[32];
  out.append(text, std::to_chars(text, text + sizeof text, v).ptr);
}

char* write_fixed(char* to, double v) {
  if (std::abs(v) < 5e-7) v = 0;
  // v · 10⁶ is almost always far enough from a half that its rounding is certain. Then two integers are written. On
  // storm_ideal_64 (`traffic`, 64 PEs x 20,000 reads, six of these numbers per row) this saves 20 % of all CPU time
  // against std::to_chars, and 39 % against fmt's {:.6f}.
  const double scaled = std::abs(v) * 1e6;
  const bool small = scaled < 1e13;
  const auto n = static_cast<uint64_t>(small ? scaled + 0.5 : 0);
  if (!small || std::abs(std::abs(scaled - static_cast<double>(n)) - 0.5) < 0.01)
    return std::to_chars(to, to + kLongestFixed, v, std::chars_format::fixed, 6).ptr;
  if (v < 0) *to++ = '-';
  to = std::to_chars(to, to + kLongestFixed - 1, static_cast<uint32_t>(n / 1'000'000)).ptr;
  *to = '.';
  auto decimals = static_cast<uint32_t>(n % 1'000'000);
  for (int i = 6; i > 0; --i, decimals /= 10) to[i] = static_cast<char>('0' + decimals % 10);
  return to + 7;
}

std::string rounded(double v) {
  return std::abs(v) < 1 ? fmt::format("{:.4g}", v) : fmt::format("{}", std::round(v * 1000) / 1000);
}

std::string grouped(uint64_t v) {
  struct Commas : std::numpunct<char> {
    char do_thousands_sep() const override { return ','; }
    std::string do_grouping() const override { return "\3"; }
  };
  static const std::locale commas(std::locale::classic(), new Commas);
  return fmt::format(commas, "{:L}", v);
}

namespace {

/// Bytes of the UTF-8 character at the beginning; 0 if it is invalid.
size_t character(std::string_view s) {
  const auto byte = [&](size_t i) { return i < s.size() ? static_cast<unsigned char>(s[i]) : 0u; };
  const unsigned lead = byte(0);
  const size_t n = lead < 0x80                   ? 1
                   : lead >= 0xc2 && lead < 0xe0 ? 2
                   : (lead & 0xf0) == 0xe0       ? 3
                   : lead >= 0xf0 && lead < 0xf5 ? 4
                                                 : 0;
  for (size_t i = 1; i < n; ++i) {
    if ((byte(i) & 0xc0) != 0x80) return 0;
  }
  const bool overlong = (lead == 0xe0 && byte(1) < 0xa0) || (lead == 0xf0 && byte(1) < 0x90);
  const bool beyond = (lead == 0xed && byte(1) >= 0xa0) || (lead == 0xf4 && byte(1) >= 0x90);
  return overlong || beyond ? 0 : n;
}

bool is_control(std::string_view c) {
  const auto lead = static_cast<unsigned char>(c[0]);
  return lead < ' ' || lead == 0x7f || (lead == 0xc2 && static_cast<unsigned char>(c[1]) < 0xa0);
}

}  // namespace

std::string cut(std::string_view s, size_t most) {
  if (s.size() <= most) return escaped(s);
  size_t end = most;
  while (end > 0 && (static_cast<unsigned char>(s[end]) & 0xc0) == 0x80) --end;
  return escaped(s.substr(0, end)) + "…";
}

std::vector<std::string> words_between_blanks(std::string_view s) {
  std::vector<std::string> words;
  for (size_t at = s.find_first_not_of(' '); at < s.size(); at = s.find_first_not_of(' ', at)) {
    const size_t end = std::min(s.find(' ', at), s.size());
    words.emplace_back(s.substr(at, end - at));
    at = end;
  }
  return words;
}

std::vector<std::string> parts_between(char separator, std::string_view s) {
  std::vector<std::string> parts;
  for (size_t at = 0; at <= s.size();) {
    const size_t end = std::min(s.find(separator, at), s.size());
    parts.emplace_back(s.substr(at, end - at));
    at = end + 1;
  }
  return parts;
}

std::string in_quotes(std::string_view s) {
  return "'" + cut(s) + "'";
}

std::string escaped(std::string_view s) {
  std::string out;
  out.reserve(s.size());
  while (!s.empty()) {
    const size_t n = character(s);
    const std::string_view c = s.substr(0, std::max<size_t>(n, 1));
    s.remove_prefix(c.size());
    if (n > 0 && !is_control(c)) {
      out += c;
    } else if (c == "\n" || c == "\t" || c == "\r") {
      out += c == "\n" ? "\\n" : c == "\t" ? "\\t" : "\\r";
    } else {
      for (const char byte : c) out += fmt::format("\\x{:02x}", static_cast<unsigned char>(byte));
    }
  }
  return out;
}

namespace {

/// Edit distance: letters inserted, deleted, replaced, or swapped with their neighbour.
size_t edit_distance(const std::string& a, const std::string& b) {
  std::vector<size_t> before, last, row(b.size() + 1);
  std::iota(row.begin(), row.end(), size_t{0});
  for (size_t i = 1; i <= a.size(); ++i) {
    before = std::exchange(last, std::exchange(row, {i}));
    for (size_t j = 1; j <= b.size(); ++j) {
      row.push_back(std::min({last[j - 1] + (a[i - 1] == b[j - 1] ? 0 : 1), last[j] + 1, row[j - 1] + 1}));
      if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1]) row[j] = std::min(row[j], before[j - 2] + 1);
    }
  }
  return row[b.size()];
}

}  // namespace

std::string nearest_word(const std::string& word, const std::vector<std::string>& legal) {
  if (word.size() > 64) return "";
  std::string best;
  size_t best_distance = std::min(std::max<size_t>(2, word.size() / 3) + 1, word.size());  // with a letter in common
  for (const std::string& c : legal) {
    const size_t d = edit_distance(word, c);
    if (d < best_distance) {
      best_distance = d;
      best = c;
    }
  }
  return best;
}

std::string did_you_mean(const std::string& word, const std::vector<std::string>& legal) {
  const std::string near = nearest_word(word, legal);
  return near.empty() ? ";" : ", did you mean '" + near + "'?";
}

}  // namespace kernbench::phase2
