// SPDX-License-Identifier: Apache-2.0
// Does a run's document contain all inputs of its results, and does diff name each option, attribute and file that
// differs between two runs?
#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

#include "kernbench/phase2/op/errors.h"
#include "kernbench/phase2/text/forms.h"
#include "kernbench/platform/run/spec/run_document.h"
#include "kernbench/platform/study/diff/run_diff.h"

namespace kernbench::spec {
namespace {

class Documents : public testing::Test {
 protected:
  Documents() {
    std::string name = testing::TempDir() + "kernbench_documents_XXXXXX";
    folder_ = mkdtemp(name.data());
    write_file("t.yaml", kTopology);
    for (const char* f : {"n7.yaml", "a.npy", "b.npy", "lib.so"}) write_file(f, f);
  }
  ~Documents() override { std::filesystem::remove_all(folder_); }
  std::string file(const std::string& name) const { return folder_ + "/" + name; }
  void write_file(const std::string& name, const std::string& text) const { std::ofstream(file(name)) << text; }

  /// Each option that affects a result, with a value.
  RunSpec full(const char* command = "run") const {
    RunSpec s(table_of(command));
    for (const Option* o : s.table().deciding()) {
      if (o->type == Option::Type::flag) continue;
      s.set(o->name, value_of(*o, 0));
    }
    return s;
  }
  std::string value_of(const Option& o, size_t number) const {
    using File = Option::File;
    if (o.file == File::topology) return file("t.yaml");
    if (o.file == File::energy) return file(number == 0 ? "n7.yaml" : "a.npy");
    const std::string name = o.has_names() ? "x=" : "";
    if (o.file == File::input) return name + file(number == 0 ? "a.npy" : "b.npy");
    if (!o.legal.empty()) return std::string(o.legal.at(number));
    return name + std::to_string(7 + number);
  }
  RunDocument document(const RunSpec& s) const {
    return RunDocument::of(s, "1", file("t.yaml"), s.table().find("energy") ? s.text("energy") : "");
  }
  static RunFile report(const RunDocument& d, bool with_topology = false) {
    const auto fields = [&](Fields& f) { f("run", [&] { describe(f, d, with_topology); })("sim_ns", 1.0); };
    return read_run_json(to_json(fields), "r.json");
  }
  static std::vector<std::string> differences(const RunFile& a, const RunFile& b) {
    std::vector<std::string> keys;
    for (const RunDiff::Setting& s : diff_runs(a, b).configuration) keys.push_back(s.key);
    return keys;
  }
  using Keys = std::vector<std::string>;

  static constexpr const char* kTopology =
      "nodes:\n  - {id: pe0, attrs: {freq_ghz: 1}}\nlinks:\n  - {from: pe0, to: m, bw_gbs: 8}\n";
  std::string folder_;
};

TEST_F(Documents, NameEachOptionThatIsAnother) {
  for (const char* command : {"run", "traffic", "pipeline", "probe", "collectives"}) {
    const RunFile before = report(document(full(command)));
    EXPECT_EQ(before.command, command);
    size_t told = 0;
    for (const Option* o : table_of(command).deciding()) {
      if (o->file == Option::File::topology) continue;  // its text: below
      RunSpec s = full(command);
      s.set(o->name, o->type == Option::Type::flag ? "true" : value_of(*o, 1));
      std::string key = key_of(*o);
      if (o->has_names()) key += ".x";
      const Keys found = differences(before, report(document(s)));
      if (o->often == Option::Often::each) {  // another file with another name
        const std::string a = o->file == Option::File::none ? "7" : "a.npy";
        const std::string b = o->file == Option::File::none ? "8" : "b.npy";
        EXPECT_EQ(found, (Keys{key + "." + a, key + "." + b})) << o->name;
      } else {
        EXPECT_EQ(found, Keys{key}) << o->name;
      }
      ++told;
    }
    EXPECT_EQ(told, table_of(command).deciding().size() - 1);
  }
}

TEST_F(Documents, TellNothingOfWhatDecidesNothing) {
  const RunFile before = report(document(full()));
  for (const Option& o : options()) {
    if (o.role == Option::Role::decides) continue;
    RunSpec s = full();
    s.set(o.name, o.type == Option::Type::flag ? "true" : value_of(o, 0));
    EXPECT_EQ(differences(before, report(document(s))), Keys{}) << o.name;
    EXPECT_EQ(document(s).command, document(full()).command) << o.name;
  }
}

TEST_F(Documents, KnowFilesByWhatStandsInThem) {
  const RunFile before = report(document(full()));
  std::filesystem::copy_file(file("a.npy"), file("copy.npy"));
  RunSpec s = full();
  s.set("tensor", "x=" + file("copy.npy"));
  EXPECT_EQ(differences(before, report(document(s))), Keys{});
  write_file("a.npy", "another");
  EXPECT_EQ(differences(before, report(document(full()))), (Keys{"expected.x", "plugins.a.npy", "tensors.x", "ttir"}));
}

TEST_F(Documents, NameAttributesOfTopologies) {
  const RunDocument a = document(full());
  write_file("t.yaml",
             "nodes:\n  - {id: pe0, attrs: {freq_ghz: 2}}\n  - {id: pe1}\nlinks:\n  - {from: pe0, to: m, bw_gbs: 9}\n");
  const RunDocument b = document(full());
  EXPECT_EQ(differences(report(a, true), report(b, true)),
            (Keys{"topology.links.pe0->m.bw_gbs", "topology.nodes.pe0.attrs.freq_ghz", "topology.nodes.pe1.id"}));
  // b's file can be read, a's is gone: only its checksum remains.
  EXPECT_EQ(differences(report(a), report(b)), Keys{"topology"});
  EXPECT_EQ(differences(report(a, true), report(b)).size(), 3u);
  write_file("t.yaml", std::string("# a comment\n") + kTopology);
  EXPECT_EQ(differences(report(a, true), report(document(full()))), Keys{"topology"});
}

TEST_F(Documents, KnowTheOrderOfSettingsAndTheirNumber) {
  const auto with = [&](const Keys& settings) {
    RunSpec s = full();
    s.list("set") = settings;
    return report(document(s));
  };
  EXPECT_EQ(differences(with({"a.b=1", "c.d=2"}), with({"c.d=2", "a.b=1"})), Keys{"set, in their order"});
  EXPECT_EQ(differences(with({"a.b=1", "a.b=2"}), with({"a.b=2", "a.b=1"})), Keys{"set.a.b"});
  EXPECT_EQ(differences(with({"a.b=1"}), with({"a.b=1", "c.d=2"})), Keys{"set.c.d"});
  EXPECT_EQ(differences(with({}), with({})), Keys{});
}

TEST_F(Documents, ComeBackFromTheirText) {
  RunSpec s = full();
  s.set("seed", "18446744073709551615");
  s.list("param") = {"eps=1e-05", "causal=true", "text=1x", "big=123456789012345678"};
  std::string text;
  const RunSpec back = options_of(json_of(document(s), true), &text);
  EXPECT_EQ(text, kTopology);
  for (const Option* o : table_of("run").deciding()) {
    if (o->file == Option::File::topology) continue;
    EXPECT_EQ(back.list(o->name), o->name == "param" ? s.list("param") : s.list(o->name)) << o->name;
  }
}

TEST_F(Documents, AreMadeOfWordsAsTheCommandLineTakesThem) {
  const RunSpec s =
      RunSpec::of_words({"run", "--seed=3", "--verify", "--param", "n=1", "--param=m=2", "--set", "a.b=c=d"}, "w");
  EXPECT_EQ(s.whole("seed"), 3u);
  EXPECT_TRUE(s.flag("verify"));
  EXPECT_EQ(s.named("param").at(1).second, "2");
  EXPECT_EQ(s.named("set").at(0).second, "c=d");
  EXPECT_EQ(s.words(),
            (Keys{"run", "--set", "a.b=c=d", "--param", "n=1", "--param", "m=2", "--seed", "3", "--verify"}));
  for (const Keys& words :
       {Keys{"run", "--none", "1"}, Keys{"run", "word"}, Keys{"run", "--seed"}, Keys{"model", "--kernel", "gemm"}})
    EXPECT_THROW(RunSpec::of_words(words, "w"), InputError) << words[1];
  const RunSpec model = RunSpec::of_words({"model", "config.json", "--phase", "prefill:8", "--tp=2"}, "w");
  EXPECT_EQ(model.text("model"), "config.json");
  EXPECT_EQ(model.whole("tp"), 2u);
  RunSpec twice;
  twice.list("tensor") = {"a=x.npy", "a=y.npy"};
  EXPECT_THROW(twice.named("tensor"), InputError);
}

}  // namespace
}  // namespace kernbench::spec
