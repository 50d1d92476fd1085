// What files and messages say, beyond what fmt says by itself.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace kernbench {

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

/// "12,345,678".
std::string grouped(uint64_t v);

/// "'abc'": a word from a file, fit for a message of one line. Not ASCII, not printable: '?'; long ones are cut.
std::string in_quotes(std::string_view s);

}  // namespace kernbench
