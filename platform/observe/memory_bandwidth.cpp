// SPDX-License-Identifier: Apache-2.0
#include "kernbench/platform/observe/memory_bandwidth.h"

#include <algorithm>
#include <string>

#include "kernbench/platform/elaborate/fabric_watch.h"
#include "kernbench/platform/elaborate/machine.h"
#include "kernbench/systemc_models/fabric/memory_target.h"

namespace kernbench::observe {

namespace {
uint64_t window_of(double t) {
  return static_cast<uint64_t>(std::max(t, 0.0) / MemoryBandwidth::kWindowNs);
}
}  // namespace

MemoryBandwidth::MemoryBandwidth(Machine& machine, TraceCounters& counters) : machine_(machine), counters_(counters) {
  watch_fabric(machine_, *this, FabricParts::blocks);
}

MemoryBandwidth::~MemoryBandwidth() {
  unwatch_fabric(machine_, *this);
}

void MemoryBandwidth::memory_request(const MemoryTarget& memory, const FabricTransaction& x, MemoryStep step,
                                     double t) {
  Direction& d = directions_[{memory.index(), x.write}];
  if (step == MemoryStep::started) d.started[&x] = t;
  if (step != MemoryStep::finished) return;
  if (!d.counter) {
    if (!group_) group_ = counters_.add_group("memories");
    d.counter = counters_.add_counter(
        group_, machine_.graph().nodes[memory.index()].id + (x.write ? " write" : " read"), "GB/s");
    counters_.count(d.counter, 0, 0.0);
  }
  const double from = d.started.try_emplace(&x, t).first->second;
  // Later accesses start at the present or after it.
  double open = machine_.now_ns();
  for (const auto& [other, start] : d.started) open = std::min(open, start);
  d.started.erase(&x);
  tell_up_to(d, window_of(open));
  add(d, from, t, static_cast<double>(x.nbytes));
}

void MemoryBandwidth::add(Direction& d, double from, double to, double bytes) {
  const uint64_t last = window_of(to);
  if (d.first + d.bytes.size() <= last) d.bytes.resize(last + 1 - d.first);
  if (to <= from) {
    d.bytes[last - d.first] += bytes;
    return;
  }
  for (uint64_t w = window_of(from); w <= last; ++w) {
    const double begin = std::max(from, static_cast<double>(w) * kWindowNs);
    const double end = std::min(to, static_cast<double>(w + 1) * kWindowNs);
    d.bytes[w - d.first] += bytes * (end - begin) / (to - from);
  }
}

void MemoryBandwidth::tell_up_to(Direction& d, uint64_t window) {
  while (d.first < window && !d.bytes.empty()) {
    tell(d, d.bytes.front() / kWindowNs);
    d.bytes.pop_front();
    ++d.first;
  }
  if (d.first >= window) return;
  tell(d, 0);
  d.first = window;
}

/// From the first open window on.
void MemoryBandwidth::tell(Direction& d, double gbs) {
  if (gbs != d.gbs) counters_.count(d.counter, static_cast<double>(d.first) * kWindowNs, gbs);
  d.gbs = gbs;
}

void MemoryBandwidth::finish() {
  for (auto& [key, d] : directions_) tell_up_to(d, d.first + d.bytes.size() + 1);
}

}  // namespace kernbench::observe
