// SPDX-License-Identifier: Apache-2.0
#include "kernbench/phase2/tool/progress_line.h"

#include <fmt/format.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <iostream>
#include <string_view>

#include "kernbench/phase2/graph/executor.h"

namespace kernbench::cli {

ProgressLine::ProgressLine() {
  const char* form = std::getenv("KERNBENCH_PROGRESS");
  lines_ = form != nullptr && std::string_view(form) == "lines";
  terminal_ = !lines_ && isatty(STDERR_FILENO);
  if (terminal_ && isatty(STDOUT_FILENO)) tied_before_ = std::cout.tie(&before_results_);
}

ProgressLine::~ProgressLine() {
  clear();
  if (std::cout.tie() == &before_results_) std::cout.tie(tied_before_);
}

int ProgressLine::RoomMaker::sync() {
  line_.clear();
  return 0;
}

bool ProgressLine::due() {
  const auto now = Clock::now();
  if (now - start_ < std::chrono::seconds(1) || now - last_ < std::chrono::milliseconds(lines_ ? 1000 : 200))
    return false;
  last_ = now;
  return true;
}

void ProgressLine::show(const std::string& text) {
  if (lines_) fmt::print(stderr, "{}{}\n", kProgressMark, text);
  if (!terminal_) return;
  shown_ = true;
  fmt::print(stderr, "\r\033[K{}", text);
}

void ProgressLine::clear() {
  if (!shown_) return;
  fmt::print(stderr, "\r\033[K");
  shown_ = false;
}

std::function<void(const ReplayProgress&)> ProgressLine::replay_observer() {
  if (!visible()) return {};
  return [this](const ReplayProgress& p) {
    if (!due()) return;
    show(fmt::format("replayed {} of {} ops, {:.0f} s to go", p.ops_done, p.ops_total, p.remaining_s));
  };
}

}  // namespace kernbench::cli
