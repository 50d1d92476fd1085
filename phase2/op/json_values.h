// SPDX-License-Identifier: Apache-2.0
// Values of op.h in JSON, for logs and memory files.
#pragma once

#include <string>

#include "kernbench/phase2/op/op.h"
#include "kernbench/phase2/text/json_reader.h"

namespace kernbench::phase2 {

/// Throws JsonFault, like the readers of json_reader.h.
template <class Json>
Dims json_dims(const Json& j) {
  const std::vector<int64_t> all = json_items(j, json_value<int64_t, Json>);
  if (all.size() > kMaxRank)
    throw JsonFault("found " + std::to_string(all.size()) + " dimensions, expected at most " +
                    std::to_string(kMaxRank));
  Dims d;
  for (const int64_t x : all) d.push_back(x);
  return d;
}

template <class Json>
DType json_dtype(const Json& j) {
  const auto t = parse_dtype(json_value<std::string>(j));
  if (!t) throw JsonFault("found " + shown(j) + ", which is no dtype");
  return *t;
}

template <class Json>
Space json_space(const Json& j) {
  return add_space(json_value<std::string>(j));
}

}  // namespace kernbench::phase2
