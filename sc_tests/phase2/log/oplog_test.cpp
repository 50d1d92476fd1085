// SPDX-License-Identifier: Apache-2.0
// Op logs: records that are written to a file can be read from it, also after a kill, and damage is reported.
#include "kernbench/phase2/log/oplog_file.h"

#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <sstream>
#include <thread>

#include "kernbench/phase2/log/memory_op_log.h"
#include "kernbench/phase2/log/sqlite_database.h"
#include "kernbench/phase2/text/json_writer.h"
#include "record_samples.h"

namespace kernbench {
namespace {

using namespace std::string_literals;

class OpLogFile : public ::testing::TestWithParam<const char*> {
 protected:
  void SetUp() override {
    char name[] = "kernbench_oplog_XXXXXX";
    ASSERT_NE(mkdtemp(name), nullptr);
    dir_ = name;
  }
  void TearDown() override { ASSERT_EQ(0, std::system(("rm -r " + dir_).c_str())); }
  std::string path() const { return dir_ + "/log" + GetParam(); }
  std::string error() const {
    try {
      read_op_log(path());
    } catch (const OpLogError& e) {
      return e.what();
    }
    return "";
  }

 private:
  std::string dir_;
};

TEST_P(OpLogFile, gives_back_every_record_as_it_was) {
  const auto log = make_op_log(path());
  log->begin(header());
  for (const OpRecord& r : one_of_each()) log->record(OpRecord(r));
  log->close();
  const OpLogContents got = read_op_log(path());
  EXPECT_TRUE(got.complete);
  EXPECT_EQ(got.header.components, header().components);
  EXPECT_EQ(got.header.pes, header().pes);
  EXPECT_EQ(got.header.configuration, header().configuration);
  EXPECT_EQ(got.header.isa, "avx2");
  EXPECT_EQ(as_text(got.records), as_text(one_of_each()));
  for (const OpRecord& r : got.records) {
    if (r.op_id != 1) continue;
    EXPECT_EQ(std::string(r.desc->where.file), "kernels/a b.cpp");
    EXPECT_EQ(r.desc->where.line, 42);
  }
}

TEST_P(OpLogFile, gives_back_what_a_message_of_ones_own_says_whatever_its_words) {
  std::vector<OpRecord> all;
  for (const char* name : {"refresh", "TileToken/GEMM", "composite_mine", "dma_write", "log_header", "log_end", ""}) {
    OpRecord r;
    r.op_id = all.size() + 1;
    r.own(name)
        .with("seq", "text")
        .with("foreign", 2)
        .with("a \"key\"", -1.5)
        .with("handle_id", false)
        .with("source", 0);
    all.push_back(r);
  }
  const auto log = make_op_log(path());
  log->begin(header());
  for (const OpRecord& r : all) log->record(OpRecord(r));
  log->close();
  const OpLogContents got = read_op_log(path());
  EXPECT_TRUE(got.complete);
  EXPECT_EQ(as_text(got.records), as_text(all));
  ASSERT_EQ(got.records.size(), all.size());
  for (const OpRecord& r : got.records) {
    EXPECT_EQ(r.desc->kind, OpKind::unknown);
    ASSERT_EQ(r.desc->own_params.size(), 5u);
    EXPECT_EQ(r.desc->own_params[0].name, "seq");
    EXPECT_EQ(r.desc->own_params[0].value, OwnParam::Value("text"s));
    EXPECT_EQ(r.desc->own_params[2].value, OwnParam::Value(-1.5));
  }
  EXPECT_EQ(as_text(all).front(),
            R"({"op_id":1,"t_start":0,"t_end":0,"component_id":"sip0.cube0.pe0.pe_dma","op_kind":"unknown",)"
            R"("op_name":"refresh","params":{"seq":"text","foreign":2,"a \"key\"":-1.5,"handle_id":false,"source":0},)"
            R"("dependency_ids":[]})");
}

TEST_P(OpLogFile, two_runs_give_the_same_bytes_however_long_they_take) {
  std::string bytes[2];
  for (std::string& b : bytes) {
    const auto log = make_op_log(path());
    log->begin(header());
    for (const OpRecord& r : one_of_each()) {
      log->record(OpRecord(r));
      if (&b == &bytes[1])
        std::this_thread::sleep_for(std::chrono::milliseconds(60));  // longer than the wait of a batch: one for each
                                                                     // record
    }
    log->close();
    std::stringstream s;
    s << std::ifstream(path(), std::ios::binary).rdbuf();
    b = s.str();
  }
  EXPECT_FALSE(bytes[0].empty());
  EXPECT_EQ(bytes[0], bytes[1]);
}

TEST_P(OpLogFile, survives_a_kill_with_all_but_the_last_moments) {
  int ready[2];
  ASSERT_EQ(0, pipe(ready));
  const pid_t child = fork();
  ASSERT_GE(child, 0);
  if (child == 0) {
    const auto log = make_op_log(path());
    log->begin(header());
    const std::vector<OpRecord> all = one_of_each();
    for (uint64_t id = 1;; ++id) {
      OpRecord r = all[id % all.size()];
      r.op_id = id;
      log->record(std::move(r));
      if (id == 2000) {
        usleep(400 * 1000);  // longer than the wait of any batch
        OpRecord more = all[0];
        more.op_id = ++id;
        log->record(std::move(more));
        if (write(ready[1], "x", 1) != 1) _exit(1);
      }
    }
  }
  char c;
  ASSERT_EQ(1, read(ready[0], &c, 1));
  usleep(20 * 1000);
  kill(child, SIGKILL);
  waitpid(child, nullptr, 0);
  close(ready[0]);
  close(ready[1]);
  const OpLogContents got = read_op_log(path());
  EXPECT_FALSE(got.complete);
  EXPECT_GE(got.records.size(), std::string(GetParam()) == ".jsonl" ? 1900u : 2000u);
  EXPECT_EQ(got.header.pes, header().pes);
}

TEST_P(OpLogFile, that_is_cut_short_or_garbage_is_told_in_one_line) {
  const auto log = make_op_log(path());
  log->begin(header());
  for (int i = 0; i < 500; ++i) {
    for (OpRecord r : one_of_each()) {
      r.op_id += static_cast<uint64_t>(i) * 100;
      log->record(std::move(r));
    }
  }
  log->close();
  std::stringstream s;
  s << std::ifstream(path(), std::ios::binary).rdbuf();
  const std::string whole = s.str();
  const auto rewrite = [&](const std::string& bytes) { std::ofstream(path(), std::ios::binary) << bytes; };

  rewrite(whole.substr(0, whole.size() / 2 + 3));
  if (std::string(GetParam()) == ".jsonl") {
    const OpLogContents got = read_op_log(path());
    EXPECT_FALSE(got.complete);
    EXPECT_GT(got.records.size(), 3000u);
    std::string damaged = whole;
    damaged[whole.size() / 2] ^= 0x55;
    damaged[whole.find('{', whole.size() / 2)] = '}';
    rewrite(damaged);
  }
  EXPECT_EQ(error().find(path()), 0u) << error();
  EXPECT_EQ(error().find('\n'), std::string::npos) << error();
  rewrite("some garbage that is no log of anything at all");
  EXPECT_NE(error().find("is no op log"), std::string::npos) << error();
  rewrite("");
  EXPECT_NE(error().find("is no op log"), std::string::npos) << error();
}

TEST_P(OpLogFile, that_cannot_be_made_is_told_at_once) {
  EXPECT_THROW(make_op_log(std::string("no/such/directory/log") + GetParam()), OpLogError);
}

INSTANTIATE_TEST_SUITE_P(Forms, OpLogFile, ::testing::Values(".jsonl", ".sqlite"),
                         [](const auto& param_info) { return std::string(param_info.param + 1); });

TEST(OpLog, in_memory_gives_back_every_record_as_it_was) {
  std::vector<OpRecord> all = one_of_each();
  for (const auto& change :
       {+[](TokenInfo& t) { t.bytes = uint64_t{1} << 40; }, +[](TokenInfo& t) { t.buffer_offset = ~uint64_t{0}; },
        +[](TokenInfo& t) {
          t.buffer_pieces = {{0, 8}, {16, uint64_t{1} << 33}};
        },
        +[](TokenInfo& t) { t.stage = Stage::gemm, t.m = uint32_t(-1), t.n = t.k = 65535; },
        +[](TokenInfo& t) { t.stage = Stage::math, t.n = 65536; },
        +[](TokenInfo& t) { t.stage = Stage::gemm, t.k = -1; },
        +[](TokenInfo& t) { t.composite_op_id = uint64_t{1} << 32; }}) {
    all.push_back(all.back());
    all.back().token = {};
    change(all.back().token);
  }
  MemoryOpLog log;
  std::vector<OpRecord> want;
  for (int round = 0; round < 200; ++round) {
    for (OpRecord r : all) {
      r.op_id = (uint64_t{1} << 32) - 2000 + want.size();
      want.push_back(r);
      log.record(std::move(r));
    }
    if (round % 60 == 0) {
      EXPECT_EQ(log.records().size(), want.size());
    }
  }
  EXPECT_EQ(as_text(log.records()), as_text(want));
  for (size_t i = 0; i < want.size(); ++i) ASSERT_EQ(log.records()[i].op_id, want[i].op_id);
}

TEST(OpLog, a_full_disk_is_told) {
  if (::access("/dev/full", W_OK) != 0) GTEST_SKIP() << "no /dev/full here";
  const auto log = make_jsonl_log("/dev/full");
  EXPECT_THROW(log->begin(header()), OpLogError);
}

TEST(OpLog, other_endings_are_refused) {
  EXPECT_THROW(make_op_log("log.txt"), OpLogError);
}

TEST(OpLog, numbers_are_in_shortest_exact_form) {
  const auto text = [](double v) {
    std::string s;
    JsonWriter(s).value(v);
    return s;
  };
  EXPECT_EQ(text(0.1), "0.1");
  EXPECT_EQ(text(18.085), "18.085");
  EXPECT_EQ(text(1.0 / 3), "0.3333333333333333");
  EXPECT_EQ(text(4096), "4096");
  EXPECT_EQ(text(0), "0");
}

TEST(OpLog, the_sqlite_view_has_the_columns_of_a_record) {
  if (std::system("sqlite3 --version > /dev/null 2>&1") != 0) GTEST_SKIP() << "no sqlite3 here";
  const std::string file = "kernbench_view_test.sqlite";
  const auto log = make_sqlite_log(file);
  log->begin(header());
  for (const OpRecord& r : one_of_each()) log->record(OpRecord(r));
  log->close();
  const std::string command =
      "sqlite3 " + file +
      " \"SELECT op_id, component_id, op_kind, op_name, json_extract(params, '$.tile_id'), json_extract(params, "
      "'$.stage_type'), json_extract(params, '$.m') FROM ops WHERE op_id IN (3, 14) ORDER BY op_id\"";
  FILE* p = popen(command.c_str(), "r");
  ASSERT_NE(p, nullptr);
  char buf[512] = {};
  const size_t n = fread(buf, 1, sizeof buf - 1, p);
  EXPECT_EQ(0, pclose(p));
  std::remove(file.c_str());
  EXPECT_EQ(std::string(buf, n),
            "3|host \"port\"|gemm|gemm_i8|||5\n"
            "14|sip0.cube0.pe0.pe_dma|gemm|TileToken/GEMM|3|GEMM|32\n");
}

TEST(OpLog, a_database_that_never_ends_is_given_up) {
  const std::string file = "kernbench_endless_test.sqlite";
  Database db(file, SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE);
  std::remove(file.c_str());  // the file exists until it is closed
  db.limit_steps(1'000'000);
  Statement endless(db, "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT count(*) FROM n");
  EXPECT_THROW(endless.next(), OpLogError);
}

}  // namespace
}  // namespace kernbench
