// SPDX-License-Identifier: Apache-2.0
// The JSON writer, the JSON reader, and text functions beyond fmt.
#include <gtest/gtest.h>

#include <functional>

#include <cmath>
#include <cstdio>
#include <iomanip>
#include <limits>
#include <map>
#include <optional>
#include <random>
#include <sstream>
#include <string>
#include <variant>
#include <vector>

#include "kernbench/phase2/text/json_reader.h"
#include "kernbench/phase2/text/json_writer.h"
#include "kernbench/phase2/text/print.h"
#include "kernbench/phase2/text/table.h"
#include "kernbench/phase2/text/text.h"

namespace kernbench {
namespace {

using Layout = JsonWriter::Layout;
using Reals = JsonWriter::Reals;

std::string sample(Layout layout) {
  std::string text;
  JsonWriter w(text, layout);
  w.open('{').field("a", 1).key("b").open('[').value(2.5).value("x").open('{').close('}').close(']');
  w.key("c").open('[').close(']').key("d").null().field("e", true).key("f").open('{').close('}');
  w.close('}');
  return text;
}

TEST(JsonWriter, LaysOutWhatItIsGiven) {
  EXPECT_EQ(sample(Layout::compact), R"({"a":1,"b":[2.5,"x",{}],"c":[],"d":null,"e":true,"f":{}})");
  EXPECT_EQ(sample(Layout::spaced), R"({"a": 1, "b": [2.5, "x", {}], "c": [], "d": null, "e": true, "f": {}})");
  EXPECT_EQ(sample(Layout::indented),
            "{\n \"a\": 1,\n \"b\": [\n  2.5,\n  \"x\",\n  {}\n ],\n \"c\": [],\n \"d\": null,\n \"e\": true,\n"
            " \"f\": {}\n}");
}

TEST(JsonWriter, BeginsLinesWhereItIsTold) {
  for (const Layout layout : {Layout::compact, Layout::spaced}) {
    std::string text;
    JsonWriter w(text, layout);
    w.open('[').new_line(1).value(1).new_line(2).value(2).value(3).new_line(0).close(']');
    EXPECT_EQ(text, layout == Layout::compact ? "[\n 1,\n  2,3\n]" : "[\n 1,\n  2, 3\n]");
  }
}

TEST(JsonWriter, GoesOnWhereItsTextWasTakenAway) {
  std::string text, all;
  JsonWriter w(text);
  w.open('[');
  for (int i = 0; i < 3; ++i) {
    w.open('{').field("i", i).close('}');
    all += text;
    text.clear();
  }
  w.close(']');
  EXPECT_EQ(all + text, R"([{"i":0},{"i":1},{"i":2}])");
}

TEST(JsonWriter, TakesListsMapsAndWhatMayBeAbsent) {
  std::string text;
  JsonWriter w(text);
  w.open('[').value(std::vector<std::string>{"a", "b"}).value(std::map<std::string, double>{{"exp", 4}});
  w.value(std::optional<int>()).value(std::optional<int>(7)).value(std::monostate());
  w.value(std::variant<bool, std::string>("v")).close(']');
  EXPECT_EQ(text, R"([["a","b"],{"exp":4},null,7,null,"v"])");
}

TEST(JsonWriter, EscapesAndReplacesWhatIsNoText) {
  std::string text;
  JsonWriter(text).value(std::string("\"\\\n\t\x01µ\xff", 8));
  EXPECT_EQ(text, "\"\\\"\\\\\\n\\t\\u0001µ\uFFFD\"");
}

TEST(JsonWriter, WritesRealsInThreeForms) {
  const auto written = [](double v, Reals reals) {
    std::string text;
    JsonWriter(text, Layout::compact, reals).value(v);
    return text;
  };
  const double inf = std::numeric_limits<double>::infinity();
  struct {
    double v;
    const char *shortest, *pointed, *decimal;
  } const cases[] = {{0, "0", "0.0", "0.0"},
                     {8, "8", "8.0", "8.0"},
                     {0.1, "0.1", "0.1", "0.1"},
                     {1e5, "1e+05", "1e+05", "100000.0"},
                     {1e22, "1e+22", "1e+22", "1e+22"},
                     {-inf, "\"-inf\"", "\"-inf\"", "null"},
                     {std::nan(""), "\"nan\"", "\"nan\"", "null"}};
  for (const auto& c : cases) {
    EXPECT_EQ(written(c.v, Reals::shortest), c.shortest);
    EXPECT_EQ(written(c.v, Reals::pointed), c.pointed);
    EXPECT_EQ(written(c.v, Reals::decimal), c.decimal);
  }
}

std::string fixed(double v) {
  std::string text;
  append_fixed(text, v);
  return text;
}

TEST(Texts, SixDecimalsAreThoseOfPrintf) {
  const auto printed = [](double v) {
    char text[400];
    std::snprintf(text, sizeof text, "%.6f", v);
    return std::string(text);
  };
  std::mt19937_64 random(1);
  for (int i = 0; i < 200'000; ++i) {
    const auto bits = static_cast<double>(random() >> 11);
    // Times like those of runs; sums of halves of 1e-6, where rounding is critical; numbers of any size.
    for (const double v : {bits / 9e9, static_cast<double>(random() % 1'000'000'000) * 5e-7, std::ldexp(bits, -20)}) {
      ASSERT_EQ(fixed(v), printed(v < 5e-7 ? 0 : v));
      ASSERT_EQ(fixed(-v), printed(v < 5e-7 ? 0 : -v));
    }
  }
  for (const double v : {0.5, 1e12, 1e13, 123456789012345678.0, 1e300, -1e300, 5e-7, 4.9999e-7, -4.9e-7, -0.0})
    EXPECT_EQ(fixed(v), printed(std::abs(v) < 5e-7 ? 0 : v));
  EXPECT_LE(fixed(-std::numeric_limits<double>::max()).size(), kLongestFixed);
  EXPECT_EQ(fixed(std::nan("")), "nan");
  EXPECT_EQ(fixed(std::numeric_limits<double>::infinity()), "inf");
}

TEST(JsonReader, RefusesWhatNestsTooDeep) {
  const auto nested = [](size_t depth) { return std::string(depth, '[') + std::string(depth, ']'); };
  EXPECT_NO_THROW(parse_json<nlohmann::json>(nested(kDeepestJson)));
  EXPECT_THROW(parse_json<nlohmann::json>(nested(kDeepestJson + 1)), JsonFault);
  EXPECT_NO_THROW(parse_json<nlohmann::json>("[" + nested(1) + "," + nested(kDeepestJson - 1) + "]"));
  EXPECT_NO_THROW(parse_json<nlohmann::json>("[\"\\\"" + std::string(100, '[') + "\"]")) << "in a text they are none";
  EXPECT_THROW(parse_json<nlohmann::json>("]]["), JsonFault);
}

TEST(JsonReader, RefusesAKeyThatStandsTwiceInADocument) {
  EXPECT_THROW(parse_json_document<nlohmann::json>(R"({"a": 1, "b": {"c": 1, "c": 2}})"), JsonFault);
  EXPECT_EQ(parse_json_document<nlohmann::json>(R"({"a": {"a": 1}, "b": {"a": 2}})")["b"]["a"], 2);
}

std::string fault_of(const std::function<void()>& f) {
  try {
    f();
  } catch (const JsonFault& e) {
    return e.what();
  }
  return "no fault";
}

TEST(JsonReader, FaultsNameTheFieldInPlainWords) {
  using Json = nlohmann::json;
  EXPECT_EQ(fault_of([] { parse_json<Json>("{\"a\": }"); }).find("not JSON: at line 1, column 7: "), 0u);
  EXPECT_EQ(fault_of([] { parse_json<Json>("1e999"); }), "not JSON: number overflow parsing '1e999'");
  const Json j = {{"a", {{"n", -1}, {"list", {1, "x"}}}}, {"big", 18446744073709551615u}, {"s", std::string(70, 'y')}};
  const auto inside = [&](const auto& read) { return fault_of([&] { json_field(j, "a", read); }); };
  EXPECT_EQ(inside([](const Json& a) { return json_field<uint32_t>(a, "n"); }),
            "a: n: found -1, expected a whole number from 0 to 4294967295");
  EXPECT_EQ(inside([](const Json& a) { return json_field<bool>(a, "m"); }), "a: 'm' is missing");
  EXPECT_EQ(inside([](const Json& a) {
              return json_field(a, "list", [](const Json& l) { return json_items(l, json_value<int, Json>); });
            }),
            "a: list: [1]: found \"x\", expected a whole number from -2147483648 to 2147483647");
  EXPECT_EQ(
      fault_of([&] { json_field<int64_t>(j, "big"); }),
      "big: found 18446744073709551615, expected a whole number from -9223372036854775808 to 9223372036854775807");
  EXPECT_EQ(json_field<uint64_t>(j, "big"), 18446744073709551615u);
  EXPECT_EQ(fault_of([&] { json_field<double>(j, "s"); }),
            "s: found \"" + std::string(59, 'y') + "…, expected a number");
  EXPECT_EQ(fault_of([&] { json_field<int>(j["big"], "x"); }), "found 18446744073709551615, expected an object");
  EXPECT_EQ(json_field_or<int>(j, "none", 3), 3);
}

TEST(Texts, WhatGoesToATerminalIsEscaped) {
  EXPECT_EQ(escaped("plain 'text' – ü …"), "plain 'text' – ü …");
  EXPECT_EQ(escaped("a\nb\tc\r\x1b[31m\x7f"), "a\\nb\\tc\\r\\x1b[31m\\x7f");
  EXPECT_EQ(escaped(std::string("\0", 1)), "\\x00");
  EXPECT_EQ(escaped("\xc2\x9b"
                    "31m"),
            "\\xc2\\x9b31m")
      << "CSI, in UTF-8";
  for (const char* wrong : {"\xff", "\xc0\xaf", "\xe0\x80\x80", "\xed\xa0\x80", "\xf5\x80\x80\x80", "\xe2\x82", "\x80"})
    EXPECT_EQ(escaped(wrong).find("\\x"), 0u) << "no UTF-8";
  const std::string once = escaped("\x1b\xff\n");
  EXPECT_EQ(escaped(once), once);
}

TEST(Texts, GroupsDigitsAndQuotesWords) {
  EXPECT_EQ(grouped(0), "0");
  EXPECT_EQ(grouped(999), "999");
  EXPECT_EQ(grouped(12345678), "12,345,678");
  EXPECT_EQ(in_quotes(std::string(61, 'x')), "'" + std::string(60, 'x') + "…'");
  EXPECT_EQ(in_quotes("a\tb"), "'a\\tb'");
  EXPECT_EQ(cut("aüb", 2), "a…") << "no half character";
}

TEST(Texts, JoinsWordsOfAnyKind) {
  EXPECT_EQ(joined(std::vector<std::string>()), "");
  EXPECT_EQ(joined(std::vector<std::string>{"", "b", ""}), ", b, ") << "an empty word is one";
  constexpr const char* kWords[] = {"a", "b", "c"};
  EXPECT_EQ(joined(kWords, " or --"), "a or --b or --c");
}

TEST(Texts, PrintsToStreamsWhateverTheyHaveBeenToldBefore) {
  std::ostringstream out;
  out << std::setw(8) << std::setfill('0');
  print_to(out, "{:>{}} of {{{}}}", 3, 4, "ab");
  EXPECT_EQ(out.str(), "   3 of {ab}");
}

TEST(Json, IsReadAlikeWithKeysInOrderAndWithout) {
  const std::string text = R"({"b": [1, 2.5], "a": "\u00fc"})";
  EXPECT_EQ(json_text(parse_json<nlohmann::json>(text)), "{\"a\":\"ü\",\"b\":[1,2.5]}");
  EXPECT_EQ(json_text(parse_json_document<nlohmann::ordered_json>(text)), "{\"b\":[1,2.5],\"a\":\"ü\"}");
  EXPECT_THROW(parse_json_document<nlohmann::ordered_json>(R"({"a": 1, "a": 2})"), JsonFault);
  EXPECT_EQ(json_text(parse_json<nlohmann::json>(R"({"a": 1, "a": 2})")), "{\"a\":2}") << "not written by a person";
}

TEST(Texts, TablesAreAsWideAsTheirCells) {
  TextTable table(1, 2);
  table.add({"name", "ns", ""});
  table.add({"a", "1.25", "note"});
  table.add({"long name", "10"});
  EXPECT_EQ(table.text(), "  name         ns\n  a          1.25  note\n  long name    10\n");
}

TEST(Texts, AreCutAtEachSeparator) {
  using Parts = std::vector<std::string>;
  EXPECT_EQ(parts_between(',', "a,,b"), (Parts{"a", "", "b"}));
  EXPECT_EQ(parts_between(',', "a,"), (Parts{"a", ""}));
  EXPECT_EQ(parts_between(',', ""), Parts{""});
}

}  // namespace
}  // namespace kernbench
