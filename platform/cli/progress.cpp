#include "kernbench/platform/cli/progress.h"

#include <unistd.h>

#include <cstdio>

#include "kernbench/phase2/executor.h"
#include "kernbench/systemc_models/timeline.h"

namespace kernbench::cli {

Progress::Progress() : terminal_(isatty(STDERR_FILENO)) {}

bool Progress::due() {
  const auto now = Clock::now();
  if (now - start_ < std::chrono::seconds(1) || now - last_ < std::chrono::milliseconds(200)) return false;
  last_ = now;
  shown_ = true;
  return true;
}

void Progress::watch(Timeline& timeline) {
  if (!terminal_) return;
  start_ = Clock::now();
  timeline.on_progress([this](double now_ns, uint64_t events) {
    if (!due()) return;
    const double s = std::chrono::duration<double>(last_ - start_).count();
    std::fprintf(stderr, "\r\033[Ksimulated %.3f us, %.2f M events, %.2f M events/s", now_ns / 1e3,
                 static_cast<double>(events) / 1e6, static_cast<double>(events) / 1e6 / s);
  });
}

std::function<void(const ReplayProgress&)> Progress::replay_observer() {
  if (!terminal_) return {};
  return [this](const ReplayProgress& p) {
    if (!due()) return;
    std::fprintf(stderr, "\r\033[Kreplayed %llu of %llu ops, %.0f s to go", static_cast<unsigned long long>(p.ops_done),
                 static_cast<unsigned long long>(p.ops_total), p.remaining_s);
  };
}

void Progress::clear() {
  if (!shown_) return;
  std::fprintf(stderr, "\r\033[K");
  shown_ = false;
}

}  // namespace kernbench::cli
