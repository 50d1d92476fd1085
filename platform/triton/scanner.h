// SPDX-License-Identifier: Apache-2.0
// Characters, words and numbers of a text in MLIR's assembly, and how faults in it are told.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace kernbench::triton {

class Scanner {
 public:
  /// Both outlive the scanner.
  Scanner(const std::string& file, const std::string& text) : file_(file), text_(text) {}

  /// InputError: "FILE:LINE: WHAT".
  [[noreturn]] void fail(const std::string& what) const;
  /// The same, of what stands here instead of what was expected.
  [[noreturn]] void expected(const std::string& what) const;

  /// Over spaces and comments.
  void skip();
  bool at_end();
  int line() const { return line_; }
  size_t position() const { return at_; }
  /// The next character, behind spaces; 0 at the end.
  char peek();
  /// Whether that text comes next, and over it if so.
  bool take(std::string_view what);
  void require(std::string_view what);
  /// Whether a whole word comes next, and over it if so.
  bool take_word(std::string_view word);
  bool at_word();
  /// Letters, digits, _ . $ -, not beginning with a digit. Dots only where `dotted`.
  std::string word(bool dotted = true);
  /// What follows % ^ @ or #: letters, digits, _ . $ -; or a string.
  std::string name();
  /// In quotes, with \n, \\, \" and \XX.
  std::string string();
  bool at_number();
  /// "-12", "0x1F", "1.5e-3" as written.
  std::string number();
  /// Digits alone, of which the value is below 2^62.
  int64_t digits();
  bool at_digit() const { return at_ < text_.size() && text_[at_] >= '0' && text_[at_] <= '9'; }
  bool here(char c) const { return at_ < text_.size() && text_[at_] == c; }
  void step() { ++at_; }
  /// From an opening bracket to behind the closing one; strings and nested brackets are passed over.
  void skip_brackets();
  /// To the end of the line on which nothing is open any more.
  void skip_statement();

 private:
  const std::string& file_;
  const std::string& text_;
  size_t at_ = 0;
  int line_ = 1;
};

/// An integer as written, of at most 64 bits. False: it is none.
bool parse_integer(const std::string& written, int64_t* value);

}  // namespace kernbench::triton
