// SPDX-License-Identifier: Apache-2.0
// Energy over time in windows of equal length. Sums are exact.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <map>
#include <memory>

#include "kernbench/phase2/energy/rontojoules.h"

namespace kernbench::energy {

/// Memory is only used for windows with activity, so a run's length costs nothing.
class PowerSeries {
 public:
  explicit PowerSeries(uint64_t window_fs) : window_fs_(window_fs) {}

  /// Adds energy evenly in [from, to), or in the window of `to` if that is empty. The remainder of the division goes to
  /// the last window.
  void add(uint64_t from_fs, uint64_t to_fs, Rontojoules energy);
  /// Number of windows up to the last one with any.
  uint64_t windows() const { return windows_; }
  /// Calls visit(first, end, energy) for ranges of windows with equal energy, in order and without gaps from `first` to
  /// `end`.
  template <class Visit>
  void for_each(uint64_t first, uint64_t end, Visit visit) const {
    Rontojoules level = 0;
    auto step = steps_.begin();
    for (; step != steps_.end() && step->first <= first; ++step) level += step->second;
    for (uint64_t at = first; at < end;) {
      uint64_t until = step == steps_.end() ? end : std::min(end, step->first);
      const auto page = pages_.lower_bound(at / kPage);
      Rontojoules here = level;
      if (page != pages_.end() && page->first == at / kPage) {
        here += (*page->second)[at % kPage];
        until = at + 1;
      } else if (page != pages_.end()) {
        until = std::min(until, page->first * kPage);
      }
      visit(at, until, here);
      at = until;
      for (; step != steps_.end() && step->first <= at; ++step) level += step->second;
    }
  }

 private:
  static constexpr uint64_t kPage = 256;
  using Page = std::array<Rontojoules, kPage>;
  void add_to(uint64_t window, Rontojoules energy);

  uint64_t window_fs_, windows_ = 0;
  std::map<uint64_t, std::unique_ptr<Page>> pages_;  ///< by window / kPage
  std::map<uint64_t, Rontojoules> steps_;            ///< from a window on, added to each, for long activities
  uint64_t last_page_ = ~uint64_t{0};
  Page* last_ = nullptr;
};

}  // namespace kernbench::energy
