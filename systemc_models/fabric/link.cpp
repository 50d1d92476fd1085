// SPDX-License-Identifier: Apache-2.0
#include "kernbench/systemc_models/fabric/link.h"

#include <algorithm>

namespace kernbench::fabric {

Order ReadyOrder::of(const Order& own, double arrival_ns, double ready_ns, const void* next) {
  const uint64_t arrival = femtoseconds(arrival_ns), ready = femtoseconds(ready_ns);
  if (latest_fs_ < arrival) first_ = pending_.size();  // the usual case, without reading them
  while (first_ < pending_.size() && pending_[first_].fs < arrival) ++first_;
  if (first_ == pending_.size()) {
    pending_.clear();
    first_ = 0;
  }
  Order order = own;
  if (ready <= latest_fs_) {  // the last tied entry has the greatest order of them
    for (size_t i = pending_.size(); i-- > first_;) {
      if (pending_[i].fs != ready || pending_[i].next != next) continue;
      if (order < pending_[i].order) order = pending_[i].order;
      break;
    }
  }
  latest_fs_ = std::max(latest_fs_, ready);
  pending_.push_back({ready, next, order});
  return order;
}

}  // namespace kernbench::fabric
