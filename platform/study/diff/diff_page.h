// SPDX-License-Identifier: Apache-2.0
// `diff --report FILE.html`: what differs between two runs as one page, for a browser without a network. Its sources
// are platform/study/diff/page; the build makes texts of them (cmake/EmbedFiles.cmake).
#pragma once

#include <functional>
#include <string_view>

#include "kernbench/platform/study/diff/run_diff.h"
#include "kernbench/platform/topology/graph/graph.h"

namespace kernbench::study {

struct DiffPage {
  const RunFile &a, &b;
  const RunDiff& diff;
  const topology::Graph* system = nullptr;  ///< whose floorplan is drawn; null: none
};
void write_diff_page(const DiffPage&, const std::function<void(std::string_view)>& write);

}  // namespace kernbench::study
