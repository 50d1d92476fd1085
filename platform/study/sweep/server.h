// SPDX-License-Identifier: Apache-2.0
// `kernbench serve`: simulates points for optimisers; requests and answers are lines of JSON (docs/optimisers.md).
#pragma once

#include <string>

#include "kernbench/platform/study/sweep/axis.h"

namespace kernbench::sweep {

struct ServeOptions {
  Words base = {"run"};  ///< the fixed options
  unsigned jobs = 0;     ///< concurrent points; 0: one per processor
  std::string version;   ///< of kernbench
  std::string store;     ///< file; empty: none
  double timeout_s = 0;  ///< per point; 0: unlimited
};

/// Reads requests from descriptor `in` and answers them in the order in which they end, until the input ends or `out`
/// is closed. InputError for invalid options; Stopped after a signal, once running points are done.
void serve(const ServeOptions&, int in, int out);

}  // namespace kernbench::sweep
