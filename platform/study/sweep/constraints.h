// SPDX-License-Identifier: Apache-2.0
// Which combinations a sweep leaves out, said by expressions over the options' values.
#pragma once

#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace kernbench::sweep {

/// Expressions are SQL's, worked out by SQLite: `param.n % 64 = 0 and param.m * param.n <= 65536`. A name is an option
/// ("links", "param.n"; in double quotes where it is no word, "set.edge:mesh.bw_gbs"); numbers are numbers, else texts.
/// Nothing but arithmetic, comparisons and functions of these values alone is let in.
class Constraint {
 public:
  /// InputError: what SQLite says of the expression, or that a part of it is not let in. `names`: all options there
  /// are.
  Constraint(std::string expression, const std::vector<std::string>& names);
  ~Constraint();
  Constraint(Constraint&&) noexcept;
  /// Whether it is true of these values, one a name. InputError where it is neither true nor false.
  bool holds(const std::vector<std::string>& values);

 private:
  struct Query;
  std::string expression_;
  std::unique_ptr<Query> query_;
};

}  // namespace kernbench::sweep
