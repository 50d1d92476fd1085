// SPDX-License-Identifier: Apache-2.0
// A sweep's table as an SQLite database.
#pragma once

#include <string>
#include <vector>

#include "kernbench/platform/study/sweep/table.h"

namespace kernbench::sweep {

/// InputError for two names that differ only by case, because SQLite ignores case.
void check_database_columns(const std::vector<std::string>& columns);

/// InputError if the file exists and is no such database, because it would be overwritten. Empty files are allowed.
void check_replaced_database(const std::string& file);

/// The bytes of a database with one table, `sweep`, in the rows' order. A column of integers or booleans has type
/// INTEGER, of numbers REAL, else TEXT. Missing values are null; a column without values has no type.
std::string table_database(const std::vector<std::string>& columns, const std::vector<Row>&);

}  // namespace kernbench::sweep
