// SPDX-License-Identifier: Apache-2.0
// The values that readers get from a YAML text: kinds, lines, quotes, order; and the faulty texts.
#include <gtest/gtest.h>

#include <string>
#include <utility>

#include "kernbench/platform/topology/read/yaml_tree.h"

namespace kernbench::topology {
namespace {

/// A value with its kinds, lines and texts, one word per value.
std::string written(YamlNode n) {
  const std::string line = "@" + std::to_string(n.line());
  if (n.is_null()) return "null" + line;
  if (n.is_scalar()) return (n.is_quoted() ? "'" : "") + std::string(n.text()) + line;
  std::string s = (n.is_map() ? "{" : "[") + line + " ";
  for (const YamlItem& item : n) {
    if (n.is_map()) s += written(item.key) + ": ";
    s += written(item.value) + " ";
  }
  return s + (n.is_map() ? "}" : "]") + std::to_string(n.size());
}

std::string read(const std::string& text) {
  FaultList faults("t.yaml");
  const YamlDocument document = parse_yaml(text, faults);
  if (faults.empty()) return written(document.root);
  try {
    faults.throw_if_any();
  } catch (const TopologyError& e) {
    return e.what();
  }
  return "";
}

TEST(YamlTree, KeepsKindsLinesQuotesAndOrder) {
  EXPECT_EQ(read("a: 1\n# note\nb:\n- x\n- 'y z'\n- {k: null, j: [.5,\n   2]}\nc: ~\n"),
            "{@1 a@1: 1@1 b@3: [@4 x@4 'y z@5 {@6 k@6: null@6 j@6: [@6 .5@6 2@7 ]2 }2 ]3 c@8: null@8 }3");
  EXPECT_EQ(read("k: 1\nk: 2\n"), "{@1 k@1: 1@1 k@2: 2@2 }2") << "who reads tells what stands there twice";
}

TEST(YamlTree, AnAliasIsTheValueAtItsAnchor) {
  EXPECT_EQ(read("a: &x {n: 1}\nb: *x\n"), "{@1 a@1: {@1 n@1: 1@1 }1 b@2: {@1 n@1: 1@1 }1 }2");
}

TEST(YamlTree, TellsWhatIsNoTopologyAtAll) {
  const std::string empty = "found an empty file; legal: YAML with values";
  const std::pair<std::string, std::string> texts[] = {
      {"", "1: " + empty},
      {"# only a note\n", "1: " + empty},
      {"~\n", "1: " + empty},
      {"a: 1\n---\nb: 2\n", "2: found a second YAML document, or stray text after the first; legal: one"},
      {"a: 1\nb: [1, 2\n", "3: found broken YAML: end of sequence flow not found; legal: YAML 1.2"},
      {std::string("a: 1\nb: \0\n", 10), "2: found byte 0 at offset 8: this is no text; legal: YAML in UTF-8"},
      {"a: 1\nb: \xc3(\n", "2: found byte 195 at offset 8: this is no text; legal: YAML in UTF-8"},
      {std::string(100'000, '['), "1: found values nested hundreds of levels deep; legal: fewer"}};
  for (const auto& [text, fault] : texts) EXPECT_EQ(read(text), "t.yaml:" + fault);
}

}  // namespace
}  // namespace kernbench::topology
