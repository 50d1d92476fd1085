// SPDX-License-Identifier: Apache-2.0
// Does a shell read the intended words?
#include "kernbench/platform/run/spec/shell_words.h"

#include <gtest/gtest.h>

#include <cstdio>

namespace kernbench::sweep {
namespace {

TEST(ShellWords, AreReadAsTheyWereMeant) {
  const std::vector<std::string> words = {"plain-1.5,a=b",
                                          "",
                                          "it's",
                                          "two  blanks",
                                          "$HOME",
                                          "`ls`",
                                          "a\nb",
                                          "\\",
                                          "\"",
                                          "*",
                                          "~",
                                          "#",
                                          "-n",
                                          "'",
                                          "''",
                                          "!",
                                          "Ünï",
                                          "a;b",
                                          "<x>",
                                          "&"};
  std::string expected;
  for (const std::string& w : words) expected += "[" + w + "]";
  FILE* shell = popen(("printf '[%s]'" + spec::shell_words(words)).c_str(), "r");
  ASSERT_NE(shell, nullptr);
  std::string found(10'000, '\0');
  found.resize(fread(found.data(), 1, found.size(), shell));
  EXPECT_EQ(pclose(shell), 0);
  EXPECT_EQ(found, expected);
}

}  // namespace
}  // namespace kernbench::sweep
