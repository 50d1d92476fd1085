// SPDX-License-Identifier: Apache-2.0
// A sweep's table as an SQLite database.
#pragma once

#include <string>
#include <vector>

#include "kernbench/platform/study/sweep/table.h"

namespace kernbench::sweep {

/// InputError where two names are one to SQLite: they differ by case alone.
void check_database_columns(const std::vector<std::string>& columns);

/// InputError where there is a file of that name and it is no such database: it would be lost. An empty one is nothing.
void check_replaced_database(const std::string& file);

/// The bytes of a database with one table, `sweep`, in the rows' order. A column whose values are whole numbers, or
/// truth values, is INTEGER; numbers, REAL; else TEXT. What is missing is null; a column without values has no type.
std::string table_database(const std::vector<std::string>& columns, const std::vector<Row>&);

}  // namespace kernbench::sweep
