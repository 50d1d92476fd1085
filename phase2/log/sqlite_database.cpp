// SPDX-License-Identifier: Apache-2.0
#include "kernbench/phase2/log/sqlite_database.h"

#include <fmt/format.h>

#include <filesystem>

namespace kernbench::phase2 {

void Database::distrust() {
  // Steps of SQLite's virtual machine per byte of the file, many times the number that reading takes, and the steps for
  // the smallest file.
  constexpr uint64_t kStepsPerByte = 100, kFewestSteps = 20'000'000;
  uint64_t nbytes = 0;
  for (const char* part : {"", "-wal"}) {
    std::error_code error;
    const uint64_t size = std::filesystem::file_size(name_ + part, error);
    if (!error) nbytes += size;
  }
  sqlite3_db_config(db_, SQLITE_DBCONFIG_DEFENSIVE, 1, nullptr);
  sqlite3_db_config(db_, SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0, nullptr);
  limit_steps(kFewestSteps + kStepsPerByte * nbytes);
}

void check_schema(Database& db, const char* schema, const std::string& what) {
  Database own(":memory:", SQLITE_OPEN_READWRITE | SQLITE_OPEN_MEMORY);
  own.run(schema);
  for (Statement expected(own, "SELECT name, sql FROM sqlite_schema WHERE type = 'table'"); expected.next();) {
    Statement found(
        db, "SELECT count(*) FROM sqlite_schema WHERE type = 'table' AND rootpage > 0 AND name = ? AND sql = ?");
    found.bind(expected.text(0)).bind(expected.text(1));
    if (!found.next() || found.integer(0) != 1)
      throw OpLogError(
          fmt::format("{}: is no {}: its table {} is another or missing", db.name(), what, expected.text(0)));
  }
}

void check_pages(Database& db) {
  Statement quick(db, "PRAGMA quick_check(1)");
  if (!quick.next() || quick.text(0) != "ok")
    throw OpLogError(db.name() + ": is damaged: " + cut(quick.text(0), kMostOfReason));
}

}  // namespace kernbench::phase2
