// SPDX-License-Identifier: Apache-2.0
#include "kernbench/platform/elaborate/deadlock.h"

#include <utility>

#include "kernbench/platform/elaborate/machine.h"
#include "kernbench/platform/elaborate/queue_deadlock.h"
#include "kernbench/systemc_models/memory/base_protocol_target.h"
#include "kernbench/systemc_models/memory/system.h"
#include "kernbench/systemc_models/pe/kernel_reductions.h"
#include "kernbench/systemc_models/pe/kernel_runner.h"

namespace kernbench::elaborate {

std::vector<std::string> stuck_report(Machine& machine, size_t limit) {
  std::vector<std::string> lines;
  std::vector<StuckPe> stuck;
  for (size_t p = 0; p < machine.pes().count(); ++p) {
    const Pe& pe = machine.pes().pe(p);
    if (!pe.ipcq || !machine.pes().complete(p) || !pe.runner->running()) continue;
    StuckPe s;
    s.pe = pe.index;
    if (const auto seq = pe.runner->awaited_seq()) s.calls = {*seq};
    stuck.push_back(std::move(s));
  }
  const std::string circle = circle_of_waiting(machine, stuck);
  if (!circle.empty()) lines.push_back(circle);
  for (const std::string& line : machine.system().mode().waiting()) {
    if (lines.size() < limit / 2) lines.push_back(line);
  }
  const KernelReductions* told = nullptr;  // the PEs of a launch share them
  for (size_t p = 0; p < machine.pes().count() && lines.size() < limit; ++p) {
    if (!machine.pes().complete(p)) continue;
    if (const auto* r = machine.pes().pe(p).runner->reductions(); r && r != std::exchange(told, r)) {
      for (const std::string& line : r->waiting()) {
        if (lines.size() < limit / 2) lines.push_back(line);
      }
    }
    const Pe& pe = machine.pes().pe(p);
    const std::string kernel = pe.runner->waiting_for();
    if (pe.scheduler->outstanding() == 0 && kernel.empty()) continue;
    std::string line = pe.id + ":";
    const auto add = [&line](const std::string& s) { line += (line.back() == ':' ? " " : "; ") + s; };
    if (!kernel.empty()) add(kernel);
    for (const std::string& w : pe.scheduler->waiting()) add(w);
    if (pe.ipcq) {
      for (const QueueWait& w : pe.ipcq->queue_waits()) add(w.text);
    }
    for (const Pe::Engine& e : pe.engines) {
      for (const std::string& w : e.role->waiting()) add(w);
    }
    lines.push_back(line);
  }
  for (const BaseProtocolTarget* entry : machine.system().foreign_entries()) {
    for (const std::string& line : entry->waiting()) {
      if (lines.size() < limit) lines.push_back(line);
    }
  }
  return lines;
}

RunError stuck_error(const std::vector<std::string>& report) {
  std::vector<std::string> lines{"nothing can move, but work is outstanding:"};
  for (const std::string& line : report) lines.push_back("  " + line);
  return RunError(std::move(lines));
}

}  // namespace kernbench::elaborate
