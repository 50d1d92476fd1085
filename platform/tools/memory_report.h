// What memories that count by themselves (MemoryTarget::counters) did in a run.
#pragma once

#include <string>
#include <utility>
#include <vector>

namespace kernbench {

class JsonWriter;
class Platform;

struct MemoryReport {
  std::string id;
  std::vector<std::pair<std::string, double>> counters;  ///< name with its unit, value
};

/// Of all memories that have counters, in compiled order, from the start of the simulation on.
std::vector<MemoryReport> memory_reports(Platform&);
/// The same from an earlier time on: less what was told then (nothing: from the start on).
std::vector<MemoryReport> since(std::vector<MemoryReport> now, const std::vector<MemoryReport>& then);
void write_memory_json(JsonWriter&, const MemoryReport&);

}  // namespace kernbench
