// SPDX-License-Identifier: Apache-2.0
// The output forms of described records (fields.h), one class each. The data of an HTML page is JsonFields inside it.
#pragma once

#include <memory>
#include <ostream>
#include <string>
#include <utility>
#include <vector>

#include "kernbench/phase2/text/fields.h"
#include "kernbench/phase2/text/json_writer.h"
#include "kernbench/phase2/text/table.h"

namespace kernbench::phase2 {

class JsonFields : public Fields {
 public:
  /// Appends to the writer's output. record() writes a record as an object.
  explicit JsonFields(JsonWriter& writer) : Fields(Form::json), w_(writer) {}
  /// Writes a separate document and passes the text to `out` as it grows.
  explicit JsonFields(std::ostream& out, JsonWriter::Layout layout = JsonWriter::Layout::indented,
                      JsonWriter::Reals reals = JsonWriter::Reals::decimal)
      : Fields(Form::json), out_(&out), own_(text_, layout, reals), w_(own_) {}
  /// Writes the complete document.
  template <class T>
  void document(const T& r) {
    record(r);
    end();
  }
  JsonFields& line(int blanks) override;
  JsonFields& lines(int blanks, int end = -1) override;

 protected:
  bool begin(std::string_view name, const Shown&, Kind) override;
  void scalar(const Scalar&) override;
  void open(char bracket) override;
  void close(char bracket) override;
  void item(size_t) override;

 private:
  void end();

  std::ostream* out_ = nullptr;
  std::string text_;
  JsonWriter own_{text_};
  JsonWriter& w_;
  struct Lines {
    int items = -1, end = -1;
  };
  Lines next_lines_;
  std::vector<Lines> lines_;  // one for each open list and object
};

/// The record as a JSON document.
template <class T>
void write_json(std::ostream& out, const T& record, JsonWriter::Layout layout = JsonWriter::Layout::indented,
                JsonWriter::Reals reals = JsonWriter::Reals::decimal) {
  JsonFields(out, layout, reals).document(record);
}

/// The same as a text, without a line end.
template <class T>
std::string to_json(const T& record, JsonWriter::Layout layout = JsonWriter::Layout::compact,
                    JsonWriter::Reals reals = JsonWriter::Reals::decimal) {
  std::string text;
  JsonWriter w(text, layout, reals);
  JsonFields(w).record(record);
  return text;
}

/// Rows of records, or of data that a lambda describes. Each field that is not a list or object is a column.
class RowFields : public Fields {
 public:
  using Fields::Fields;
  /// Passes on everything written so far.
  virtual void flush() {}
  /// The text of a table whose column widths are known only at the end; else empty.
  virtual std::string text() const { return {}; }
  /// Writes the heading, for a table that may have no rows.
  template <class T>
  void head(const T& r) {
    only_head_ = true;
    row(r);
    only_head_ = false;
  }
  template <class T>
  void row(const T& r) {
    begin_row();
    record(r);
    end_row();
  }
  /// Writes at most `most` rows, or the rows that a lambda describes.
  template <class Rows>
  void rows(const Rows& all, size_t most = SIZE_MAX) {
    for (const auto& r : all) {
      if (most-- == 0) return;
      row(r);
    }
  }
  template <class Rows, class Each, class = std::enable_if_t<!std::is_integral_v<Each>>>
  void rows(const Rows& all, const Each& each, size_t most = SIZE_MAX) {
    for (const auto& r : all) {
      if (most-- == 0) return;
      row([&] { each(r); });
    }
  }

 protected:
  void open(char) override { ++depth_; }
  void close(char) override { --depth_; }
  virtual void begin_row() {}
  virtual void end_row() = 0;
  int depth_ = 0;  // 1: in a row
  bool only_head_ = false;
};

/// Comma-separated values below a line with the fields' names. A text is quoted if necessary.
class CsvFields : public RowFields {
 public:
  enum class Reals {
    fixed,     ///< 8.000000
    shortest,  ///< 8, 100000
    json       ///< 8.0, 100000.0
  };
  explicit CsvFields(std::ostream& out, Reals reals = Reals::fixed) : RowFields(Form::csv), out_(out), reals_(reals) {}
  ~CsvFields() override { flush(); }
  void flush() override;

 protected:
  bool begin(std::string_view name, const Shown&, Kind) override;
  void scalar(const Scalar&) override;
  void end_row() override;

 private:
  /// Returns space for the next bytes of the rows.
  char* room(size_t bytes);
  void append(std::string_view text);

  std::ostream& out_;
  Reals reals_;
  bool headed_ = false;
  std::string head_, row_;  // row_: space, of which `end_` bytes are used
  size_t end_ = 0;
};

/// A table for people with the fields that have a heading. TextTable aligns the columns.
class TextFields : public RowFields {
 public:
  /// `title` replaces the first heading.
  explicit TextFields(size_t left, size_t indent = 0, std::string_view title = {})
      : RowFields(Form::text), table_(left, indent), title_(title) {}
  /// Writes each row at once, indented by that many blanks. Columns have fixed widths; negative widths align left.
  TextFields(std::ostream& out, size_t indent, std::string_view between, std::vector<int> widths)
      : RowFields(Form::text),
        table_(0),
        out_(&out),
        indent_(indent, ' '),
        between_(between),
        widths_(std::move(widths)) {}
  /// Empty if there are no rows.
  std::string text() const override { return table_.text(); }
  /// Writes an empty line and the table; nothing if there are no rows.
  void write_below(std::ostream&) const;

 protected:
  bool begin(std::string_view name, const Shown&, Kind) override;
  void scalar(const Scalar&) override;
  void begin_row() override { cells_.clear(); }
  void end_row() override;

 private:
  void add(const std::vector<std::string>& cells);

  TextTable table_;
  std::ostream* out_ = nullptr;
  std::string indent_, between_;
  std::vector<int> widths_;
  std::string title_;
  bool headed_ = false;
  Shown shown_;
  std::vector<std::string> head_, cells_;
};

/// A table that is written row by row in the form of `rows`. Without one it is a JSON list between `head` and `tail`.
class RowWriter {
 public:
  RowWriter(std::ostream& out, std::unique_ptr<RowFields> rows, std::string_view head);
  template <class T>
  void row(const T& r) {
    if (rows_) {
      rows_->row(r);
      rows_->flush();
    } else {
      begin();
      add_json(to_json(r));
    }
    out_.flush();
  }
  /// Writes the heading, for a table that may have no rows. JSON has none.
  template <class T>
  void head(const T& r) {
    if (rows_) rows_->head(r);
  }
  void end(std::string_view tail);

 private:
  /// Writes the head as late as possible, because an input error may still occur.
  void begin() { out_ << std::exchange(head_, {}); }
  void add_json(const std::string& row);

  std::ostream& out_;
  std::unique_ptr<RowFields> rows_;  // null: JSON
  std::string head_;
  bool first_ = true;
};

}  // namespace kernbench::phase2
