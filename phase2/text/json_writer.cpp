// SPDX-License-Identifier: Apache-2.0
#include "kernbench/phase2/text/json_writer.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <nlohmann/json.hpp>

namespace kernbench::phase2 {

namespace {

constexpr auto kPlain = [] {
  std::array<bool, 256> plain{};
  for (unsigned char c = ' '; c <= '~'; ++c) plain[c] = c != '"' && c != '\\';
  return plain;
}();

}  // namespace

void JsonWriter::real(double v) {
  if (reals_ == Reals::decimal) {
    out_ += nlohmann::json(v).dump();
  } else if (reals_ == Reals::fixed) {
    append_fixed(out_, v);
  } else if (std::isfinite(v)) {
    const size_t at = out_.size();
    append_shortest(out_, v);
    if (reals_ == Reals::pointed && out_.find_first_of(".e", at) == std::string::npos) out_ += ".0";
  } else {
    out_ += std::isnan(v) ? "\"nan\"" : v > 0 ? "\"inf\"" : "\"-inf\"";
  }
}

void JsonWriter::text(std::string_view s) {
  if (std::all_of(s.begin(), s.end(), [](char c) { return kPlain[static_cast<unsigned char>(c)]; })) {
    out_ += '"';
    out_ += s;
    out_ += '"';
  } else {  // escapes characters and replaces bytes that are not UTF-8
    out_ += nlohmann::json(s).dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
  }
}

}  // namespace kernbench::phase2
