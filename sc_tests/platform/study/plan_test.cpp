// SPDX-License-Identifier: Apache-2.0
// Are plans read correctly, and wrong ones refused with line and field?
#include "kernbench/platform/study/sweep/plan.h"

#include <gtest/gtest.h>

#include "kernbench/phase2/op/errors.h"
#include "kernbench/platform/topology/graph/faults.h"

namespace kernbench::sweep {
namespace {

constexpr const char* kHead = "options:\n  topology: small.yaml\n  kernel: gemm\n";

std::vector<std::string> faults_of(const std::string& text) {
  std::vector<std::string> lines;
  try {
    parse_plan(text, "p.yaml");
  } catch (const topology::TopologyError& e) {
    for (const auto& f : e.faults()) lines.push_back(f.to_string());
  }
  return lines;
}

TEST(Plan, SaysWhatItsFileSays) {
  const Plan plan =
      parse_plan(std::string(kHead) +
                     "  verify: true\n  check-races: false\n  plugin: [a.so, b.so]\n"
                     "over:\n  links: [ideal, flit]\n  param.n: {from: 64, to: 192, step: 64}\n"
                     "  set.edge:mesh.bw_gbs: {from: 16, to: 64, factor: 2}\n"
                     "where:\n  - param.n <> 128 or links = 'flit'\n  - \"\\\"set.edge:mesh.bw_gbs\\\" < 64\"\n",
                 "p.yaml");
  EXPECT_EQ(plan.command, (Words{"run", "--topology", "small.yaml", "--kernel", "gemm", "--verify", "--plugin", "a.so",
                                 "--plugin", "b.so"}));
  const auto points = points_of(plan);
  ASSERT_EQ(points.size(), (3 * 2 - 1) * 2u);
  EXPECT_EQ(points[0].name(plan.axes), "links=ideal param.n=64 set.edge:mesh.bw_gbs=16");
  const Words words = points[0].words(plan);
  EXPECT_EQ(Words(words.end() - 6, words.end()),
            (Words{"--links", "ideal", "--param", "n=64", "--set", "edge:mesh.bw_gbs=16"}));
}

TEST(Plan, AModelAmongItsOptionsMakesModelsOfItsPoints) {
  const Plan plan = parse_plan(
      "options: {model: config.json, topology: small.yaml, repeat: true}\n"
      "over:\n  phase: ['prefill:8', 'decode:batch=2,context=8']\n  tp: [1, 2]\n",
      "p.yaml");
  EXPECT_EQ(plan.command, (Words{"model", "--model", "config.json", "--topology", "small.yaml", "--repeat"}));
  const Words words = points_of(plan).back().words(plan);
  EXPECT_EQ(Words(words.end() - 4, words.end()), (Words{"--phase", "decode:batch=2,context=8", "--tp", "2"}));
  EXPECT_EQ(parse_plan("over: {model: [a.json, b.json]}\n", "p.yaml").command, Words{"model"});
  // Options of a model are not options of a kernel, and the reverse.
  EXPECT_EQ(faults_of("options: {model: c.json}\nover: {kernel: [gemm]}\n").at(0).substr(0, 38),
            "p.yaml:2: over.kernel: unknown option;");
  EXPECT_EQ(faults_of("options: {kernel: gemm}\nover: {tp: [1]}\n").at(0).substr(0, 34),
            "p.yaml:2: over.tp: unknown option;");
}

TEST(Axis, HasValuesBetweenCommasThatAreInNoBraces) {
  EXPECT_EQ(parse_axis("set.file:cube.pe_layout={count: 4, at: [r0c0, r0c1]},{count: 8}").values,
            (Words{"{count: 4, at: [r0c0, r0c1]}", "{count: 8}"}));
  EXPECT_EQ(parse_axis("a=x},y,{z").values, (Words{"x}", "y", "{z"}));  // an unclosed group extends to the end
  EXPECT_EQ(parse_axis("a={b,c").values, Words{"{b,c"});
  for (const char* wrong : {"a", "=x", "-a=x", "a=", "a=x,", "a=,x", "a={x},,y"})
    EXPECT_THROW(parse_axis(wrong), InputError) << wrong;
}

TEST(Plan, StepsThatAreNoSumsOfPowersOfTwoEndWhereTheyShould) {
  const Plan plan = parse_plan(std::string(kHead) + "over:\n  set.x.y: {from: 0.1, to: 0.3, step: 0.1}\n", "p.yaml");
  EXPECT_EQ(plan.axes[0].values, (Words{"0.1", "0.2", "0.3"}));
}

TEST(Plan, WrongOnesAreToldByLineAndField) {
  const std::string head = kHead;  // three lines
  const struct {
    std::string text, fault;
  } cases[] = {
      {head, "p.yaml:1: over: missing"},
      {head + "over: {}\n", "p.yaml:4: over: found no option"},
      {head + "over: {links: ideal}\n", "p.yaml:4: over.links: found 'ideal'; legal: a list"},
      {head + "over: {links: []}\n", "p.yaml:4: over.links: found a list; legal: a list of values"},
      {head + "over: {lynks: [ideal]}\n",
       "p.yaml:4: over.lynks: unknown option, did you mean 'links'? legal: topology, links"},
      {head + "over: {param: [64]}\n", "p.yaml:4: over.param: found no name; legal: param.NAME"},
      {head + "over: {links.n: [64]}\n", "p.yaml:4: over.links.n: found a name; legal: links alone"},
      {head + "over: {kernel: [gemm]}\n", "p.yaml:4: over.kernel: stands in options too"},
      {head + "over: {verify: [maybe]}\n", "p.yaml:4: over.verify: found 'maybe'; legal: true or false"},
      {head + "over: {param.n: {from: 1, to: 2}}\n", "p.yaml:4: over.param.n: found no step"},
      {head + "over: {param.n: {from: 1, to: 0, step: 1}}\n",
       "p.yaml:4: over.param.n.to: found '0'; legal: a number >= 1"},
      {head + "over: {param.n: {from: 1, to: 2, step: 0}}\n", "p.yaml:4: over.param.n.step: found '0'"},
      {head + "over: {param.n: {from: 1, to: 2, step: 1, factor: 2}}\n", "found step and factor"},
      {head + "over: {param.n: {from: 0, to: 2, factor: 2}}\n", "legal: beside from > 0"},
      {head + "over: {param.n: {from: 0, to: 1e9, step: 1}}\n", "more than 100000 values"},
      {head + "over: {param.n: {from: 0, to: 1, steps: 1}}\n", "over.param.n.steps: unknown key, did you mean 'step'?"},
      {head + "over: {links: [ideal]}\nmethod: random\n", "p.yaml:5: method: found 'random'; legal: grid"},
      {head + "over: {links: [ideal]}\nmethod: sobol\n", "points: missing"},
      {head + "over: {links: [ideal]}\npoints: 5\n", "p.yaml:5: points: unknown key"},
      {head + "over: {links: [ideal]}\nmethod: sobol\npoints: 0\n", "p.yaml:6: points: found '0'"},
      {head + "over: {links: [ideal]}\nwhere: links\n", "p.yaml:5: where: found 'links'; legal: a list"},
      {head + "over: {links: [ideal]}\nwhere: [links =]\n", "p.yaml:5: where[0]: found 'links ='"},
      {head + "over: {links: [ideal]}\nwhere: [links = ideal]\n", "no such column: ideal"},
      {head + "over: {links: [ideal]}\nwhere: ['1) from sqlite_master; --']\n", "p.yaml:5: where[0]"},
      {head + "over: {links: [ideal]}\nwhere: [random() > 0]\n", "not authorized"},
      {"- a\n", "p.yaml:1"},
      {"options: {format: json}\nover: {links: [ideal]}\n", "p.yaml:1: options.format: unknown option"},
  };
  for (const auto& c : cases) {
    const auto faults = faults_of(c.text);
    ASSERT_FALSE(faults.empty()) << c.text;
    EXPECT_NE(faults[0].find(c.fault), std::string::npos) << faults[0] << "\n  for " << c.fault;
  }
}

TEST(Plan, ConstraintsThatAreNoTruthValuesAreRefusedWithTheirPlace) {
  const Plan plan = parse_plan(std::string(kHead) + "over: {links: [ideal]}\nwhere: [\"'a'\"]\n", "p.yaml");
  try {
    points_of(plan);
    FAIL();
  } catch (const InputError& e) {
    EXPECT_EQ(std::string(e.what()).find("p.yaml:5: where[0]: found ''a'', which is neither"), 0u) << e.what();
  }
}

TEST(Plan, NoPointLeftIsAFault) {
  EXPECT_THROW(points_of(parse_plan(std::string(kHead) + "over: {links: [ideal]}\nwhere: [links = 'flit']\n", "p")),
               InputError);
}

}  // namespace
}  // namespace kernbench::sweep
