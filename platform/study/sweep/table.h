// SPDX-License-Identifier: Apache-2.0
// A sweep's table: rows of named cells, as CSV, JSON or text.
#pragma once

#include <iosfwd>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "kernbench/phase2/text/forms.h"
#include "kernbench/platform/study/sweep/metrics.h"

namespace kernbench::sweep {

/// Cells by column; columns are ordered by their first set().
class Row {
 public:
  void set(const std::string& column, Cell value);
  /// Empty if it was never set.
  Cell at(const std::string& column) const;
  const std::vector<std::pair<std::string, Cell>>& cells() const { return cells_; }

 private:
  std::vector<std::pair<std::string, Cell>> cells_;
};

enum class Form { csv, json, text };
/// As in text output: with rounded() numbers, shares in percent.
std::string for_people(const std::string& column, const Cell&);
/// By name.
Form form_of(std::string_view name);

/// CSV and JSON are written row by row; text is written at the end.
class Table {
 public:
  Table(std::ostream&, Form, std::vector<std::string> columns);
  void add(const Row&);
  void end();

 private:
  void head();
  std::vector<std::string> columns_;
  RowWriter rows_;
  bool has_head_ = false;
};

}  // namespace kernbench::sweep
