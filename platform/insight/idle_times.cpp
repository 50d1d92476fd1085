// SPDX-License-Identifier: Apache-2.0
#include "kernbench/platform/insight/idle_times.h"

#include <algorithm>

namespace kernbench::insight {

void IdleTimes::settle(Pe& p, double t) {
  const double waits = std::min(p.launch_to, t) - p.to;
  if (p.launch_to < 0 || waits <= 0) return;
  p.waits += waits;
  if (p.alone) {
    p.slowest += waits;
    launches_[p.launch].ns += waits;
  }
  p.launch_to = -1;
}

void IdleTimes::starts(size_t pe, double t) {
  Pe& p = pes_[pe];
  settle(p, t);
  p.from = t;
  p.launch_to = -1;
  p.runs = true;
  p.exchanges = false;
}

void IdleTimes::ends(size_t pe, double t) {
  Pe& p = pes_[pe];
  if (!p.runs) return;
  p.runs = false;
  p.to = t;
  p.busy += t - p.from;
}

void IdleTimes::launch_ends(uint32_t launch, const std::vector<size_t>& pes) {
  double from = 0, to = -1;
  size_t slowest = 0;
  bool alone = true;
  for (const size_t pe : pes) {
    const Pe& p = pes_[pe];
    from = to < 0 ? p.from : std::min(from, p.from);
    if (p.to > to) slowest = pe;
    to = std::max(to, p.to);
    alone = alone && !p.exchanges;
  }
  if (to < 0) return;
  if (busy_.empty() || from > busy_.back().second) {
    busy_.emplace_back(from, to);
  } else if (from >= busy_.back().first) {
    busy_.back().second = std::max(busy_.back().second, to);
  } else {
    busy_.emplace_back(from, to);
  }
  if (alone) {
    Slowest& s = launches_[launch];
    if (to - from > s.most) s = {s.ns, to - from, slowest};
  }
  for (const size_t pe : pes) {
    Pe& p = pes_[pe];
    if (p.runs) continue;
    p.launch_to = to;
    p.launch = launch;
    p.alone = alone;
  }
}

IdleTimes::Found IdleTimes::found(const std::vector<bool>& works, double end) {
  Found f;
  std::sort(busy_.begin(), busy_.end());
  double any = 0, until = -1;
  for (const auto& [from, to] : busy_) {
    any += std::max(0.0, to - std::max(from, until));
    until = std::max(until, to);
  }
  for (size_t i = 0; i < pes_.size(); ++i) {
    settle(pes_[i], end);
    if (!works[i]) continue;
    const double others = std::max(0.0, any - pes_[i].busy - pes_[i].waits);
    f.slowest += pes_[i].slowest;
    f.others += others;
    if (others > f.waits_most_ns) {
      f.waits_most = i;
      f.waits_most_ns = others;
    }
  }
  double most = 0;
  for (const auto& [launch, s] : launches_) {
    if (s.ns <= most) continue;
    most = s.ns;
    f.launch = launch;
    f.pe = s.pe;
  }
  return f;
}

}  // namespace kernbench::insight
