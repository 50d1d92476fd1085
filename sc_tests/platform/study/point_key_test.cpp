// SPDX-License-Identifier: Apache-2.0
// Do keys change with all inputs of a result, and with nothing else?
#include "kernbench/platform/study/sweep/point_key.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <fstream>
#include <set>

#include "kernbench/phase2/op/errors.h"
#include "kernbench/platform/run/spec/sha256.h"

namespace kernbench::sweep {
namespace {

TEST(Sha256, IsTheStandards) {  // examples of FIPS 180-4, and one with two blocks of padding
  EXPECT_EQ(spec::sha256(""), "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
  EXPECT_EQ(spec::sha256("abc"), "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
  EXPECT_EQ(spec::sha256("abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq"),
            "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1");
  EXPECT_EQ(spec::sha256(std::string(1'000'000, 'a')),
            "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0");
  spec::Sha256 parts;
  for (int i = 0; i < 1000; ++i) parts.add(std::string(1000, 'a'));
  EXPECT_EQ(parts.hex(), spec::sha256(std::string(1'000'000, 'a')));
}

class Keys : public testing::Test {
 protected:
  Keys() {
    std::string name = testing::TempDir() + "kernbench_keys_XXXXXX";
    folder_ = mkdtemp(name.data());
    for (const char* f : {"a.yaml", "b.so", "c.npy"}) write(f, f);
  }
  void write(const std::string& file, const std::string& text) { std::ofstream(folder_ + "/" + file) << text; }
  std::string key(const Words& words, const std::string& version = "1") {
    return PointKeys(version, [&](const std::string&, const std::string& f) { return folder_ + "/" + f; }).key(words);
  }
  Words base() const {
    return {"run",
            "--topology",
            "a.yaml",
            "--kernel",
            "gemm",
            "--plugin",
            folder_ + "/b.so",
            "--tensor",
            "a=" + folder_ + "/c.npy",
            "--param",
            "n=64",
            "--param",
            "m=32"};
  }
  Words with(const Words& more) const {
    Words words = base();
    words.insert(words.end(), more.begin(), more.end());
    return words;
  }
  std::string folder_;
};

TEST_F(Keys, ChangeWithAllThatDecides) {
  std::set<std::string> keys = {key(base()), key(base(), "2")};
  size_t expected = 2;
  const std::vector<Words> others = {{"--links", "flit"},
                                     {"--response", "routed"},
                                     {"--set", "x.y=1"},
                                     {"--set", "x.y=1", "--set", "x.y=2"},
                                     {"--set", "x.y=2", "--set", "x.y=1"},
                                     {"--scale", "hbm=2"},
                                     {"--seed", "2"},
                                     {"--pes", "leaders"},
                                     {"--device", "sip:0"},
                                     {"--ranks", "1"},
                                     {"--launch", "direct"},
                                     {"--transfer", "timed"},
                                     {"--address", "virtual"},
                                     {"--verify"},
                                     {"--debug-verify"},
                                     {"--check-races"},
                                     {"--isa", "avx2"},
                                     {"--corrupt", "c"},
                                     {"--max-time", "5"},
                                     {"--param", "k=64"},
                                     {"--param", "n=65"},
                                     {"--expected", "c=" + folder_ + "/c.npy"},
                                     {"--seed=3"}};
  for (const Words& more : others) keys.insert(key(with(more))), ++expected;
  for (const char* f : {"a.yaml", "b.so", "c.npy"}) {
    write(f, std::string("another ") + f);
    keys.insert(key(base())), ++expected;
  }
  EXPECT_EQ(keys.size(), expected);
}

TEST_F(Keys, ChangeWithTheEnergyTableThatATopologyNames) {
  write("a.yaml", "energy: e.yaml\n");
  write("e.yaml", "one");
  const std::string one = key(base());
  write("e.yaml", "two");
  EXPECT_NE(key(base()), one);
  EXPECT_NE(key(with({"--energy", "e.yaml"})), key(base()));
}

TEST_F(Keys, StayWithWhatDecidesNothing) {
  const std::string same = key(base());
  EXPECT_EQ(key(with({"--threads", "3"})), same);
  EXPECT_EQ(key(with({"--explain"})), same);
  EXPECT_EQ(key(with({"--seed", "1", "--pes=all"})), same) << "what holds where nothing is given";
  EXPECT_EQ(key({"run", "--param=m=32", "--tensor", "a=" + folder_ + "/c.npy", "--kernel=gemm", "--param", "n=64",
                 "--plugin", folder_ + "/b.so", "--topology", "a.yaml"}),
            same);
  write("copy.yaml", "a.yaml");  // the same bytes with another name
  Words words = base();
  words[2] = "copy.yaml";
  EXPECT_EQ(key(words), same);
}

TEST_F(Keys, AreNotMadeOfWhatTheyDoNotKnow) {
  for (const Words& words : {Words{"probe", "--topology", "a.yaml"}, with({"--oplog", "l.jsonl"}), with({"--seed"}),
                             with({"word"}), with({"--max-wall", "1"}), with({"--tensor", "a=" + folder_ + "/none"})})
    EXPECT_THROW(key(words), InputError) << words.back();
}

TEST_F(Keys, OfModelsChangeWithTheirFileAndPhases) {
  const Words model = {"model", folder_ + "/c.npy", "--topology", "a.yaml", "--phase", "prefill:8"};
  const std::string first = key(model);
  Words named = model;
  named.insert(named.begin() + 1, "--model");
  EXPECT_EQ(key(named), first);
  Words explicit_tp = model;
  explicit_tp.insert(explicit_tp.end(), {"--tp", "1"});
  EXPECT_EQ(key(explicit_tp), first);
  Words other = model;
  other.back() = "prefill:9";
  EXPECT_NE(key(other), first);
  Words both = model;
  both.insert(both.end(), {"--phase", "prefill:9"});
  EXPECT_NE(key(both), first);
  write("c.npy", "another");
  EXPECT_NE(key(model), first);
  EXPECT_THROW(key({"model", folder_ + "/c.npy", "--kernel", "gemm"}), InputError);
  EXPECT_THROW(key({"probe", "--topology", "a.yaml"}), InputError);
}

}  // namespace
}  // namespace kernbench::sweep
