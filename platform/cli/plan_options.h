// SPDX-License-Identifier: Apache-2.0
// --over, --where and --plan: the points of sweeps and tuners; and the number of concurrent points, and their timeout.
#pragma once

#include <CLI/CLI.hpp>
#include <string>
#include <vector>

#include "kernbench/platform/study/sweep/plan.h"

namespace kernbench::cli {

struct PlanOptions {
  std::vector<std::string> over, where;
  std::string file;
  void add_to(CLI::App&);
  /// `command`: run or probe with the fixed options; empty if a file is given. `who`: command name for messages.
  /// InputError, TopologyError.
  sweep::Plan plan(const std::string& who, const std::vector<std::string>& command) const;
};

/// --jobs and --timeout.
void add_workers(CLI::App&, unsigned& jobs, double& timeout_s);

}  // namespace kernbench::cli
