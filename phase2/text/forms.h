// SPDX-License-Identifier: Apache-2.0
// The forms in which described records are written (fields.h), one class each. A page's data is JsonFields in it.
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
  /// Behind what the writer has written already; of a record the object, by record().
  explicit JsonFields(JsonWriter& writer) : Fields(Form::json), w_(writer) {}
  /// A document of its own: hands its text to `out` as it grows.
  explicit JsonFields(std::ostream& out, JsonWriter::Layout layout = JsonWriter::Layout::indented,
                      JsonWriter::Reals reals = JsonWriter::Reals::decimal)
      : Fields(Form::json), out_(&out), own_(text_, layout, reals), w_(own_) {}
  /// All of such a document.
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
  std::vector<Lines> lines_;  // by list and object that is open
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

/// Rows of records, or of what a lambda describes: their fields that are no lists or objects, one a column.
class RowFields : public Fields {
 public:
  using Fields::Fields;
  /// Hands over what is written so far.
  virtual void flush() {}
  /// Of a table that has its width at the end alone; else empty.
  virtual std::string text() const { return {}; }
  /// What stands above the rows, where there may be none.
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
  /// The first of them, at most so many; or of each what a lambda describes.
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

/// Comma-separated values below a line of the fields' names; a text is quoted where it must be.
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
  /// Where the next bytes of the rows go.
  char* room(size_t bytes);
  void append(std::string_view text);

  std::ostream& out_;
  Reals reals_;
  bool headed_ = false;
  std::string head_, row_;  // row_: room of which `end_` bytes are written
  size_t end_ = 0;
};

/// A table for people: of the fields that have a heading. Columns as TextTable aligns them.
class TextFields : public RowFields {
 public:
  /// `title` stands for the first heading.
  explicit TextFields(size_t left, size_t indent = 0, std::string_view title = {})
      : RowFields(Form::text), table_(left, indent), title_(title) {}
  /// Lines that go out row by row behind so many blanks: columns of fixed widths, negative ones aligned left.
  TextFields(std::ostream& out, size_t indent, std::string_view between, std::vector<int> widths)
      : RowFields(Form::text),
        table_(0),
        out_(&out),
        indent_(indent, ' '),
        between_(between),
        widths_(std::move(widths)) {}
  /// Empty where there is no row.
  std::string text() const override { return table_.text(); }
  /// The table below an empty line; nothing where there is no row.
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

/// A table that goes out row by row: in such a form; without one as a list of JSON between `head` and `tail`.
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
  /// Of a form that is no JSON what stands above the rows, where there may be none.
  template <class T>
  void head(const T& r) {
    if (rows_) rows_->head(r);
  }
  void end(std::string_view tail);

 private:
  /// Writes what stands above the rows, as late as possible: input may still turn out to be bad.
  void begin() { out_ << std::exchange(head_, {}); }
  void add_json(const std::string& row);

  std::ostream& out_;
  std::unique_ptr<RowFields> rows_;  // null: JSON
  std::string head_;
  bool first_ = true;
};

}  // namespace kernbench::phase2
