// What files and messages say, beyond what fmt says by itself.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace kernbench {

/// The shortest decimal form that reads back as the same double: 8, 0.1, 1e+22.
void append_shortest(std::string& out, double v);

/// With 6 decimals (of ns: fs), as the tables of `traffic` and `probe` have it; never "-0.000000".
void append_fixed(std::string& out, double v);

/// "12,345,678".
std::string grouped(uint64_t v);

/// "'abc'": a word from a file, fit for a message of one line. Not ASCII, not printable: '?'; long ones are cut.
std::string in_quotes(std::string_view s);

}  // namespace kernbench
