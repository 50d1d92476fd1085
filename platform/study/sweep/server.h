// SPDX-License-Identifier: Apache-2.0
// `kernbench serve`: points asked for and answered as lines of JSON, for optimisers (docs/optimisers.md).
#pragma once

#include <string>

#include "kernbench/platform/study/sweep/axis.h"

namespace kernbench::sweep {

struct ServeOptions {
  Words base = {"run"};  ///< the options that stay the same
  unsigned jobs = 0;     ///< points at a time; 0: one a processor
  std::string version;   ///< of kernbench
  std::string store;     ///< file; empty: none
  double timeout_s = 0;  ///< of a point; 0: none
};

/// Answers the requests that come by descriptor `in`, in the order in which they end, until there are no more or nobody
/// reads `out`. InputError for options that make no service; Stopped where a signal came, behind the points at work.
void serve(const ServeOptions&, int in, int out);

}  // namespace kernbench::sweep
