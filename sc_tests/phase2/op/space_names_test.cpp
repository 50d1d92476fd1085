// SPDX-License-Identifier: Apache-2.0
// Address spaces by name: built-in ones, added ones, and illegal names.
#include <gtest/gtest.h>

#include <algorithm>
#include <stdexcept>

#include "kernbench/phase2/op/space.h"

namespace kernbench::testing::space_names {
namespace {

TEST(SpaceNames, of_standard_spaces_are_those_of_the_contract) {
  for (const auto& [name, space] : {std::pair("hbm", Space::hbm), {"sram", Space::sram}, {"tcm", Space::tcm}}) {
    EXPECT_EQ(parse_space(name), space);
    EXPECT_EQ(add_space(name), space);
    EXPECT_EQ(name_of(space), name);
  }
  const auto memories = memory_spaces();
  EXPECT_EQ(std::count(memories.begin(), memories.end(), "tcm"), 0) << "a PE's own";
}

TEST(SpaceNames, are_added_once) {
  EXPECT_THROW(parse_space("space_names_new"), std::invalid_argument);
  const Space added = add_space("space_names_new");
  EXPECT_EQ(add_space("space_names_new"), added);
  EXPECT_EQ(parse_space("space_names_new"), added);
  EXPECT_EQ(name_of(added), "space_names_new");
  EXPECT_EQ(memory_spaces().back(), "space_names_new");
}

TEST(SpaceNames, are_small_words) {
  for (const char* bad : {"", "Reg", "9", "_a", "a-b", "a b", "a\n", "r\xc3\xa9g"}) {
    EXPECT_FALSE(is_space_name(bad)) << bad;
    EXPECT_THROW(add_space(bad), std::invalid_argument) << bad;
  }
  EXPECT_TRUE(is_space_name(std::string(31, 'r')));
  EXPECT_FALSE(is_space_name(std::string(32, 'r')));
}

}  // namespace
}  // namespace kernbench::testing::space_names
