// SPDX-License-Identifier: Apache-2.0
#include "kernbench/phase2/text/forms.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <ostream>

#include "kernbench/phase2/text/text.h"

namespace kernbench::phase2 {
namespace {

constexpr size_t kFlush = 32'768;

/// The value that a scalar's pointer refers to.
template <class T>
const T& value_of(const T& v) {
  return v;
}
template <class T>
const T& value_of(T* v) {
  return *v;
}

/// The text as a cell, quoted if necessary.
std::string in_csv(std::string_view text) {
  std::string cell = "\"";
  for (const char c : text) cell.append(c == '"' ? 2 : 1, c);
  return cell + '"';
}

bool needs_quotes(std::string_view text) {
  const auto has = [&](char c) { return std::memchr(text.data(), c, text.size()) != nullptr; };
  return !text.empty() && (has(',') || has('"') || has('\n'));
}

/// Never prints "-0.000" if signs are off.
std::string shown_text(double v, const Shown& how) {
  v *= how.times;
  if (how.sign) return fmt::format("{:+.{}f}", v, how.digits);
  const int digits = how.digits;
  return fmt::format("{:.{}f}", std::abs(v) < 0.5 * std::pow(10, -digits) ? 0 : v, digits);
}

}  // namespace

void Fields::refuse() {
  std::abort();  // writing forms never read
}

void JsonFields::end() {
  *out_ << text_ << '\n';
  text_.clear();
}

JsonFields& JsonFields::line(int blanks) {
  w_.new_line(blanks);
  return *this;
}

JsonFields& JsonFields::lines(int blanks, int end) {
  next_lines_ = {blanks, end};
  return *this;
}

bool JsonFields::begin(std::string_view name, const Shown&, Kind) {
  if (!name.empty()) w_.key(name);
  return true;
}

void JsonFields::scalar(const Scalar& s) {
  std::visit(
      [&](const auto& at) {
        const auto& v = value_of(at);
        if constexpr (std::is_same_v<decltype(v), const RawJson&>) {
          w_.raw(v.text);
        } else {
          w_.value(v);
        }
      },
      s);
}

void JsonFields::open(char bracket) {
  w_.open(bracket);
  lines_.push_back(bracket == '[' ? std::exchange(next_lines_, Lines()) : Lines());
}

void JsonFields::close(char bracket) {
  if (lines_.back().end >= 0) w_.new_line(lines_.back().end);
  lines_.pop_back();
  w_.close(bracket);
}

void JsonFields::item(size_t) {
  if (lines_.back().items >= 0) w_.new_line(lines_.back().items);
  if (!out_ || text_.size() < kFlush) return;
  *out_ << text_;
  text_.clear();
}

bool CsvFields::begin(std::string_view name, const Shown&, Kind kind) {
  if (depth_ != 1 || kind >= Kind::whole) return false;
  if (!headed_) (head_ += head_.empty() ? "" : ",") += needs_quotes(name) ? in_csv(name) : name;
  return true;
}

char* CsvFields::room(size_t bytes) {
  if (row_.size() - end_ < bytes) row_.resize(2 * (row_.size() + bytes));
  return row_.data() + end_;
}

void CsvFields::append(std::string_view text) {
  char* const to = room(text.size());
  std::copy(text.begin(), text.end(), to);
  end_ += text.size();
}

void CsvFields::scalar(const Scalar& s) {
  if (depth_ != 1) return;
  std::visit(
      [&](const auto& at) {
        const auto& v = value_of(at);
        using V = std::decay_t<decltype(v)>;
        if constexpr (std::is_same_v<V, double>) {
          if (reals_ != Reals::fixed) return append(reals_ == Reals::shortest ? fmt::format("{}", v) : to_json(v));
          char* const to = room(kLongestFixed);
          end_ += static_cast<size_t>(write_fixed(to, v) - to);
        } else if constexpr (std::is_same_v<V, bool>) {
          append(v ? "true" : "false");
        } else if constexpr (std::is_integral_v<V>) {
          const fmt::format_int digits(v);
          append({digits.data(), digits.size()});
        } else if constexpr (std::is_same_v<V, RawJson>) {
          append(v.text);
        } else if constexpr (std::is_convertible_v<V, std::string_view>) {
          needs_quotes(v) ? append(in_csv(v)) : append(v);
        }
      },
      s);
  *room(1) = ',';
  ++end_;
}

void CsvFields::end_row() {
  row_[end_ - 1] = '\n';
  if (only_head_) end_ = 0;
  if (!headed_) out_ << head_ << '\n';
  headed_ = true;
  if (end_ > kFlush) flush();
}

void CsvFields::flush() {
  out_.write(row_.data(), static_cast<std::streamsize>(end_));
  end_ = 0;
}

bool TextFields::begin(std::string_view, const Shown& shown, Kind kind) {
  if (depth_ != 1 || kind >= Kind::whole || !shown.heading.data()) return false;
  shown_ = shown;
  if (!headed_) head_.emplace_back(shown.heading);
  return true;
}

void TextFields::scalar(const Scalar& s) {
  if (depth_ != 1) return;
  std::visit(
      [&](const auto& at) {
        const auto& v = value_of(at);
        using V = std::decay_t<decltype(v)>;
        if constexpr (std::is_same_v<V, double>) {
          cells_.push_back(shown_text(v, shown_));
        } else if constexpr (std::is_arithmetic_v<V>) {
          cells_.push_back(std::to_string(v));
        } else if constexpr (std::is_convertible_v<V, std::string_view>) {
          cells_.emplace_back(v);
        } else {
          cells_.emplace_back(shown_.none);
        }
      },
      s);
}

void TextFields::end_row() {
  if (!headed_ && !title_.empty()) head_[0] = title_;
  if (!headed_) add(head_);
  headed_ = true;
  if (!only_head_) add(cells_);
}

void TextFields::add(const std::vector<std::string>& cells) {
  if (!out_) return table_.add(cells);
  std::string line = indent_;
  for (size_t c = 0; c < cells.size(); ++c) {
    if (c > 0) line += between_;
    line += widths_[c] < 0 ? fmt::format("{:<{}}", cells[c], -widths_[c]) : fmt::format("{:>{}}", cells[c], widths_[c]);
  }
  *out_ << line << '\n';
}

void TextFields::write_below(std::ostream& out) const {
  if (headed_) out << '\n' << text();
}

RowWriter::RowWriter(std::ostream& out, std::unique_ptr<RowFields> rows, std::string_view head)
    : out_(out), rows_(std::move(rows)), head_(rows_ ? "" : head) {}

void RowWriter::add_json(const std::string& row) {
  out_ << (first_ ? "\n " : ",\n ") << row;
  first_ = false;
}

void RowWriter::end(std::string_view tail) {
  begin();
  out_ << (rows_ ? rows_->text() : "\n" + std::string(tail)) << std::flush;
}

}  // namespace kernbench::phase2
