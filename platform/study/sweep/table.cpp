#include "kernbench/platform/study/sweep/table.h"

#include <algorithm>
#include <ostream>

#include "kernbench/phase2/text/table.h"
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

std::string csv_field(const Cell& value) {
  const std::string text = text_of(value);
  if (!std::holds_alternative<std::string>(value) || text.find_first_of(",\"\n") == std::string::npos) return text;
  std::string quoted = "\"";
  for (const char c : text) quoted.append(c == '"' ? 2 : 1, c);
  return quoted + '"';
}

}  // namespace

std::string for_people(const Cell& value) {
  const auto* number = std::get_if<double>(&value);
  return number ? rounded(*number) : escaped(text_of(value));
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

Table::Table(std::ostream& out, Form form, std::vector<std::string> columns)
    : out_(out), form_(form), columns_(std::move(columns)) {
  if (form_ == Form::json) writer_.open('[');
  if (form_ == Form::csv) line([](const std::string& column) { return csv_field(column); });
  if (form_ == Form::text) lines_.push_back(columns_);
}

void Table::add(const Row& row) {
  if (form_ == Form::json) {
    writer_.new_line(1).open('{');
    for (const auto& [column, value] : row.cells()) writer_.field(column, value);
    writer_.close('}');
  } else if (form_ == Form::csv) {
    line([&](const std::string& column) { return csv_field(row.at(column)); });
  } else {
    lines_.emplace_back();
    for (const std::string& column : columns_) {
      const std::string cell = for_people(row.at(column));
      lines_.back().push_back(cell.empty() ? "-" : cell);
    }
  }
  flush();
}

void Table::end() {
  if (form_ == Form::json) {
    writer_.new_line(0).close(']');
    text_ += '\n';
  }
  if (form_ == Form::text) {
    TextTable table(0);
    for (auto& l : lines_) table.add(std::move(l));
    text_ += table.text();
  }
  flush();
}

template <class Field>
void Table::line(const Field& field) {
  for (const std::string& column : columns_) text_ += (&column == &columns_[0] ? "" : ",") + field(column);
  text_ += '\n';
}

void Table::flush() {
  out_ << text_ << std::flush;
  text_.clear();
}

}  // namespace kernbench::sweep
