// SPDX-License-Identifier: Apache-2.0
#include "kernbench/platform/study/sweep/table_database.h"

#include <sys/stat.h>

#include <algorithm>

#include "kernbench/phase2/log/real_name.h"
#include "kernbench/phase2/log/sqlite_database.h"
#include "kernbench/phase2/op/errors.h"

namespace kernbench::sweep {
namespace {

std::string quoted(const std::string& name) {
  std::string text = "\"";
  for (const char c : name) text += c == '"' ? "\"\"" : std::string(1, c);
  return text + "\"";
}

/// The number in a text, if it is one: values of options are texts.
Cell as_number(const Cell& c) {
  const auto* text = std::get_if<std::string>(&c);
  return text ? number_or_text(*text) : c;
}

enum class Type { none, integer, real, text };
constexpr const char* kTypes[] = {"", " INTEGER", " REAL", " TEXT"};

Type type_of(const std::string& column, const std::vector<Row>& rows) {
  Type type = Type::none;
  for (const Row& row : rows) {
    const Cell c = as_number(row.at(column));
    if (std::holds_alternative<std::string>(c)) return Type::text;
    if (std::holds_alternative<double>(c)) type = Type::real;
    if (!std::holds_alternative<std::monostate>(c)) type = std::max(type, Type::integer);
  }
  return type;
}

void bind(Statement& s, const Cell& c) {
  if (const auto* text = std::get_if<std::string>(&c)) {
    s.bind(std::string_view(*text));
  } else if (const auto* whole = std::get_if<int64_t>(&c)) {
    s.bind(*whole);
  } else if (const auto* real = std::get_if<double>(&c)) {
    s.bind(*real);
  } else if (const auto* truth = std::get_if<bool>(&c)) {
    s.bind(int64_t{*truth});
  } else {
    s.null();
  }
}

}  // namespace

void check_database_columns(const std::vector<std::string>& columns) {
  for (size_t i = 0; i < columns.size(); ++i) {
    for (size_t j = 0; j < i; ++j) {
      if (sqlite3_stricmp(columns[i].c_str(), columns[j].c_str()) == 0)
        throw InputError("--sqlite: found columns " + in_quotes(columns[j]) + " and " + in_quotes(columns[i]) +
                         ", which are one to SQLite");
    }
  }
}

void check_replaced_database(const std::string& file) {
  struct stat s {};
  if (::stat(file.c_str(), &s) != 0 || !S_ISREG(s.st_mode) || s.st_size == 0) return;
  try {
    Database db(real_name(file), SQLITE_OPEN_READONLY);
    db.distrust();
    Statement others(db, "select count(*) from sqlite_schema where not (type = 'table' and name = 'sweep')");
    Statement table(db, "select count(*) from sqlite_schema");
    if (others.next() && others.integer(0) == 0 && table.next() && table.integer(0) == 1) return;
  } catch (const OpLogError&) {  // not a database
  }
  throw InputError("--sqlite: found " + in_quotes(file) +
                   ", which contains something else than a sweep's table; it is left unchanged");
}

std::string table_database(const std::vector<std::string>& columns, const std::vector<Row>& rows) {
  Database db(":memory:", SQLITE_OPEN_READWRITE | SQLITE_OPEN_MEMORY);
  std::string create = "create table sweep (", insert = "insert into sweep values (";
  std::vector<Type> types;
  for (const std::string& column : columns) {
    const char* comma = types.empty() ? "" : ", ";
    types.push_back(type_of(column, rows));
    create += comma + quoted(column) + kTypes[static_cast<size_t>(types.back())];
    insert += std::string(comma) + "?";
  }
  db.run((create + ")").c_str());
  db.run("begin");
  {
    Statement s(db, (insert + ")").c_str());
    for (const Row& row : rows) {
      std::vector<Cell> cells;  // must live until run()
      for (size_t i = 0; i < columns.size(); ++i) {
        const Cell c = row.at(columns[i]);
        cells.push_back(types[i] == Type::text ? c : as_number(c));
      }
      for (const Cell& c : cells) bind(s, c);
      s.run();
    }
  }
  db.run("commit");
  sqlite3_int64 size = 0;
  unsigned char* bytes = sqlite3_serialize(db.get(), "main", &size, 0);
  if (!bytes) throw std::bad_alloc();
  std::string text(reinterpret_cast<const char*>(bytes), static_cast<size_t>(size));
  sqlite3_free(bytes);
  return text;
}

}  // namespace kernbench::sweep
