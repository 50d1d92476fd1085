// SPDX-License-Identifier: Apache-2.0
// Damage to a log, of a complete or an interrupted run, at any place: the result is an error in one line, or records of
// the run, never other records.
#include <gtest/gtest.h>
#include <unistd.h>

#include <fstream>
#include <map>
#include <random>
#include <sstream>

#include "kernbench/phase2/log/oplog_file.h"
#include "record_samples.h"

namespace kernbench {
namespace {

constexpr int kFlips = 200;

class DamagedLog : public ::testing::TestWithParam<std::tuple<const char*, bool>> {
 protected:
  void SetUp() override {
    file_ = "kernbench_damaged_" + std::to_string(getpid()) + std::get<0>(GetParam());
    uint64_t id = 0;
    {
      const auto log = make_op_log(file_);
      log->begin(header());
      for (int i = 0; i < 12; ++i) {
        for (OpRecord r : one_of_each()) {
          r.op_id = ++id;
          text_of_[id] = as_text({r})[0];
          log->record(std::move(r));
        }
      }
      if (ended()) log->close();
    }
    std::stringstream s;
    s << std::ifstream(file_, std::ios::binary).rdbuf();
    whole_ = s.str();
  }
  void TearDown() override {
    for (const char* end : {"", "-wal", "-shm", "-journal"}) std::remove((file_ + end).c_str());
  }
  static bool ended() { return std::get<1>(GetParam()); }
  bool is_text() const { return file_.find(".jsonl") != std::string::npos; }

  /// Reads the log with these bytes; the records must equal the recorded ones. Returns the number of records, or -1.
  int read_as(const std::string& bytes, const std::string& what) {
    for (const char* end : {"-wal", "-shm", "-journal"}) std::remove((file_ + end).c_str());
    std::ofstream(file_, std::ios::binary) << bytes;
    try {
      const OpLogContents got = read_op_log(file_);
      EXPECT_FALSE(got.complete && (!ended() || got.records.size() != text_of_.size())) << what;
      if (!got.records.empty()) {
        EXPECT_EQ(header_json(got.header), header_json(header())) << what;
      }
      for (const OpRecord& r : got.records) {
        const auto it = text_of_.find(r.op_id);
        EXPECT_TRUE(it != text_of_.end() && as_text({r})[0] == it->second) << what << ": op " << r.op_id;
      }
      return static_cast<int>(got.records.size());
    } catch (const OpLogError& e) {
      EXPECT_EQ(std::string(e.what()).find(file_), 0u) << what << ": " << e.what();
      EXPECT_EQ(std::string(e.what()).find('\n'), std::string::npos) << what << ": " << e.what();
      return -1;
    }
  }

  std::string file_, whole_;
  std::map<uint64_t, std::string> text_of_;
};

TEST_P(DamagedLog, is_told_at_every_flipped_bit) {
  ASSERT_GT(read_as(whole_, "as it is"), ended() ? 203 : 180);
  const unsigned seed = std::random_device{}();
  SCOPED_TRACE("seed " + std::to_string(seed));
  std::mt19937 rng(seed);
  int told = 0;
  for (int i = 0; i < kFlips; ++i) {
    std::string bad = whole_;
    const size_t at = rng() % bad.size(), bit = rng() % 8;
    bad[at] = static_cast<char>(bad[at] ^ (1 << bit));
    told += read_as(bad, "bit " + std::to_string(bit) + " of byte " + std::to_string(at)) < 0;
  }
  // SQLite leaves parts of its pages unused. A line of text may be the last one, which is lost if it is cut off.
  EXPECT_GT(told, is_text() ? kFlips * 3 / 4 : kFlips / 5);
}

TEST_P(DamagedLog, is_told_wherever_it_is_cut_short) {
  std::vector<size_t> lengths = {0, 1, 15, 16, 17, 100, whole_.size() - 1};
  for (size_t at = 0; at < whole_.size(); at += is_text() ? 2711 : 4096) lengths.push_back(at);
  if (is_text()) {
    for (size_t at = whole_.find('\n'); at != std::string::npos && lengths.size() < 100;
         at = whole_.find('\n', at + 1)) {
      lengths.push_back(at);
      lengths.push_back(at + 1);
    }
  }
  for (size_t n : lengths) {
    if (n < whole_.size()) read_as(whole_.substr(0, n), "cut to " + std::to_string(n));
  }
}

INSTANTIATE_TEST_SUITE_P(Forms, DamagedLog,
                         ::testing::Combine(::testing::Values(".jsonl", ".sqlite"), ::testing::Bool()),
                         [](const auto& i) {
                           return std::string(std::get<0>(i.param) + 1) +
                                  (std::get<1>(i.param) ? "_ended" : "_cut_off");
                         });

TEST(CutOffLog, loses_what_stands_behind_a_missing_command_of_its_pe) {
  const auto command = [](uint32_t pe, uint64_t seq) {
    auto d = std::make_shared<OpDesc>();
    d->pe = pe;
    d->seq = seq;
    OpRecord r;
    r.op_id = pe * 100 + seq;
    r.desc = d;
    return r;
  };
  OpRecord foreign = command(kNoPe, 7);
  foreign.foreign = true;
  std::vector<OpRecord> records = {command(1, 1), command(1, 0), command(2, 0), foreign,
                                   command(1, 4), command(2, 2), command(1, 3)};
  EXPECT_EQ(drop_behind_gaps(records), 3u);
  std::vector<uint64_t> left;
  for (const OpRecord& r : records) left.push_back(r.desc->pe == kNoPe ? 7 : r.op_id);
  EXPECT_EQ(left, (std::vector<uint64_t>{101, 100, 200, 7}));
}

}  // namespace
}  // namespace kernbench
