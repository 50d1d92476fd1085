// What the writers of probe's output share: the columns of the seed's table, and numbers that look the same everywhere.
#pragma once

#include <fmt/format.h>

#include <cmath>
#include <string>

#include "kernbench/platform/platform.h"
#include "kernbench/platform/tools/probe_output.h"

namespace kernbench {

struct ProbeColumn {
  const char* name;     ///< csv, json
  const char* heading;  ///< text
  int digits;           ///< text; as the seed shows them or finer
  double (*value)(const ProbeResult&);
};

inline constexpr ProbeColumn kProbeColumns[] = {
    {"actual_ns", "actual ns", 3, [](const ProbeResult& r) { return r.actual_ns; }},
    {"overhead_ns", "overhead ns", 3, [](const ProbeResult& r) { return r.overhead_ns; }},
    {"drain_ns", "drain ns", 3, [](const ProbeResult& r) { return r.drain_ns; }},
    {"wire_ns", "wire ns", 3, [](const ProbeResult& r) { return r.wire_ns; }},
    {"queueing_ns", "queueing ns", 3, [](const ProbeResult& r) { return r.queueing_ns; }},
    {"overhead_pct", "overhead %", 1, [](const ProbeResult& r) { return r.overhead_pct(); }},
    {"drain_pct", "drain %", 1, [](const ProbeResult& r) { return r.drain_pct(); }},
    {"eff_bw_gbs", "eff GB/s", 2, [](const ProbeResult& r) { return r.eff_bw_gbs(); }},
    {"bottleneck_bw_gbs", "most GB/s", 2, [](const ProbeResult& r) { return r.bottleneck_bw_gbs; }},
    {"util_pct", "util %", 1, [](const ProbeResult& r) { return r.util_pct(); }},
    {"store_forward_ns", "store+fwd ns", 3, [](const ProbeResult& r) { return r.store_forward_ns; }},
};

/// Never "-0.000".
inline std::string fixed(double v, int digits) {
  return fmt::format("{:.{}f}", std::abs(v) < 0.5 * std::pow(10, -digits) ? 0 : v, digits);
}

inline const char* name_of_op(const ProbeCase& c) {
  return c.write ? "write" : "read";
}

}  // namespace kernbench
