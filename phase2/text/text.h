// SPDX-License-Identifier: Apache-2.0
// Text functions for files and messages, beyond fmt.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "kernbench/phase2/rooms.h"

namespace kernbench::phase2 {

/// The shortest decimal form that reads back as the same double: 8, 0.1, 1e+22.
void append_shortest(std::string& out, double v);

/// Writes v with 6 decimals (fs, if v is in ns), never "-0.000000", at most `most` characters. Returns the end.
constexpr size_t kLongestFixed = 320;
char* write_fixed(char* to, double v);

/// Appends the same to a std::string or fmt::memory_buffer.
template <class Text>
void append_fixed(Text& out, double v) {
  char text[kLongestFixed];
  out.append(text, write_fixed(text, v));
}

/// Only the digits that matter to a person: at most three decimals from 1 on (ps, if v is in ns), four digits below 1.
std::string rounded(double v);

/// "12,345,678".
std::string grouped(uint64_t v);

/// Makes a text safe for one line of a terminal: \n, \t, \x1b replace control characters, \xff replaces bytes that are
/// not UTF-8. Applying it twice changes nothing more. Everything on stderr passes through here (phase2/tool/faults.h),
/// and so do quotations of files in messages.
std::string escaped(std::string_view s);

/// The beginning of a text, escaped, with … if it was cut. It never splits a character.
std::string cut(std::string_view s, size_t most = 60);

/// "'abc'": a word from a file, shortened for a message.
std::string in_quotes(std::string_view s);

/// The words of a text that are separated by blanks.
std::vector<std::string> words_between_blanks(std::string_view s);

/// The parts between the separators, at least one: "a,,b" has "a", "", "b"; "" has "".
std::vector<std::string> parts_between(char separator, std::string_view s);

/// The words joined: "a, b". (fmt::join compiles much of fmt in each source that calls it.)
template <class Words>
std::string joined(const Words& words, std::string_view between = ", ") {
  std::string text;
  bool first = true;
  for (const std::string_view word : words) {
    if (!first) text += between;
    first = false;
    text += word;
  }
  return text;
}

/// The legal word nearest to `word` by edit distance, or "" if none is near.
std::string nearest_word(const std::string& word, const std::vector<std::string>& legal);

/// The part of a message between an illegal word and the list of legal ones: ", did you mean 'gemm'?", or ";" if none
/// is near.
std::string did_you_mean(const std::string& word, const std::vector<std::string>& legal);

}  // namespace kernbench::phase2
