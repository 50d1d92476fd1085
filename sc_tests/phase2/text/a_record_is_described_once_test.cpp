// SPDX-License-Identifier: Apache-2.0
// One description of a record gives its JSON, its CSV and its table for people, and reads the record back.
#include <gtest/gtest.h>

#include <sstream>

#include "kernbench/phase2/text/forms.h"
#include "kernbench/phase2/text/json_source.h"

namespace kernbench {
namespace {

enum class Colour { red, blue };
std::string_view name_of(Colour c) {
  return c == Colour::red ? "red" : "blue";
}
std::optional<Colour> parse_colour(std::string_view s) {
  for (const Colour c : {Colour::red, Colour::blue}) {
    if (name_of(c) == s) return c;
  }
  return std::nullopt;
}

struct Part {
  std::string id;
  uint8_t servers = 0;
  double busy_ns = 0;
  std::optional<double> limit;
  double twice() const { return 2 * busy_ns; }
};
void describe(Fields& f, Part& p) {
  f("id", p.id, {"part"})("servers", p.servers)("busy_ns", p.busy_ns, {"busy, us", 1, 1e-3})("twice_ns", p.twice());
  f("limit", p.limit, {"limit", 2});
}

struct Whole {
  std::string name;
  bool checked = false;
  std::vector<Part> parts;
  std::vector<std::pair<std::string, double>> costs;
  Colour colour = Colour::red;
  std::tuple<int, double> way{1, 2.5};
  std::string note;
  std::shared_ptr<const Part> first;
  std::vector<std::variant<std::monostate, bool, int64_t, double, std::string>> mixed;
  struct {
    int64_t low = -1, high = 1;
  } band;
};
void describe(Fields& f, Whole& w) {
  f("name", w.name)("checked", w.checked)("parts", w.parts)("costs", w.costs).word("colour", w.colour, parse_colour);
  f("way", w.way).given("note", w.note).given("first", w.first).given("mixed", w.mixed);
  f("band", [&] { f("low", w.band.low)("high", w.band.high); });
}

Whole sample() {
  Whole w;
  w.name = "a";
  w.checked = true;
  w.parts = {{"p", 200, 1500, 0.125}, {"longer", 1, 2e6, std::nullopt}};
  w.costs = {{"z", 1}, {"a", 2}};
  w.colour = Colour::blue;
  w.way = {7, 0.5};
  w.first = std::make_shared<Part>(w.parts[0]);
  w.mixed = {std::monostate(), true, int64_t{-3}, 2.5, std::string("x")};
  w.band = {-5, 5};
  return w;
}

std::string json_of(const Whole& w) {
  std::ostringstream out;
  write_json(out, w, JsonWriter::Layout::compact);
  return out.str();
}

TEST(Descriptions, GiveJson) {
  EXPECT_EQ(json_of(sample()),
            "{\"name\":\"a\",\"checked\":true,\"parts\":[{\"id\":\"p\",\"servers\":200,\"busy_ns\":1500.0,\"twice_ns\":"
            "3000.0,\"limit\":0.125},{\"id\":\"longer\",\"servers\":1,\"busy_ns\":2000000.0,\"twice_ns\":4000000.0,"
            "\"limit\":null}],\"costs\":{\"z\":1.0,\"a\":2.0},\"colour\":\"blue\",\"way\":[7,0.5],\"first\":{\"id\":"
            "\"p\",\"servers\":200,\"busy_ns\":1500.0,\"twice_ns\":3000.0,\"limit\":0.125},\"mixed\":[null,true,-3,2.5,"
            "\"x\"],\"band\":{\"low\":-5,"
            "\"high\":5}}\n");
}

TEST(Descriptions, GiveTheRecordBack) {
  const Whole back = read_record<Whole>(json_of(sample()));
  EXPECT_EQ(json_of(back), json_of(sample()));
  EXPECT_EQ(back.parts[0].servers, 200);
  EXPECT_EQ(back.mixed, sample().mixed);
  EXPECT_EQ(back.band.low, -5);
  EXPECT_EQ(back.note, "");
}

std::string fault_of(std::string json, const std::string& what, const std::string& with) {
  json.replace(json.find(what), what.size(), with);
  try {
    read_record<Whole>(json);
  } catch (const JsonFault& e) {
    return e.what();
  }
  return "none";
}

TEST(Descriptions, NameTheFieldThatCannotBeRead) {
  const std::string good = json_of(sample());
  EXPECT_EQ(fault_of(good, "\"longer\"", "5"), "parts: [1]: id: found 5, expected text");
  EXPECT_EQ(fault_of(good, "\"servers\":200", "\"servers\":256"),
            "parts: [0]: servers: found 256, which the field cannot have");
  EXPECT_EQ(fault_of(good, "\"blue\"", "\"green\""), "colour: found \"green\", which the field cannot have");
  EXPECT_EQ(fault_of(good, "\"high\"", "\"hig\""), "band: 'high' is missing");
  EXPECT_EQ(fault_of(good, "[7,0.5]", "[7]"), "way: [1]: is missing");
  EXPECT_EQ(fault_of(good, "[null,true", "[[],true"), "mixed: [0]: found [], which the field cannot have");
  EXPECT_EQ(fault_of(good, "[7,0.5]", "7"), "way: found 7, expected a list");
}

TEST(Descriptions, GiveCsvOfWhatIsNoList) {
  std::ostringstream out;
  CsvFields csv(out);
  csv.rows(sample().parts);
  csv.flush();
  EXPECT_EQ(out.str(),
            "id,servers,busy_ns,twice_ns,limit\np,200,1500.000000,3000.000000,0.125000\n"
            "longer,1,2000000.000000,4000000.000000,\n");
}

TEST(Descriptions, GiveCsvItsHeadWhereThereIsNoRow) {
  std::ostringstream out;
  CsvFields csv(out);
  csv.head(Whole());
  csv.flush();
  EXPECT_EQ(out.str(), "name,checked,colour\n");
}

TEST(Descriptions, GiveATableOfWhatHasAHeading) {
  TextFields t(1, 1);
  t.rows(sample().parts);
  EXPECT_EQ(t.text(), " part    busy, us  limit\n p            1.5   0.12\n longer    2000.0      -\n");
}

TEST(Descriptions, GiveLinesOfFixedWidthsAsTheyCome) {
  std::ostringstream out;
  TextFields t(out, 1, "|", {-4, 10, 6});
  t.rows(sample().parts, 1);
  EXPECT_EQ(out.str(), " part|  busy, us| limit\n p   |       1.5|  0.12\n");
}

TEST(Descriptions, QuoteInCsvWhatMustBe) {
  std::ostringstream out;
  CsvFields csv(out, CsvFields::Reals::json);
  csv.row([&] { csv("a,b", "x \"y\"")("plain", "x y")("no", std::optional<double>())("v", 8.0)("on", true); });
  csv.flush();
  EXPECT_EQ(out.str(), "\"a,b\",plain,no,v,on\n\"x \"\"y\"\"\",x y,,8.0,true\n");
}

TEST(Descriptions, GiveATableRowByRowInEachForm) {
  const auto table = [](std::unique_ptr<RowFields> rows, std::ostream& out) {
    RowWriter w(out, std::move(rows), "{\"rows\": [");
    w.head(Part());
    for (const Part& p : sample().parts) w.row(p);
    w.end("]}\n");
  };
  std::ostringstream json, csv, text;
  table(nullptr, json);
  table(std::make_unique<CsvFields>(csv, CsvFields::Reals::shortest), csv);
  table(std::make_unique<TextFields>(1), text);
  EXPECT_EQ(json.str(),
            "{\"rows\": [\n {\"id\":\"p\",\"servers\":200,\"busy_ns\":1500.0,\"twice_ns\":3000.0,\"limit\":0.125},\n"
            " {\"id\":\"longer\",\"servers\":1,\"busy_ns\":2000000.0,\"twice_ns\":4000000.0,\"limit\":null}\n]}\n");
  EXPECT_EQ(csv.str(), "id,servers,busy_ns,twice_ns,limit\np,200,1500,3000,0.125\nlonger,1,2000000,4000000,\n");
  EXPECT_EQ(text.str(), "part    busy, us  limit\np            1.5   0.12\nlonger    2000.0      -\n");
}

TEST(Descriptions, GiveJsonLinesOfTheirOwn) {
  std::ostringstream out;
  JsonFields f(out, JsonWriter::Layout::spaced, JsonWriter::Reals::fixed);
  const std::vector<double> all = {1, 2};
  f.document([&] { f("a", 1).lines(1, 0).each("b", all, [&](double v) { f("v", v); }); });
  EXPECT_EQ(out.str(), "{\"a\": 1, \"b\": [\n {\"v\": 1.000000},\n {\"v\": 2.000000}\n]}\n");
}

}  // namespace
}  // namespace kernbench
