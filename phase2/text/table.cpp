// SPDX-License-Identifier: Apache-2.0
#include "kernbench/phase2/text/table.h"

#include <fmt/format.h>

#include <algorithm>

namespace kernbench::phase2 {

std::string TextTable::text() const {
  std::vector<size_t> width;
  for (const auto& row : rows_) {
    width.resize(std::max(width.size(), row.size()));
    for (size_t c = 0; c < row.size(); ++c) width[c] = std::max(width[c], row[c].size());
  }
  std::string text;
  for (const auto& row : rows_) {
    std::string line(indent_, ' ');
    for (size_t c = 0; c < row.size(); ++c) {
      if (c > 0) line += "  ";
      line += c < left_ ? fmt::format("{:<{}}", row[c], width[c]) : fmt::format("{:>{}}", row[c], width[c]);
    }
    text += line.substr(0, line.find_last_not_of(' ') + 1) + "\n";
  }
  return text;
}

}  // namespace kernbench::phase2
