// SPDX-License-Identifier: Apache-2.0
#include "kernbench/platform/cli/progress.h"

#include <fmt/format.h>

#include "kernbench/systemc_models/core/timeline.h"

namespace kernbench::cli {

void Progress::watch(Timeline& timeline) {
  if (!visible()) return;
  restart();
  timeline.on_progress([this](double now_ns, uint64_t events) {
    if (!due()) return;
    show(fmt::format("simulated {:.3f} us, {:.2f} M events, {:.2f} M events/s", now_ns / 1e3,
                     static_cast<double>(events) / 1e6, static_cast<double>(events) / 1e6 / elapsed_s()));
  });
}

}  // namespace kernbench::cli
