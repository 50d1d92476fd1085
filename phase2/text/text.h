// SPDX-License-Identifier: Apache-2.0
// What files and messages say, beyond what fmt says by itself.
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

/// Writes v with 6 decimals (of ns: fs), never "-0.000000"; at most so many characters. Returns their end.
constexpr size_t kLongestFixed = 320;
char* write_fixed(char* to, double v);

/// The same at the end of a std::string or fmt::memory_buffer.
template <class Text>
void append_fixed(Text& out, double v) {
  char text[kLongestFixed];
  out.append(text, write_fixed(text, v));
}

/// The digits that mean something to a person: at most three decimals from 1 on (of ns: ps), four digits below.
std::string rounded(double v);

/// "12,345,678".
std::string grouped(uint64_t v);

/// Fit for one line of a terminal: \n, \t, \x1b in place of control characters, \xff in place of bytes that are no
/// UTF-8. Once is as good as twice. All that goes to stderr passes through here (phase2/tool/faults.h), and what
/// messages quote of files when they are made.
std::string escaped(std::string_view s);

/// A text's beginning, escaped, and … where that is not all; never half a character.
std::string cut(std::string_view s, size_t most = 60);

/// "'abc'": a word from a file in a message, cut.
std::string in_quotes(std::string_view s);

/// The words of a text that has blanks between them.
std::vector<std::string> words_between_blanks(std::string_view s);

/// The words one behind the other: "a, b". (fmt::join compiles much of fmt anew in each source that calls it.)
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

/// What comes in a message between a word that is none of the legal ones and their list: ", did you mean 'gemm'?", or
/// ";" where none is near.
std::string did_you_mean(const std::string& word, const std::vector<std::string>& legal);

}  // namespace kernbench::phase2
