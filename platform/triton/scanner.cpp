// SPDX-License-Identifier: Apache-2.0
#include "kernbench/platform/triton/scanner.h"

#include <charconv>

#include "kernbench/phase2/op/errors.h"

namespace kernbench::triton {

namespace {

bool is_digit(char c) {
  return c >= '0' && c <= '9';
}
bool is_letter(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
}
bool is_hex(char c) {
  return is_digit(c) || (c >= 'a' && c <= 'f') || (c >= 'A' && c <= 'F');
}

}  // namespace

void Scanner::fail(const std::string& what) const {
  throw InputError(file_ + ":" + std::to_string(line_) + ": " + what);
}

void Scanner::expected(const std::string& what) const {
  size_t end = at_;
  while (end < text_.size() && text_[end] > ' ' && text_[end] < 127 && end - at_ < 40) ++end;
  const std::string found = text_.substr(at_, end - at_);
  const bool over = at_ >= text_.size();
  fail("found " +
       (over            ? "the end"
        : found.empty() ? "something unreadable"
                        : "'" + found + "'") +
       ", expected " + what);
}

void Scanner::skip() {
  for (; at_ < text_.size(); ++at_) {
    const char c = text_[at_];
    if (c == '\n') {
      ++line_;
    } else if (c == '/' && text_.compare(at_, 2, "//") == 0) {
      const size_t end = text_.find('\n', at_);
      at_ = (end == std::string::npos ? text_.size() : end) - 1;
    } else if (c != ' ' && c != '\t' && c != '\r') {
      return;
    }
  }
}

bool Scanner::at_end() {
  skip();
  return at_ >= text_.size();
}

char Scanner::peek() {
  skip();
  return at_ < text_.size() ? text_[at_] : '\0';
}

bool Scanner::take(std::string_view what) {
  skip();
  if (text_.compare(at_, what.size(), what) != 0) return false;
  at_ += what.size();
  return true;
}

void Scanner::require(std::string_view what) {
  if (!take(what)) expected("'" + std::string(what) + "'");
}

bool Scanner::at_word() {
  return is_letter(peek());
}

bool Scanner::take_word(std::string_view w) {
  skip();
  if (text_.compare(at_, w.size(), w) != 0) return false;
  const char next = at_ + w.size() < text_.size() ? text_[at_ + w.size()] : '\0';
  if (is_letter(next) || is_digit(next) || next == '.') return false;
  at_ += w.size();
  return true;
}

std::string Scanner::word(bool dotted) {
  if (!at_word()) expected("a word");
  const size_t begin = at_;
  while (at_ < text_.size() &&
         (is_letter(text_[at_]) || is_digit(text_[at_]) || text_[at_] == '$' || (dotted && text_[at_] == '.')))
    ++at_;
  return text_.substr(begin, at_ - begin);
}

std::string Scanner::name() {
  if (here('"')) return string();
  const size_t begin = at_;
  while (at_ < text_.size() &&
         (is_letter(text_[at_]) || is_digit(text_[at_]) || text_[at_] == '$' || text_[at_] == '.' || text_[at_] == '-'))
    ++at_;
  if (at_ == begin) expected("a name");
  return text_.substr(begin, at_ - begin);
}

std::string Scanner::string() {
  require("\"");
  std::string value;
  for (;; ++at_) {
    if (at_ >= text_.size() || text_[at_] == '\n') fail("found a string without its end, expected '\"'");
    const char c = text_[at_];
    if (c == '"') break;
    if (c != '\\') {
      value += c;
      continue;
    }
    const char next = at_ + 1 < text_.size() ? text_[at_ + 1] : '\0';
    if (next == 'n' || next == 't' || next == '\\' || next == '"') {
      value += next == 'n' ? '\n' : next == 't' ? '\t' : next;
      ++at_;
    } else if (at_ + 2 < text_.size() && is_hex(next) && is_hex(text_[at_ + 2])) {
      unsigned byte = 0;
      std::from_chars(text_.data() + at_ + 1, text_.data() + at_ + 3, byte, 16);
      value += static_cast<char>(byte);
      at_ += 2;
    } else {
      fail("found '\\' in a string, expected it before n, t, \\, \" or two hexadecimal digits");
    }
  }
  ++at_;
  return value;
}

bool Scanner::at_number() {
  const char c = peek();
  return is_digit(c) || (c == '-' && at_ + 1 < text_.size() && is_digit(text_[at_ + 1]));
}

std::string Scanner::number() {
  if (!at_number()) expected("a number");
  const size_t begin = at_;
  if (here('-')) ++at_;
  const auto digits_here = [this] {
    while (at_digit()) ++at_;
  };
  if (text_.compare(at_, 2, "0x") == 0 && at_ + 2 < text_.size() && is_hex(text_[at_ + 2])) {
    at_ += 2;
    while (at_ < text_.size() && is_hex(text_[at_])) ++at_;
    return text_.substr(begin, at_ - begin);
  }
  digits_here();
  if (here('.')) {
    ++at_;
    digits_here();
    if (here('e') || here('E')) {
      ++at_;
      if (here('-') || here('+')) ++at_;
      if (!at_digit()) expected("an exponent");
      digits_here();
    }
  }
  return text_.substr(begin, at_ - begin);
}

int64_t Scanner::digits() {
  int64_t n = 0;
  if (!at_digit()) expected("digits");
  for (; at_digit(); ++at_) {
    n = n * 10 + (text_[at_] - '0');
    if (n > int64_t{1} << 58) fail("found a number beyond 2^58");
  }
  return n;
}

void Scanner::skip_brackets() {
  std::string open;
  do {
    const char c = peek();
    if (c == '\0') expected("the end of what a bracket opens");
    if (c == '"') {
      string();
      continue;
    }
    if (c == '(' || c == '[' || c == '{' || c == '<') open += c;
    if (c == '-' && text_.compare(at_, 2, "->") == 0)
      ++at_;  // no closing bracket
    else if (c == ')' || c == ']' || c == '}' || c == '>') {
      const char wanted = c == ')' ? '(' : c == ']' ? '[' : c == '}' ? '{' : '<';
      if (open.empty() || open.back() != wanted) expected("another closing bracket");
      open.pop_back();
    }
    ++at_;
  } while (!open.empty());
}

void Scanner::skip_statement() {
  int open = 0;
  while (at_ < text_.size()) {
    const char c = text_[at_];
    if (c == '\n' && open == 0) return;
    if (c == '"') {
      string();
      continue;
    }
    if (c == '\n' || (c == '/' && text_.compare(at_, 2, "//") == 0)) {
      if (c == '/' && open == 0) {
        const size_t end = text_.find('\n', at_);
        at_ = end == std::string::npos ? text_.size() : end;
      } else {
        skip();
      }
      continue;
    }
    if (c == '{' || c == '(') ++open;
    if (c == '}' || c == ')') {
      if (open == 0) return;
      --open;
    }
    ++at_;
  }
}

bool parse_integer(const std::string& written, int64_t* value) {
  const bool negative = !written.empty() && written[0] == '-';
  const char* begin = written.data() + (negative ? 1 : 0);
  const char* end = written.data() + written.size();
  int base = 10;
  if (end - begin > 2 && begin[0] == '0' && begin[1] == 'x') {
    begin += 2;
    base = 16;
  }
  uint64_t n = 0;
  const auto [stop, error] = std::from_chars(begin, end, n, base);
  if (error != std::errc() || stop != end) return false;
  if (negative && n > uint64_t{1} << 63) return false;
  *value = static_cast<int64_t>(negative ? ~n + 1 : n);
  return true;
}

}  // namespace kernbench::triton
