#include "kernbench/platform/elaborate/deadlock.h"

#include "kernbench/platform/elaborate/machine.h"
#include "kernbench/systemc_models/pe/engine.h"
#include "kernbench/systemc_models/pe/pe_scheduler.h"

namespace kernbench {

std::vector<std::string> stuck_report(Machine& machine, size_t limit) {
  std::vector<std::string> lines;
  for (size_t p = 0; p < machine.pes().count() && lines.size() < limit; ++p) {
    if (!machine.pes().complete(p)) continue;
    const PeScheduler& scheduler = *machine.pes().pe(p).scheduler;
    const std::string kernel = machine.pes().cpu(p).waiting_for();
    if (scheduler.in_flight().empty() && kernel.empty()) continue;
    std::string line = machine.pes().pe(p).id + ":";
    const auto add = [&line](const std::string& s) {
      if (!s.empty()) line += (line.back() == ':' ? " " : "; ") + s;
    };
    add(kernel);
    add(std::to_string(scheduler.in_flight().size()) + " commands in flight");
    add(scheduler.feed_state());
    for (const Engine* e : machine.pes().engines(p)) {
      for (const std::string& w : e->waiting()) add(w);
    }
    lines.push_back(line);
  }
  return lines;
}

}  // namespace kernbench
