// SPDX-License-Identifier: Apache-2.0
// Does a store keep its points, each once, and refuse files that are not stores?
#include "kernbench/platform/study/sweep/store.h"

#include <gtest/gtest.h>
#include <sqlite3.h>
#include <sys/wait.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

#include "kernbench/phase2/op/errors.h"

namespace kernbench::sweep {
namespace {

class Stores : public testing::Test {
 protected:
  Stores() {
    std::string name = testing::TempDir() + "kernbench_store_XXXXXX";
    folder_ = mkdtemp(name.data());
  }
  ~Stores() override { std::filesystem::remove_all(folder_); }
  std::string file(const std::string& name) const { return folder_ + "/" + name; }
  static PointResult done(double ns) { return {0, "", {{"sim_ns", ns}}, 0.5}; }
  static void sql(const std::string& file, const char* text) {
    sqlite3* db = nullptr;
    ASSERT_EQ(sqlite3_open(file.c_str(), &db), SQLITE_OK);
    EXPECT_EQ(sqlite3_exec(db, text, nullptr, nullptr, nullptr), SQLITE_OK) << sqlite3_errmsg(db);
    sqlite3_close(db);
  }
  std::string folder_;
};

TEST_F(Stores, KeepWhatIsFinalAndBeginTheRestAnew) {
  {
    Store s(file("s"), "1");
    EXPECT_EQ(s.claim("a", "run a"), Store::Claim::mine);
    s.put("a", done(5));
    EXPECT_EQ(s.claim("a", "run a"), Store::Claim::done);
    EXPECT_EQ(s.claim("b", "run b"), Store::Claim::mine);
    s.put("b", {137, "ended by signal 9", nullptr, 0});
    EXPECT_EQ(s.claim("c", "run c"), Store::Claim::mine);  // never ends
  }
  Store s(file("s"), "1");
  EXPECT_EQ(s.find("a", true)->metrics.at("sim_ns"), 5);
  EXPECT_EQ(s.find("b", false)->status, 137);
  EXPECT_FALSE(s.find("b", true));
  EXPECT_FALSE(s.find("c", false));
  EXPECT_EQ(s.claim("b", "run b"), Store::Claim::mine);
  EXPECT_EQ(s.claim("c", "run c"), Store::Claim::mine);
  s.put("a", done(6));  // was final
  EXPECT_EQ(s.find("a", true)->metrics.at("sim_ns"), 5);
}

TEST_F(Stores, AnotherProcessKeepsItsPointUntilItEnds) {
  int to_parent[2], to_child[2];
  ASSERT_EQ(pipe(to_parent), 0);
  ASSERT_EQ(pipe(to_child), 0);
  const pid_t child = fork();
  char c = 0;
  if (child == 0) {
    Store s(file("s"), "1");
    c = s.claim("a", "run a") == Store::Claim::mine ? 'm' : '?';
    if (write(to_parent[1], &c, 1) != 1 || read(to_child[0], &c, 1) != 1) _exit(1);
    _exit(0);  // without put(), as if killed
  }
  ASSERT_EQ(read(to_parent[0], &c, 1), 1);
  EXPECT_EQ(c, 'm');
  Store s(file("s"), "1");
  EXPECT_EQ(s.claim("a", "run a"), Store::Claim::others);
  EXPECT_EQ(s.claim("b", "run b"), Store::Claim::mine);
  ASSERT_EQ(write(to_child[1], &c, 1), 1);
  ASSERT_EQ(waitpid(child, nullptr, 0), child);
  EXPECT_EQ(s.claim("a", "run a"), Store::Claim::mine);
}

TEST_F(Stores, WhatWasPutInIsSoonInTheDatabaseItself) {
  for (const double sync_s : {0.0, 1000.0}) {
    std::filesystem::remove(file("main"));
    Store s(file("s"), "1", sync_s);
    const std::string key = sync_s > 0 ? "late" : "soon";
    s.claim(key, "run"), s.put(key, done(1));
    std::filesystem::copy_file(file("s"), file("main"));  // without its write-ahead log, as if that was not yet on disk
    EXPECT_EQ(Store(file("main"), "1").find(key, true).has_value(), sync_s == 0);
  }
}

TEST_F(Stores, MergeTakesEachPointOnce) {
  {
    Store a(file("a"), "1"), b(file("b"), "1");
    for (const char* key : {"x", "y"}) a.claim(key, key), a.put(key, done(1));
    b.claim("y", "y"), b.put("y", done(1));
    b.claim("z", "z"), b.put("z", {1, "fails", nullptr, 0});
    b.claim("open", "open");
    b.claim("killed", "killed"), b.put("killed", {137, "", nullptr, 0});
  }
  Store all(file("all"), "1");
  EXPECT_EQ(all.merge(file("a")).added, 2u);
  const auto merged = all.merge(file("b"));
  EXPECT_EQ(merged.added, 2u);
  EXPECT_EQ(merged.there, 1u);
  EXPECT_EQ(all.find("z", true)->error, "fails");
  EXPECT_FALSE(all.find("open", false));
  EXPECT_EQ(all.find("killed", false)->status, 137);
  EXPECT_EQ(all.merge(file("b")).there, 2u);  // again; a point that is not final is replaced
}

TEST_F(Stores, MergeRefusesOtherResultsOfOnePoint) {
  {
    Store a(file("a"), "1"), b(file("b"), "1");
    for (Store* s : {&a, &b}) s->claim("x", "run x");
    a.put("x", done(1)), b.put("x", done(2));
    b.claim("w", "run w"), b.put("w", done(2));
  }
  Store a(file("a"), "1");
  EXPECT_THROW(a.merge(file("b")), RunError);
  EXPECT_FALSE(a.find("w", true)) << "a part was taken";
}

TEST_F(Stores, AnotherVersionIsRefusedByBothNames) {
  { Store s(file("old"), "0.1"); }
  Store now(file("now"), "0.2");
  for (const bool merging : {false, true}) {
    try {
      if (merging) now.merge(file("old"));
      if (!merging) Store(file("old"), "0.2");
      FAIL();
    } catch (const InputError& e) {
      EXPECT_NE(std::string(e.what()).find("'0.1', expected one of 0.2"), std::string::npos) << e.what();
    }
  }
}

TEST_F(Stores, WhatIsNoStoreIsRefusedAndLeftAlone) {
  std::ofstream(file("text")) << std::string(5000, 'x');
  sql(file("foreign"), "create table t (x)");
  sql(file("views"),
      "create table t (x); create view store as select 1; create view owners as select 1; "
      "create view points as select 1");
  for (const char* name : {"text", "foreign", "views"}) {
    EXPECT_THROW(Store(file(name), "1"), InputError) << name;
    EXPECT_FALSE(std::filesystem::exists(file(name) + "-owners")) << name;
  }
  Store s(file("s"), "1");
  EXPECT_THROW(s.merge(file("foreign")), InputError);
  EXPECT_THROW(s.merge(file("none")), InputError);
}

TEST_F(Stores, DamageNamesPointAndColumn) {
  const std::pair<const char*, const char*> changes[] = {{"command", "command = 'run b'"},
                                                         {"owner", "owner = 7"},
                                                         {"owner", "owner = 'me'"},
                                                         {"starts", "starts = 2"},
                                                         {"status", "status = 1"},
                                                         {"status", "status = 'abc'"},
                                                         {"status", "status = 4294967296"},
                                                         {"status", "status = null"},
                                                         {"final", "final = 0"},
                                                         {"final", "final = x'00'"},
                                                         {"error", "error = 'none'"},
                                                         {"error", "error = 5"},
                                                         {"metrics", "metrics = '{}'"},
                                                         {"metrics", "metrics = x'00'"},
                                                         {"metrics", "metrics = '{\"sim_ns\": 6.0}'"},
                                                         {"wall_s", "wall_s = 0.25"},
                                                         {"wall_s", "wall_s = 'soon'"},
                                                         {"run", "run = '{}'"},
                                                         {"checksums", "checksums = ''"},
                                                         {"key", "key = 'b'"}};
  for (const auto& [column, change] : changes) {
    std::filesystem::remove(file("s"));
    {
      Store s(file("s"), "1");
      s.claim("a", "run a"), s.put("a", done(5));
    }
    sql(file("s"), (std::string("update points set ") + change).c_str());
    const std::string key = std::string(column) == "key" ? "b" : "a";
    Store s(file("s"), "1");
    try {
      s.find(key, true);
      ADD_FAILURE() << change;
    } catch (const InputError& e) {
      EXPECT_NE(std::string(e.what()).find("point '" + key + "', column " + column + ": "), std::string::npos)
          << change << ": " << e.what();
    }
    EXPECT_THROW(s.claim(key, "run"), InputError) << change;
    Store other(file("other"), "1");
    if (std::string(change) == "status = null") continue;  // as of a point in progress: not merged
    EXPECT_THROW(other.merge(file("s")), InputError) << change;
  }
}

TEST_F(Stores, WhatRunsOnItsOwnIsRefused) {
  for (const char* made :
       {"create trigger t after insert on owners begin insert into store select i from (with recursive n(i) as "
        "(select 1 union all select i from n) select i from n); end",
        "drop table points; create table points (key text primary key, status integer default (1)) without rowid"}) {
    std::filesystem::remove(file("s"));
    { Store s(file("s"), "1"); }
    sql(file("s"), made);
    EXPECT_THROW(Store(file("s"), "1"), InputError) << made;
    EXPECT_THROW(Store::read(file("s")), InputError) << made;
  }
}

TEST_F(Stores, OneFileIsOneStoreByAllItsNames) {
  std::filesystem::create_directory(file("folder"));
  std::filesystem::create_symlink("folder/s", file("link"));  // before a store exists
  Store first(file("link"), "1");
  EXPECT_EQ(first.claim("a", "run a"), Store::Claim::mine);
  std::filesystem::create_symlink(file("link"), file("folder/second"));
  const pid_t child = fork();  // locks are between processes
  if (child == 0) _exit(Store(file("folder/second"), "1").claim("a", "run a") == Store::Claim::others ? 0 : 1);
  int status = 0;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  EXPECT_EQ(status, 0);
  EXPECT_FALSE(std::filesystem::exists(file("link-owners")));
  std::filesystem::create_hard_link(file("folder/s"), file("hard"));
  EXPECT_THROW(Store(file("hard"), "1"), InputError);
}

TEST_F(Stores, NamesThatSqliteKeepsForItselfAreRefused) {
  const auto before = std::filesystem::current_path();
  std::filesystem::current_path(folder_);
  for (const char* name : {"", ":memory:", ":x", "file:s"}) EXPECT_THROW(Store(name, "1"), InputError) << name;
  std::filesystem::current_path(before);
  EXPECT_TRUE(std::filesystem::is_empty(folder_));
}

TEST_F(Stores, DamagedMetricsAreRefused) {
  {
    Store s(file("s"), "1");
    s.claim("a", "run a"), s.put("a", done(1));
  }
  for (const char* metrics : {"{", "[1]", "{\"sim_ns\": [1]}"}) {
    sql(file("s"), (std::string("update points set metrics = '") + metrics + "'").c_str());
    Store s(file("s"), "1");
    EXPECT_THROW(s.find("a", true), InputError) << metrics;
  }
}

}  // namespace
}  // namespace kernbench::sweep
