// SPDX-License-Identifier: Apache-2.0
// Owning handles for SQLite. An error of SQLite becomes an OpLogError with the file's name.
#pragma once

#include <sqlite3.h>

#include <cstdint>
#include <new>
#include <string>
#include <string_view>

#include "kernbench/phase2/log/oplog_json.h"
#include "kernbench/phase2/text/text.h"

namespace kernbench::phase2 {

/// Checks the name of a file. SQLite would take some names for a URI, for memory or for a temporary file, and would
/// keep nothing: OpLogError.
inline const std::string& name_of_file(const std::string& file) {
  if (file.empty()) throw OpLogError("found '', expected the name of a file");
  if (file.front() != ':' && file.compare(0, 5, "file:") != 0) return file;
  throw OpLogError(file + ": found " + (file.front() == ':' ? "a name that SQLite keeps for itself" : "a URI") +
                   ", expected the name of a file (./" + file + " is one)");
}

/// An operation that failed because of the system: no space, no permission, or another process has the file.
class DatabaseFailed : public OpLogError {
 public:
  using OpLogError::OpLogError;
};

class Database {
 public:
  /// With SQLITE_OPEN_MEMORY there is no file, and the name is only for messages.
  Database(const std::string& file, int flags) : name_((flags & SQLITE_OPEN_MEMORY) ? file : name_of_file(file)) {
    const int rc = sqlite3_open_v2(file.c_str(), &db_, flags, nullptr);
    if (rc != SQLITE_OK) {
      const std::string why = db_ ? sqlite3_errmsg(db_) : sqlite3_errstr(rc);
      sqlite3_close(db_);
      if (rc == SQLITE_NOMEM) throw std::bad_alloc();
      throw OpLogError(file + ": " + cut(why, kMostOfReason));
    }
  }
  ~Database() { sqlite3_close(db_); }
  Database(const Database&) = delete;
  Database& operator=(const Database&) = delete;
  void run(const char* sql) { check(sqlite3_exec(db_, sql, nullptr, nullptr, nullptr)); }
  void check(int rc) const {
    if (rc == SQLITE_OK || rc == SQLITE_DONE || rc == SQLITE_ROW) return;
    if (rc == SQLITE_INTERRUPT) throw OpLogError(name_ + ": takes far more steps to read than a file of its size");
    if (rc == SQLITE_NOMEM) throw std::bad_alloc();
    const std::string what = name_ + ": " + cut(sqlite3_errmsg(db_), kMostOfReason);
    for (const int of_system : {SQLITE_FULL, SQLITE_IOERR, SQLITE_BUSY, SQLITE_READONLY, SQLITE_CANTOPEN}) {
      if ((rc & 0xff) == of_system) throw DatabaseFailed(what);
    }
    throw OpLogError(what);
  }
  /// From now on, an OpLogError is thrown after this number of steps.
  void limit_steps(uint64_t most) {
    constexpr int kAtOnce = 10'000;
    steps_left_ = most;
    const auto more = [](void* left) {
      auto& n = *static_cast<uint64_t*>(left);
      if (n < kAtOnce) return 1;
      n -= kAtOnce;
      return 0;
    };
    sqlite3_progress_handler(db_, kAtOnce, more, &steps_left_);
  }
  /// Disables features by which a file could make SQLite do more than read it.
  void distrust();
  sqlite3* get() const { return db_; }
  const std::string& name() const { return name_; }

 private:
  std::string name_;
  sqlite3* db_ = nullptr;
  uint64_t steps_left_ = 0;
};

class Statement {
 public:
  Statement(Database& db, const char* sql) : db_(db) { db.check(sqlite3_prepare_v2(db.get(), sql, -1, &s_, nullptr)); }
  ~Statement() { sqlite3_finalize(s_); }
  Statement(const Statement&) = delete;
  Statement& operator=(const Statement&) = delete;
  Statement& bind(int64_t v) { return db_.check(sqlite3_bind_int64(s_, ++at_, v)), *this; }
  Statement& bind(uint64_t v) { return bind(static_cast<int64_t>(v)); }
  Statement& bind(double v) { return db_.check(sqlite3_bind_double(s_, ++at_, v)), *this; }
  /// The text must live until run().
  Statement& bind(std::string_view v) {
    db_.check(sqlite3_bind_text(s_, ++at_, v.data(), static_cast<int>(v.size()), SQLITE_STATIC));
    return *this;
  }
  Statement& null() { return db_.check(sqlite3_bind_null(s_, ++at_)), *this; }
  void run() {
    const int rc = sqlite3_step(s_);
    sqlite3_reset(s_);
    at_ = 0;
    db_.check(rc);
  }
  bool next() {
    const int rc = sqlite3_step(s_);
    db_.check(rc);
    return rc == SQLITE_ROW;
  }
  int64_t integer(int c) const { return sqlite3_column_int64(s_, c); }
  /// SQLITE_INTEGER, SQLITE_FLOAT, SQLITE_TEXT, SQLITE_BLOB, SQLITE_NULL.
  int type(int c) const { return sqlite3_column_type(s_, c); }
  double real(int c) const { return sqlite3_column_double(s_, c); }
  std::string_view text(int c) const {
    const auto* p = reinterpret_cast<const char*>(sqlite3_column_text(s_, c));
    return {p ? p : "", static_cast<size_t>(sqlite3_column_bytes(s_, c))};
  }

 private:
  Database& db_;
  sqlite3_stmt* s_ = nullptr;
  int at_ = 0;
};

/// Checks that the tables of `schema` are tables with that definition. A view in the place of a table might never end.
/// OpLogError: is no `what`.
void check_schema(Database&, const char* schema, const std::string& what);
/// OpLogError if the structure of the file's pages is damaged.
void check_pages(Database&);

}  // namespace kernbench::phase2
