// SPDX-License-Identifier: Apache-2.0
// Can another process read the progress of a sweep, and is an invalid file refused?
#include "kernbench/platform/study/sweep/progress_file.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include "kernbench/phase2/op/errors.h"

namespace kernbench::sweep {
namespace {

class Progress : public testing::Test {
 protected:
  Progress() {
    std::string name = testing::TempDir() + "kernbench_progress_XXXXXX";
    folder_ = mkdtemp(name.data());
    store_ = folder_ + "/s";
  }
  ~Progress() override { std::filesystem::remove_all(folder_); }
  static SweepProgress state(uint64_t done) {
    SweepProgress p;
    p.shard = 2, p.shards = 3, p.plan = 30, p.points = 10, p.done = done, p.failed = 1, p.simulated = 4;
    return p;
  }
  std::string folder_, store_;
};

TEST_F(Progress, IsReadAsItWasWritten) {
  ProgressFile file(store_);
  file.update(false, [] { return state(5); });
  file.update(false, [] { return state(6); });  // too soon
  SweepProgress p = read_progress(store_);
  EXPECT_EQ((std::vector<uint64_t>{p.shard, p.shards, p.plan, p.points, p.done, p.failed, p.simulated}),
            (std::vector<uint64_t>{2, 3, 30, 10, 5, 1, 4}));
  EXPECT_FALSE(p.ended || p.complete() || p.host.empty());
  EXPECT_LT(p.age_s, 60);
  EXPECT_GT(p.rate(), 0);
  file.update(true, [] { return state(10); });
  p = read_progress(store_);
  EXPECT_TRUE(p.ended && p.complete());
  EXPECT_EQ(std::distance(std::filesystem::directory_iterator(folder_), {}), 1) << "more than the file is left";
}

TEST_F(Progress, AFolderThatCannotBeWrittenIsNoFault) {
  ProgressFile file(folder_ + "/none/s");
  file.update(true, [] { return state(5); });
  EXPECT_THROW(read_progress(folder_ + "/none/s"), InputError);
}

TEST_F(Progress, WhatIsNoneIsRefusedByItsField) {
  for (const auto& [text, field] : {std::pair("", "not JSON"),
                                    {"[]", "expected an object"},
                                    {"{}", "'host'"},
                                    {R"({"host": "a", "shard": -1})", "shard: found -1"},
                                    {R"({"host": "a", "shard": 1, "shards": 1, "plan": 9, "points": 9, "done": 10,
                                         "failed": 0, "simulated": 0, "elapsed_s": 1, "ended": true})",
                                     "done: found more than points"}}) {
    std::ofstream(store_ + "-progress") << text;
    try {
      read_progress(store_);
      FAIL() << text;
    } catch (const InputError& e) {
      EXPECT_NE(std::string(e.what()).find(field), std::string::npos) << e.what();
      EXPECT_EQ(std::string(e.what()).find(store_), 0u) << e.what();
    }
  }
}

}  // namespace
}  // namespace kernbench::sweep
