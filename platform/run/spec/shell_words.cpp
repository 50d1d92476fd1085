// SPDX-License-Identifier: Apache-2.0
#include "kernbench/platform/run/spec/shell_words.h"

namespace kernbench::spec {

std::string shell_word(const std::string& word) {
  const bool plain = !word.empty() && word.find_first_not_of(
                                          "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"
                                          "_-=.,/:+%@") == std::string::npos;
  if (plain) return word;
  std::string quoted = "'";
  for (const char c : word) quoted += c == '\'' ? "'\\''" : std::string(1, c);
  return quoted + "'";
}

std::string shell_words(const std::vector<std::string>& words) {
  std::string text;
  for (const std::string& w : words) text += " " + shell_word(w);
  return text;
}

}  // namespace kernbench::spec
