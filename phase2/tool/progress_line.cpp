#include "kernbench/phase2/tool/progress_line.h"

#include <fmt/format.h>
#include <unistd.h>

#include <cstdio>

#include "kernbench/phase2/graph/executor.h"

namespace kernbench::cli {

ProgressLine::ProgressLine() : terminal_(isatty(STDERR_FILENO)) {}

bool ProgressLine::due() {
  const auto now = Clock::now();
  if (now - start_ < std::chrono::seconds(1) || now - last_ < std::chrono::milliseconds(200)) return false;
  last_ = now;
  return true;
}

void ProgressLine::show(const std::string& text) {
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
  if (!terminal_) return {};
  return [this](const ReplayProgress& p) {
    if (!due()) return;
    show(fmt::format("replayed {} of {} ops, {:.0f} s to go", p.ops_done, p.ops_total, p.remaining_s));
  };
}

}  // namespace kernbench::cli
