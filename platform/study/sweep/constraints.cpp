// SPDX-License-Identifier: Apache-2.0
#include "kernbench/platform/study/sweep/constraints.h"

#include <sqlite3.h>

#include <algorithm>
#include <cstring>
#include <new>

#include "kernbench/phase2/op/errors.h"
#include "kernbench/phase2/text/text.h"
#include "kernbench/platform/study/sweep/metrics.h"

namespace kernbench::sweep {
namespace {

constexpr int kMostLength = 10'000, kDeepest = 100;

// Functions that depend on their arguments only, give equal results on every machine, and are fast.
constexpr const char* kFunctions[] = {"abs", "coalesce", "ifnull", "iif",   "length",
                                      "max", "min",      "nullif", "round", "substr"};

int let_in(void*, int action, const char*, const char* name, const char*, const char*) {
  if (action == SQLITE_SELECT || action == SQLITE_READ) return SQLITE_OK;
  if (action != SQLITE_FUNCTION) return SQLITE_DENY;
  const auto is_it = [&](const char* f) { return sqlite3_stricmp(f, name) == 0; };
  return std::any_of(std::begin(kFunctions), std::end(kFunctions), is_it) ? SQLITE_OK : SQLITE_DENY;
}

std::string quoted(const std::string& name) {
  std::string text = "\"";
  for (const char c : name) text += c == '"' ? "\"\"" : std::string(1, c);
  return text + "\"";
}

/// One row with the options' values: a parameter is column n of table param; other names are columns of table point.
std::string query_of(const std::string& expression, const std::vector<std::string>& names) {
  constexpr const char* kParameter = "param.";
  std::string point = "select 0 as \"_\"", param = point;
  for (size_t i = 0; i < names.size(); ++i) {
    const std::string value = ", ?" + std::to_string(i + 1) + " as ";
    point += value + quoted(names[i]);
    if (names[i].compare(0, std::strlen(kParameter), kParameter) == 0)
      param += value + quoted(names[i].substr(std::strlen(kParameter)));
  }
  // The newline ends a comment at the end of the expression.
  return "select (" + expression + "\n) from (" + point + ") as point, (" + param + ") as param";
}

}  // namespace

struct Constraint::Query {
  sqlite3* db = nullptr;
  sqlite3_stmt* statement = nullptr;
  ~Query() {
    sqlite3_finalize(statement);
    sqlite3_close(db);
  }
  void check(int rc, const std::string& expression) const {
    if (rc == SQLITE_NOMEM) throw std::bad_alloc();
    if (rc != SQLITE_OK && rc != SQLITE_ROW)
      throw InputError("found " + in_quotes(expression) + ": " + cut(sqlite3_errmsg(db)));
  }
};

Constraint::Constraint(std::string expression, const std::vector<std::string>& names)
    : expression_(std::move(expression)), query_(std::make_unique<Query>()) {
  Query& q = *query_;
  q.check(sqlite3_open_v2(":memory:", &q.db, SQLITE_OPEN_READWRITE | SQLITE_OPEN_MEMORY, nullptr), expression_);
  // An unknown name must be an error, not a string.
  sqlite3_db_config(q.db, SQLITE_DBCONFIG_DQS_DML, 0, nullptr);
  sqlite3_limit(q.db, SQLITE_LIMIT_EXPR_DEPTH, kDeepest);
  sqlite3_set_authorizer(q.db, let_in, nullptr);
  if (expression_.size() > kMostLength || expression_.find('\0') != std::string::npos)
    throw InputError("found " + in_quotes(expression_) + ": too long, or no text");
  const std::string text = query_of(expression_, names);
  const char* rest = nullptr;
  q.check(sqlite3_prepare_v2(q.db, text.c_str(), -1, &q.statement, &rest), expression_);
  if (*rest != '\0' || sqlite3_column_count(q.statement) != 1)
    throw InputError("found " + in_quotes(expression_) + ": is more than one expression");
}

Constraint::~Constraint() = default;
Constraint::Constraint(Constraint&&) noexcept = default;

bool Constraint::holds(const std::vector<std::string>& values) {
  Query& q = *query_;
  sqlite3_reset(q.statement);
  for (size_t i = 0; i < values.size(); ++i) {
    // SQLite numbers only the names that the expression uses.
    const int place = static_cast<int>(i) + 1;
    const std::string& v = values[i];
    const Cell cell = number_or_text(v);
    int rc = SQLITE_OK;
    if (const auto* whole = std::get_if<int64_t>(&cell)) {
      rc = sqlite3_bind_int64(q.statement, place, *whole);
    } else if (const auto* real = std::get_if<double>(&cell)) {
      rc = sqlite3_bind_double(q.statement, place, *real);
    } else {
      rc = sqlite3_bind_text(q.statement, place, v.data(), static_cast<int>(v.size()), SQLITE_TRANSIENT);
    }
    q.check(rc, expression_);
  }
  q.check(sqlite3_step(q.statement), expression_);
  const int type = sqlite3_column_type(q.statement, 0);
  if (type != SQLITE_INTEGER && type != SQLITE_FLOAT)
    throw InputError("found " + in_quotes(expression_) + ", which is neither true nor false where its values are " +
                     in_quotes(joined(values)));
  return sqlite3_column_double(q.statement, 0) != 0;
}

}  // namespace kernbench::sweep
