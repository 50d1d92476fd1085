// The fast reader of plain YAML either leaves a text to yaml-cpp or gives the same values on the same lines.
#include <gtest/gtest.h>

#include <exception>
#include <random>
#include <string>
#include <vector>

#include "kernbench/platform/topology/read/yaml_tree.h"

namespace kernbench::topology {
namespace {

/// A value with its kinds, lines and texts, one word a value.
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

std::string by_yaml_cpp(const std::string& text) {
  FaultList faults("test.yaml");
  try {
    const YamlDocument document = parse_any_yaml(text, faults);
    return faults.empty() ? written(document.root()) : "no document";
  } catch (const std::exception& e) {
    return e.what();
  }
}

/// Whether the fast reader took the text; if it did, both must agree.
bool taken(const std::string& text) {
  const auto plain = parse_plain_yaml(text);
  if (!plain) return false;
  EXPECT_EQ(written(plain->root()), by_yaml_cpp(text)) << "in:\n" << text;
  return true;
}

class RandomYaml {
 public:
  explicit RandomYaml(unsigned seed) : random_(seed) {}

  std::string document() {
    std::string text;
    map(text, 0, false, 0);
    return text;
  }
  size_t below(size_t n) { return random_() % n; }

 private:
  std::string word() {
    static const std::vector<std::string> words = {"a",    "id",  "sip0.cube1.pe2", "-1",   "1e+12",         ".5",
                                                   "null", "r_0", "true",           "0x1f", "1099511627776", "-a",
                                                   "+3",   "b-c", "NULL",           "x9"};
    return words[below(words.size())];
  }
  std::string key() { return std::string(1, static_cast<char>('a' + below(26))) + std::to_string(below(100)); }

  std::string flow(int depth) {
    const size_t kind = below(depth > 2 ? 1 : 4);
    if (kind < 2) return word();
    std::string s(1, kind == 2 ? '{' : '[');
    const size_t items = below(4);
    for (size_t i = 0; i < items; ++i) {
      if (i > 0) s += below(8) > 0 ? ", " : ",\n" + std::string(below(30), ' ');
      s += (kind == 2 ? key() + ": " : "") + flow(depth + 1);
    }
    return s + (kind == 2 ? "}" : "]");
  }

  void value_of_key(std::string& text, size_t indent, int depth) {
    const size_t kind = below(depth > 3 ? 1 : 4);
    if (kind < 2) {
      text += " " + flow(0) + "\n";
    } else if (kind == 2) {
      text += "\n";
      map(text, indent + 1 + below(3), false, depth + 1);
    } else {
      text += "\n";
      list(text, indent + below(3), depth + 1);
    }
  }

  void map(std::string& text, size_t indent, bool first_is_placed, int depth) {
    const size_t keys = 1 + below(4);
    for (size_t i = 0; i < keys; ++i) {
      if (below(12) == 0 && !(i == 0 && first_is_placed))
        text += std::string(below(9), ' ') + (below(2) ? "# note\n" : "\n");
      text += (i == 0 && first_is_placed ? "" : std::string(indent, ' ')) + key() + ":";
      value_of_key(text, indent, depth);
    }
  }

  void list(std::string& text, size_t indent, int depth) {
    const size_t items = 1 + below(4);
    for (size_t i = 0; i < items; ++i) {
      text += std::string(indent, ' ') + "- ";
      if (depth < 4 && below(2) == 0)
        map(text, indent + 2, true, depth + 1);
      else
        text += flow(0) + "\n";
    }
  }

  std::mt19937 random_;
};

TEST(PlainYaml, ReadsWhatProgramsWriteAsYamlCppDoes) {
  size_t fast = 0;
  for (unsigned seed = 0; seed < 2000; ++seed) fast += taken(RandomYaml(seed).document());
  EXPECT_GT(fast, 1500u);  // not where a wrapped list stands too far left
}

TEST(PlainYaml, ATextWithALetterChangedIsReadAlikeOrLeftToYamlCpp) {
  const std::string letters = " -:{}[],#\n'\"&*!|>%@`?a1.~\t";
  size_t fast = 0;
  for (unsigned seed = 0; seed < 2000; ++seed) {
    RandomYaml random(seed);
    std::string text = random.document();
    for (size_t changes = 1 + random.below(3); changes > 0; --changes) {
      const size_t at = random.below(text.size());
      const char c = letters[random.below(letters.size())];
      if (random.below(3) == 0)
        text.erase(at, 1);
      else if (random.below(2) == 0)
        text.insert(at, 1, c);
      else
        text[at] = c;
      if (text.empty()) text = "a";
    }
    fast += taken(text);
  }
  EXPECT_GT(fast, 100u);  // some changes leave a text plain
}

TEST(PlainYaml, TakesTheFormsOfFlatTopologies) {
  EXPECT_TRUE(
      taken("ns_per_mm: 0.01\nnodes:\n- id: a\n  kind: router\n  attrs: {overhead_ns: 2.0}\n- id: b\n"
            "  attrs:\n    lanes: 16\n    cycles: {exp: 4, gelu: 6}\nlinks:\n- {from: a, to: b, bw_gbs: null}\n"));
  EXPECT_TRUE(taken("nodes:\n  - {id: a, attrs: {}}\n  # a note\n\n  - {id: b, at: [r0c0, r1c1]}\n"));
}

TEST(PlainYaml, LeavesWhatIsSpecialToYamlCpp) {
  for (const char* text : {"",
                           "a",
                           "a: 'b'\n",
                           "a: b # c\n",
                           "a: b c\n",
                           "a: b\n  c\n",
                           "a: {b: c\n",
                           "a: |\n  b\n",
                           "a: &x b\n",
                           "a: !!str b\n",
                           "a:\n",
                           "a: ~\n",
                           "---\na: b\n",
                           "a: b\n...\n",
                           "a: b\nc\n",
                           "a: b\r\n",
                           "a:\tb\n",
                           "? a\n: b\n",
                           "a: {b}\n",
                           "a: [b: c]\n",
                           "null: a\n",
                           "a: b:c\n"})
    EXPECT_FALSE(taken(text)) << text;
}

}  // namespace
}  // namespace kernbench::topology
