// SPDX-License-Identifier: Apache-2.0
// A sweep's page, `--report`: its points, its Pareto front, and the commands that repeat them, in one file (page/,
// html_page.h).
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "kernbench/platform/study/sweep/table.h"

namespace kernbench::sweep {

struct PagePoint {
  Row row;  ///< axes, exit, metrics
  std::string command, error;
  bool on_front = false;
};

struct PageTexts {
  std::string title;
  std::vector<std::string> axes, metrics;
  std::vector<Objective> objectives;  ///< of the Pareto front; empty: no front
};

void write_sweep_page(const PageTexts&, const std::vector<PagePoint>&,
                      const std::function<void(std::string_view)>& write);

}  // namespace kernbench::sweep
