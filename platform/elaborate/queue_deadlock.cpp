// SPDX-License-Identifier: Apache-2.0
#include "kernbench/platform/elaborate/queue_deadlock.h"

#include <algorithm>
#include <map>

#include "kernbench/platform/elaborate/machine.h"

namespace kernbench::elaborate {
namespace {

/// A waiting PE, and its wait.
struct Step {
  uint32_t pe;
  QueueWait wait;
};

class Search {
 public:
  Search(Machine& machine, const std::vector<StuckPe>& stuck) : machine_(machine) {
    for (const StuckPe& s : stuck) waits_[s.pe] = waits_of(s);
  }

  /// The first circle, found from the first PE that leads to one.
  std::vector<Step> circle() {
    for (const auto& [pe, waits] : waits_) {
      if (follow(pe)) return way_;
    }
    return {};
  }
  /// From the first PE that waits for another to one that has ended or waits for none.
  std::vector<Step> chain() const {
    for (const auto& [pe, waits] : waits_) {
      std::vector<Step> way;
      for (uint32_t at = pe; way.size() <= waits_.size();) {
        const auto it = waits_.find(at);
        if (it == waits_.end() || it->second.empty()) break;
        way.push_back({at, it->second.front()});
        at = it->second.front().peer_index;
      }
      if (!way.empty()) return way;
    }
    return {};
  }
  const std::string& id(uint32_t pe) const { return machine_.pes().pe(pe).id; }

 private:
  std::vector<QueueWait> waits_of(const StuckPe& s) const {
    std::vector<QueueWait> all =
        machine_.pes().pe(s.pe).ipcq ? machine_.pes().pe(s.pe).ipcq->queue_waits() : std::vector<QueueWait>{};
    if (s.calls.empty()) return all;
    all.erase(std::remove_if(all.begin(), all.end(),
                             [&](const QueueWait& w) {
                               return std::find(s.calls.begin(), s.calls.end(), w.seq) == s.calls.end();
                             }),
              all.end());
    return all;
  }

  /// Depth first; true: `way_` is a circle.
  bool follow(uint32_t pe) {
    const auto on_way = std::find_if(way_.begin(), way_.end(), [&](const Step& s) { return s.pe == pe; });
    if (on_way != way_.end()) {
      way_.erase(way_.begin(), on_way);
      return true;
    }
    const auto it = waits_.find(pe);
    if (it == waits_.end() || seen_[pe]) return false;
    seen_[pe] = true;
    for (const QueueWait& w : it->second) {
      way_.push_back({pe, w});
      if (follow(w.peer_index)) return true;
      way_.pop_back();
    }
    return false;
  }

  Machine& machine_;
  std::map<uint32_t, std::vector<QueueWait>> waits_;
  std::map<uint32_t, bool> seen_;
  std::vector<Step> way_;
};

}  // namespace

std::string circle_of_waiting(Machine& machine, const std::vector<StuckPe>& stuck) {
  Search search(machine, stuck);
  std::vector<Step> way = search.circle();
  std::string text = way.empty() ? "chain of waiting: " : "circle of waiting: ";
  if (way.empty()) way = search.chain();
  if (way.empty()) return {};
  for (const Step& s : way) text += search.id(s.pe) + " (" + s.wait.text + ") -> ";
  return text + search.id(way.back().wait.peer_index);
}

}  // namespace kernbench::elaborate
