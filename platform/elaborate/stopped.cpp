// SPDX-License-Identifier: Apache-2.0
#include "kernbench/platform/elaborate/stopped.h"

#include <fmt/format.h>

#include <algorithm>
#include <csignal>
#include <cstring>
#include <map>
#include <string>
#include <vector>

#include "kernbench/phase2/op/errors.h"
#include "kernbench/phase2/text/text.h"
#include "kernbench/platform/elaborate/machine.h"
#include "kernbench/platform/elaborate/run_watch.h"
#include "kernbench/systemc_models/core/timeline.h"
#include "kernbench/systemc_models/pe/running_kernel.h"

namespace kernbench::elaborate {
namespace {

std::string place_of(const RunningKernel& k) {
  if (k.awaited()) return fmt::format("waits for {} of {}", k.awaited(), to_string(k.awaited_at()));
  if (k.last_call().line == 0) return "runs, and has made no call";
  return "runs, behind " + to_string(k.last_call());
}

/// One line for each place where kernels are, with their PEs.
std::vector<std::string> places() {
  constexpr size_t kNamed = 3, kMostLines = 20;
  std::map<std::string, std::vector<std::string>> pes;
  for (const RunningKernel* k = RunningKernel::first(); k; k = k->next()) {
    if (k->kernel()) pes[(*k->kernel() ? k->kernel() + std::string(" ") : "") + place_of(*k)].push_back(k->who());
  }
  std::vector<std::string> lines;
  for (auto& [place, names] : pes) {
    if (lines.size() == kMostLines) {
      lines.push_back(fmt::format("  and {} places more", pes.size() - kMostLines));
      break;
    }
    std::sort(names.begin(), names.end());
    const size_t more = names.size() - std::min(names.size(), kNamed);
    names.resize(names.size() - more);
    lines.push_back(fmt::format("  {}{}: {}", joined(names), more ? fmt::format(" and {} more", more) : "", place));
  }
  return lines;
}

}  // namespace

void throw_if_stopped(Machine& machine) {
  const Timeline& timeline = machine.timeline();
  if (timeline.ended() == Timeline::Ended::no) return;
  const int signal = timeline.stop_reason();
  const bool at_limit = timeline.ended() == Timeline::Ended::at_limit;
  std::vector<std::string> lines{fmt::format("{} at {:.3f} ns of simulated time",
                                             at_limit            ? "--max-time: not done"
                                             : signal == SIGALRM ? "--max-wall: not done"
                                                                 : std::string("stopped by SIG") + sigabbrev_np(signal),
                                             timeline.last_ns())};
  for (std::string& line : places()) lines.push_back(std::move(line));
  if (at_limit || signal == SIGALRM) throw RunError(std::move(lines));
  throw Stopped(signal, std::move(lines));
}

void throw_if_left(Machine& machine, const std::string& what) {
  throw_if_stopped(machine);
  if (machine.runs().stuck()) return;
  if (sc_core::sc_pending_activity() || sc_core::sc_get_status() == sc_core::SC_STOPPED)
    throw RunError(what + ": the simulation was paused or stopped before it had completed");
}

}  // namespace kernbench::elaborate
