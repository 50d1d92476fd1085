// SPDX-License-Identifier: Apache-2.0
#include "kernbench/platform/study/sweep/table.h"

#include <algorithm>
#include <ostream>
#include <utility>

#include "kernbench/phase2/text/json_writer.h"
#include "kernbench/phase2/text/text.h"

namespace kernbench::sweep {
namespace {

std::string text_of(const Cell& value) {
  if (std::holds_alternative<std::monostate>(value)) return "";
  if (const auto* text = std::get_if<std::string>(&value)) return *text;
  std::string number;
  JsonWriter(number, JsonWriter::Layout::compact, JsonWriter::Reals::decimal).value(value);
  return number;
}

std::unique_ptr<RowFields> rows_in(Form form, std::ostream& out) {
  if (form == Form::csv) return std::make_unique<CsvFields>(out, CsvFields::Reals::json);
  return form == Form::text ? std::make_unique<TextFields>(0) : nullptr;
}

}  // namespace

std::string for_people(const std::string& column, const Cell& value) {
  const Cell cell = shown(column, value);
  const auto* number = std::get_if<double>(&cell);
  return number ? rounded(*number) : escaped(text_of(cell));
}

Form form_of(std::string_view name) {
  return name == "json" ? Form::json : name == "text" ? Form::text : Form::csv;
}

void Row::set(const std::string& column, Cell value) {
  const auto it = std::find_if(cells_.begin(), cells_.end(), [&](const auto& c) { return c.first == column; });
  (it == cells_.end() ? cells_.emplace_back(column, Cell()) : *it).second = std::move(value);
}

Cell Row::at(const std::string& column) const {
  const auto it = std::find_if(cells_.begin(), cells_.end(), [&](const auto& c) { return c.first == column; });
  return it == cells_.end() ? Cell() : it->second;
}

/// A row bound to its table's columns.
struct TableRow {
  const Row& row;
  const std::vector<std::string>& columns;
};
static void describe(Fields& f, const TableRow& t) {
  if (f.is(Fields::Form::json)) {
    for (const auto& [column, value] : t.row.cells()) f(column, value);
    return;
  }
  for (const std::string& column : t.columns) {
    const Cell cell = t.row.at(column);
    if (f.is(Fields::Form::csv)) {
      f(column, cell);
    } else {
      const std::string title = title_of(column);
      const std::string text = for_people(column, cell);
      f(column, text.empty() ? "-" : text, {title});
    }
  }
}

Table::Table(std::ostream& out, Form form, std::vector<std::string> columns)
    : columns_(std::move(columns)), rows_(out, rows_in(form, out), "[") {}

/// Not before the first row, because the store may prove damaged until then.
void Table::head() {
  if (!std::exchange(has_head_, true)) rows_.head(TableRow{{}, columns_});
}

void Table::add(const Row& row) {
  head();
  rows_.row(TableRow{row, columns_});
}

void Table::end() {
  head();
  rows_.end("]\n");
}

}  // namespace kernbench::sweep
