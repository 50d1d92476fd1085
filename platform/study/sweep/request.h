// SPDX-License-Identifier: Apache-2.0
// Requests and answers of `kernbench serve`: one line of JSON each (docs/optimisers.md).
#pragma once

#include <string>
#include <string_view>

#include "kernbench/platform/study/sweep/axis.h"
#include "kernbench/platform/study/sweep/store.h"

namespace kernbench::sweep {

struct PointRequest {
  std::string id = "null";  ///< as JSON: an integer or a string; null if it could not be read
  Words words;              ///< the command line
  std::string fault;        ///< the error in the line; empty: none
};

/// Parses {"id": 7, "options": {"param.tile_m": 64, …}}: `base`, a run or model, followed by these options.
PointRequest parse_request(std::string_view line, const Words& base);

/// {"kernbench": VERSION, "protocol": 1}, the first line.
std::string greeting(const std::string& version);
/// {"id": 7, "status": 0, "metrics": {…}, "wall_s": …} or {"id": 7, "status": 139, "error": "…"}. Lines end with \n.
std::string answer(const std::string& id, const PointResult&, bool stored);
/// The answer to an invalid request: status 2.
std::string refusal(const std::string& id, const std::string& fault);

}  // namespace kernbench::sweep
