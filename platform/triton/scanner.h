// SPDX-License-Identifier: Apache-2.0
// Characters, words and numbers of a text in MLIR's assembly, and the messages for errors in it.
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
  /// The same for an unexpected token, which it quotes.
  [[noreturn]] void expected(const std::string& what) const;

  /// Skips spaces and comments.
  void skip();
  bool at_end();
  int line() const { return line_; }
  size_t position() const { return at_; }
  /// The next character after spaces; 0 at the end.
  char peek();
  /// Whether that text comes next; if so, skips it.
  bool take(std::string_view what);
  void require(std::string_view what);
  /// Whether that whole word comes next; if so, skips it.
  bool take_word(std::string_view word);
  bool at_word();
  /// Letters, digits, _ . $ -, not starting with a digit. Dots only if `dotted`.
  std::string word(bool dotted = true);
  /// The name after % ^ @ or #: letters, digits, _ . $ -; or a string.
  std::string name();
  /// A quoted string with \n, \\, \" and \XX.
  std::string string();
  bool at_number();
  /// "-12", "0x1F", "1.5e-3" as written.
  std::string number();
  /// Digits only; the value is below 2^62.
  int64_t digits();
  bool at_digit() const { return at_ < text_.size() && text_[at_] >= '0' && text_[at_] <= '9'; }
  bool here(char c) const { return at_ < text_.size() && text_[at_] == c; }
  void step() { ++at_; }
  /// From an opening bracket to after the closing one, across strings and nested brackets.
  void skip_brackets();
  /// To the end of the first line on which no bracket is open.
  void skip_statement();

 private:
  const std::string& file_;
  const std::string& text_;
  size_t at_ = 0;
  int line_ = 1;
};

/// Parses an integer of at most 64 bits. False: no integer.
bool parse_integer(const std::string& written, int64_t* value);

}  // namespace kernbench::triton
