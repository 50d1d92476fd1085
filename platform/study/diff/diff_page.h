// SPDX-License-Identifier: Apache-2.0
// `diff --report FILE.html`: the differences of two runs as one page, for a browser without a network. The page's
// sources are in platform/study/diff/page; the build embeds them as texts (cmake/EmbedFiles.cmake).
#pragma once

#include <functional>
#include <string_view>

#include "kernbench/platform/study/diff/run_diff.h"
#include "kernbench/platform/topology/graph/graph.h"

namespace kernbench::study {

struct DiffPage {
  const RunFile &a, &b;
  const RunDiff& diff;
  const topology::Graph* system = nullptr;  ///< its floorplan is drawn; null: none
};
void write_diff_page(const DiffPage&, const std::function<void(std::string_view)>& write);

}  // namespace kernbench::study
