// SPDX-License-Identifier: Apache-2.0
#include "kernbench/platform/run/memory_report.h"

#include "kernbench/platform/platform.h"
#include "kernbench/systemc_models/fabric/memory_target.h"

namespace kernbench {

std::vector<MemoryReport> memory_reports(Platform& platform) {
  std::vector<MemoryReport> all;
  for (const topology::Memory& m : platform.graph().memories) {
    const auto* target = dynamic_cast<const MemoryTarget*>(&platform.component(m.node));
    if (!target) continue;
    MemoryReport r;
    r.id = target->id();
    for (const MemoryCounter& c : target->counters()) r.counters.emplace_back(c.name, c.value);
    if (!r.counters.empty()) all.push_back(std::move(r));
  }
  return all;
}

std::vector<MemoryReport> since(std::vector<MemoryReport> now, const std::vector<MemoryReport>& then) {
  for (size_t m = 0; m < then.size(); ++m) {
    for (size_t c = 0; c < then[m].counters.size(); ++c) now[m].counters[c].second -= then[m].counters[c].second;
  }
  return now;
}

}  // namespace kernbench
