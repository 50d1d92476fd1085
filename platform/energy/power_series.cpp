// SPDX-License-Identifier: Apache-2.0
#include "kernbench/platform/energy/power_series.h"

#include <algorithm>

namespace kernbench::energy {

void PowerSeries::add_to(uint64_t window, Rontojoules energy) {
  const uint64_t page = window / kPage;
  if (page != last_page_ || !last_) {
    std::unique_ptr<Page>& p = pages_[page];
    if (!p) p = std::make_unique<Page>();
    last_ = p.get();
    last_page_ = page;
  }
  (*last_)[window % kPage] += energy;
}

void PowerSeries::add(uint64_t from_fs, uint64_t to_fs, Rontojoules energy) {
  const uint64_t first = from_fs / window_fs_, last = to_fs > from_fs ? (to_fs - 1) / window_fs_ : to_fs / window_fs_;
  windows_ = std::max(windows_, last + 1);
  if (to_fs <= from_fs || first == last) return add_to(last, energy);
  const Rontojoules whole = to_fs - from_fs;
  // energy · fs / whole, rounded down, without the product.
  const auto share = [&](uint64_t fs) { return energy / whole * fs + energy % whole * fs / whole; };
  const Rontojoules head = share((first + 1) * window_fs_ - from_fs), each = share(window_fs_);
  const uint64_t inner = last - first - 1;
  add_to(first, head);
  if (inner > kPage) {
    steps_[first + 1] += each;
    steps_[last] -= each;
  } else {
    for (uint64_t w = first + 1; w < last; ++w) add_to(w, each);
  }
  add_to(last, energy - head - each * inner);
}

}  // namespace kernbench::energy
