#include "kernbench/platform/tools/memory_report.h"

#include "kernbench/phase2/text/json_writer.h"
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

void write_memory_json(JsonWriter& w, const MemoryReport& r) {
  w.open('{').field("id", r.id);
  for (const auto& [name, value] : r.counters) {
    const bool time = name.size() > 3 && name.compare(name.size() - 3, 3, "_ns") == 0;
    time ? w.field(name, value) : w.field(name, static_cast<uint64_t>(value));
  }
  w.close('}');
}

}  // namespace kernbench
