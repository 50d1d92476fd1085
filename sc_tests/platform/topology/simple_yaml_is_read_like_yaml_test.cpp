// SPDX-License-Identifier: Apache-2.0
// The scanner of simple YAML produces the events of yaml-cpp: for supplied files, and for files with random changes.
#include <gtest/gtest.h>
#include <yaml-cpp/eventhandler.h>
#include <yaml-cpp/yaml.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <random>
#include <sstream>
#include <string>
#include <vector>

#include "kernbench/platform/topology/read/yaml_scanner.h"

namespace kernbench::topology {
namespace {

/// Writes every event with its line and tag.
class Events : public YAML::EventHandler {
 public:
  std::string text;

  void OnDocumentStart(const YAML::Mark&) override {}
  void OnDocumentEnd() override {}
  void OnNull(const YAML::Mark& m, YAML::anchor_t) override { add("null", m); }
  void OnAlias(const YAML::Mark& m, YAML::anchor_t) override { add("alias", m); }
  void OnScalar(const YAML::Mark& m, const std::string& tag, YAML::anchor_t, const std::string& s) override {
    add(tag + "(" + s + ")", m);
  }
  void OnSequenceStart(const YAML::Mark& m, const std::string&, YAML::anchor_t, YAML::EmitterStyle::value) override {
    add("[", m);
  }
  void OnSequenceEnd() override { text += "]\n"; }
  void OnMapStart(const YAML::Mark& m, const std::string&, YAML::anchor_t, YAML::EmitterStyle::value) override {
    add("{", m);
  }
  void OnMapEnd() override { text += "}\n"; }

 private:
  void add(const std::string& what, const YAML::Mark& m) { text += std::to_string(m.line) + " " + what + "\n"; }
};

/// Events of yaml-cpp; or its error text if it refuses the document or finds a second one.
std::string events_of_library(const std::string& text) {
  std::istringstream in(text);
  Events events;
  try {
    YAML::Parser parser(in);
    if (!parser.HandleNextDocument(events)) return "nothing";
    Events second;
    if (parser.HandleNextDocument(second)) return "two documents";
  } catch (const YAML::Exception& e) {
    return e.what();
  }
  return events.text;
}

/// Whether the scanner accepts the text. Its events must then equal the library's.
bool taken(const std::string& text) {
  Events events;
  if (!scan_simple_yaml(text, events)) return false;
  EXPECT_EQ(events.text, events_of_library(text)) << text;
  return true;
}

std::vector<std::string> shipped_texts() {
  std::vector<std::string> texts;
  for (const auto& entry : std::filesystem::directory_iterator(KERNBENCH_TOPOLOGIES)) {
    if (entry.path().extension() != ".yaml") continue;
    std::ifstream in(entry.path());
    texts.emplace_back(std::istreambuf_iterator<char>(in), std::istreambuf_iterator<char>());
  }
  return texts;
}

TEST(SimpleYaml, ShippedTopologiesAreSimple) {
  size_t simple = 0;
  const std::vector<std::string> texts = shipped_texts();
  for (const std::string& text : texts) simple += taken(text) ? 1 : 0;
  EXPECT_GE(simple, 2 * texts.size() / 3) << "of " << texts.size();
}

TEST(SimpleYaml, ChangedTextsAreReadAlikeOrLeftToTheLibrary) {
  const std::string small =
      "a: 1\nb:\n- x: {k: 1.5, j: [a, 'b c', \"d\"]}  # note\n  y: -3\n- z: /p/q\nc: [1,  # one\n    {a: 2,\n     b: "
      "x}]\ne:\n  d: e f\n  'g': true\n";
  std::vector<std::string> texts = {small, small, small, small};
  for (const std::string& text : shipped_texts()) texts.push_back(text.substr(0, 1500));
  const std::string pieces = "ab1 :-?,[]{}#&*!|>'\"%@`~.\n\t\\/+_  \n- : ";
  std::mt19937 random(7);
  const auto below = [&](size_t n) { return std::uniform_int_distribution<size_t>(0, n - 1)(random); };
  size_t simple = 0;
  for (int i = 0; i < 4000; ++i) {
    std::string text = texts[below(texts.size())];
    for (size_t changes = 1 + below(3); changes > 0; --changes) {
      const size_t at = below(text.size());
      if (below(2) == 0) {
        text.insert(at, 1, pieces[below(pieces.size())]);
      } else if (below(2) == 0) {
        text[at] = pieces[below(pieces.size())];
      } else {
        text.erase(at, 1 + below(3));
      }
      if (text.empty()) text = "a";
    }
    simple += taken(text) ? 1 : 0;
    if (HasFailure()) return;
  }
  EXPECT_GE(simple, 500u);
}

}  // namespace
}  // namespace kernbench::topology
