// SPDX-License-Identifier: Apache-2.0
// A table for people: columns as wide as their widest cell.
#pragma once

#include <string>
#include <vector>

#include "kernbench/phase2/rooms.h"

namespace kernbench::phase2 {

/// Two blanks separate columns. The first `left` columns are aligned left, the others right.
class TextTable {
 public:
  explicit TextTable(size_t left, size_t indent = 0) : left_(left), indent_(indent) {}
  void add(std::vector<std::string> row) { rows_.push_back(std::move(row)); }
  /// The table's lines, without trailing blanks.
  std::string text() const;

 private:
  size_t left_, indent_;
  std::vector<std::vector<std::string>> rows_;
};

}  // namespace kernbench::phase2
