// SPDX-License-Identifier: Apache-2.0
#include "kernbench/systemc_models/pe/tlb.h"

namespace kernbench::pe {

bool Tlb::look_up(uint64_t page) {
  const auto found = where_.find(page);
  if (found != where_.end()) {
    pages_.splice(pages_.begin(), pages_, found->second);
    return true;
  }
  if (pages_.size() == entries_) {
    where_.erase(pages_.back());
    pages_.pop_back();
  }
  pages_.push_front(page);
  where_.emplace(page, pages_.begin());
  return false;
}

void Tlb::drop(uint64_t first, uint64_t last) {
  for (auto page = pages_.begin(); page != pages_.end();) {
    const bool dropped = *page >= first && *page <= last;
    if (dropped) where_.erase(*page);
    page = dropped ? pages_.erase(page) : std::next(page);
  }
}

}  // namespace kernbench::pe
