// SPDX-License-Identifier: Apache-2.0
// If one preset of a DRAM has a timing, its sibling presets have it too, or the table of
// systemc_models/memory/README.md has "none" for them. The table's values equal those of the presets.
#include <gtest/gtest.h>

#include <fstream>
#include <map>
#include <sstream>

#include "dram_support.h"

namespace kernbench::testing {
namespace {

using Words = std::vector<std::string>;
using Table = std::map<std::string, std::map<std::string, std::string>>;  // by preset, by timing

std::string trimmed(const std::string& s) {
  const size_t first = s.find_first_not_of(' '), last = s.find_last_not_of(' ');
  return first == std::string::npos ? "" : s.substr(first, last - first + 1);
}

Words split(const std::string& text, char at) {
  Words all;
  std::istringstream in(text);
  for (std::string word; std::getline(in, word, at);) all.push_back(trimmed(word));
  return all;
}

/// The table whose head names the presets. Each row has one timing, or several separated by commas.
Table documented() {
  std::ifstream in(KERNBENCH_TEST_DATA "/../../systemc_models/memory/README.md");
  Table table;
  Words presets;
  for (std::string line; std::getline(in, line);) {
    const Words cells = split(line, '|');
    if (presets.empty() && line.rfind("| |", 0) == 0 && line.find(" hbm2 |") != std::string::npos)
      presets.assign(cells.begin() + 2, cells.end());
    if (presets.empty() || line.rfind("| t", 0) != 0) continue;
    const Words names = split(cells[1], ',');
    for (size_t p = 0; p < presets.size() && !presets[p].empty(); ++p) {
      const Words values = split(cells[2 + p], ',');
      EXPECT_EQ(values.size(), names.size()) << line;
      for (size_t i = 0; i < std::min(names.size(), values.size()); ++i) table[presets[p]][names[i]] = values[i];
    }
  }
  return table;
}

std::map<std::string, uint32_t> timings_of(const DramTiming& t) {
  std::map<std::string, uint32_t> all;
  HbmDramParameters::for_each_timing([&](const char* name, HbmDramParameters::Number HbmDramParameters::*,
                                         uint32_t DramTiming::*value, const char*, std::optional<Resource>,
                                         const char*) { all[name] = t.*value; });
  return all;
}

/// Faults of a preset: its timings compared with the table.
Words faults_of(const DramTiming& t, const std::map<std::string, std::string>& told) {
  Words faults;
  for (const auto& [name, value] : timings_of(t)) {
    const auto in_table = told.find(name);
    if (in_table == told.end()) {
      faults.push_back(name + " is not in the table");
    } else if (in_table->second != (value == 0 ? "none" : std::to_string(value))) {
      faults.push_back(name + " is " + std::to_string(value) + ", the table has " + in_table->second);
    }
  }
  return faults;
}

TEST(DramPresets, have_every_timing_of_their_siblings_or_say_that_there_is_none) {
  const Table table = documented();
  ASSERT_GE(table.size(), 3u);
  EXPECT_EQ(table.size(), dram_presets().size());
  for (const std::string& preset : dram_presets()) {
    ASSERT_EQ(table.count(preset), 1u) << preset << " has no column in systemc_models/memory/README.md";
    for (const std::string& fault : faults_of(dram_preset(preset).timing, table.at(preset)))
      ADD_FAILURE() << preset << ": " << fault;
    EXPECT_FALSE(fault_of(dram_preset(preset).timing, dram_preset(preset).geometry)) << preset;
  }
}

TEST(DramPresets, that_lack_a_timing_are_found) {
  const Table table = documented();
  for (const auto& [name, value] : timings_of(dram_preset("hbm3").timing)) {
    DramTiming t = dram_preset("hbm3").timing;
    HbmDramParameters::for_each_timing(
        [&, lacking = name](const char* each, HbmDramParameters::Number HbmDramParameters::*,
                            uint32_t DramTiming::*member, const char*, std::optional<Resource>, const char*) {
          if (each == lacking) t.*member = 0;
        });
    EXPECT_EQ(faults_of(t, table.at("hbm3")).size(), 1u) << name;
  }
}

}  // namespace
}  // namespace kernbench::testing
