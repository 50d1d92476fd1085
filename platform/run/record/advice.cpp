// SPDX-License-Identifier: Apache-2.0
#include "kernbench/platform/run/record/advice.h"

#include <fmt/format.h>

#include "kernbench/platform/run/record/run_report.h"

namespace kernbench {
namespace {

constexpr double kFarUnder = 3;  // ratio to the allowed time
constexpr double kTiny = 5000;   // ns allowed; for shorter runs launches and first accesses dominate

bool is_slow(const TimedLaunch& l) {
  const LaunchNotes& n = l.notes;
  return n.allowed_ns >= kTiny && l.took_ns > kFarUnder * n.allowed_ns && l.took_ns > 2 * n.instead_ns;
}

/// For operands that are fetched more than once; empty: none, or unknown.
std::string reading_of(const TimedLaunch& l) {
  if (l.operand_bytes == 0 || l.read_bytes < 2 * l.operand_bytes) return {};
  return fmt::format(", reading {} for operands of {}", bytes_text(l.read_bytes), bytes_text(l.operand_bytes));
}

}  // namespace

std::string advice_of(const std::vector<TimedLaunch>& launches) {
  const TimedLaunch* worst = nullptr;
  size_t slow = 0;
  for (const TimedLaunch& l : launches) {
    if (!is_slow(l)) continue;
    ++slow;
    if (!worst || l.took_ns - l.notes.instead_ns > worst->took_ns - worst->notes.instead_ns) worst = &l;
  }
  if (!worst) return {};
  const LaunchNotes& n = worst->notes;
  return fmt::format(
      "{} took {:.1f} us, {:.1f} times the {:.1f} us that its roofline allows{}: {} would take about {:.1f} us{}",
      worst->name, worst->took_ns / 1e3, worst->took_ns / n.allowed_ns, n.allowed_ns / 1e3, reading_of(*worst),
      n.instead, n.instead_ns / 1e3, slow > 1 ? fmt::format("; so of {} launches", slow) : "");
}

}  // namespace kernbench
