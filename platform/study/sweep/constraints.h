// SPDX-License-Identifier: Apache-2.0
// Excludes combinations from a sweep by expressions over the options' values.
#pragma once

#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace kernbench::sweep {

/// Expressions are SQL, evaluated by SQLite: `param.n % 64 = 0 and param.m * param.n <= 65536`. A name is an option:
/// "links", "param.n", or in double quotes if it is no identifier, "set.edge:mesh.bw_gbs". Values are numbers if
/// possible, else strings. Only arithmetic, comparisons and functions of these values are allowed.
class Constraint {
 public:
  /// InputError for SQLite's errors in the expression, and for disallowed parts. `names`: all options.
  Constraint(std::string expression, const std::vector<std::string>& names);
  ~Constraint();
  Constraint(Constraint&&) noexcept;
  /// Whether the expression is true of these values, one per name. InputError if it is neither true nor false.
  bool holds(const std::vector<std::string>& values);

 private:
  struct Query;
  std::string expression_;
  std::unique_ptr<Query> query_;
};

}  // namespace kernbench::sweep
