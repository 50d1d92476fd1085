// SPDX-License-Identifier: Apache-2.0
#include "kernbench/platform/observe/access_hops.h"

#include <algorithm>

#include "kernbench/platform/elaborate/fabric_watch.h"
#include "kernbench/platform/platform.h"
#include "kernbench/systemc_models/fabric/memory_target.h"
#include "kernbench/systemc_models/fabric/multicast.h"

namespace kernbench::observe {

AccessHops::AccessHops(Platform& platform) : platform_(platform) {
  watch_fabric(platform_.machine(), *this);
}

AccessHops::~AccessHops() {
  unwatch_fabric(platform_.machine(), *this);
}

void AccessHops::begin(const Component& initiator, const FabricTransaction& x, double t) {
  Access& a = under_way_[&x];
  a.number = ++last_number_;
  a.arrive_ns = t;
  if (!idle_.empty()) {
    a.hops = std::move(idle_.back());
    idle_.pop_back();
  }
  started(initiator, x, a.number, t);
}

void AccessHops::link_crossed(const FabricTransaction& x, const Link& link, const LinkCrossing& c) {
  const auto it = under_way_.find(&x);
  if (it == under_way_.end()) return;  // it was granted before recording began
  Access& a = it->second;
  if (!c.first) {
    const auto hop = std::find_if(a.hops.rbegin(), a.hops.rend(),
                                  [&](const AccessHop& h) { return h.edge == link.edge && h.response == c.response; });
    hop->tail_ns = c.end_ns;
    hop->bytes += c.bytes;
    return;
  }
  AccessHop hop;
  hop.node = platform_.graph().edges[link.edge].from;
  hop.edge = link.edge;
  hop.response = c.response;
  hop.start_ns = a.arrive_ns;
  hop.ready_ns = c.ready_ns;
  hop.end_ns = c.start_ns;
  hop.tail_ns = c.end_ns;
  hop.bytes = c.bytes;
  a.hops.push_back(hop);
  a.arrive_ns = c.arrive_ns;
}

void AccessHops::branched(const FabricTransaction& from, const FabricTransaction& branch, uint32_t flit) {
  const auto it = under_way_.find(&from);
  if (it == under_way_.end() || flit > 0) return;
  const double arrive_ns = it->second.arrive_ns;
  Access& b = under_way_[&branch];
  if (branch.message) b.hops = it->second.hops;
  b.arrive_ns = arrive_ns;
}

/// Adds the last hop.
void AccessHops::arrive(const FabricTransaction& x, Access& a, double t) {
  AccessHop last;
  if (a.hops.empty()) {  // a foreign initiator next to the memory
    last.node = x.route->target ? x.route->target->index() : x.initiator->owner().index();
  } else {
    last.node = platform_.graph().edges[a.hops.back().edge].to;
    last.response = a.hops.back().response;
  }
  last.start_ns = a.arrive_ns;
  last.ready_ns = last.end_ns = last.tail_ns = t;
  a.hops.push_back(last);
}

void AccessHops::end(const FabricTransaction& x, double t) {
  const auto it = under_way_.find(&x);
  if (it == under_way_.end()) return;
  Access a = std::move(it->second);
  under_way_.erase(it);
  arrive(x, a, t);
  if (x.multicast && !x.message) {
    x.multicast->for_each([&](const FabricTransaction& m) {
      const auto branch = under_way_.find(&m);
      if (branch == under_way_.end()) return;
      // An acknowledgement that another one represents ends where both meet.
      arrive(m, branch->second, std::max(branch->second.arrive_ns, m.done_ns));
      a.hops.insert(a.hops.end(), branch->second.hops.begin(), branch->second.hops.end());
      under_way_.erase(branch);
    });
  }
  done(x, a.number, a.hops, t);
  a.hops.clear();
  idle_.push_back(std::move(a.hops));
}

void AccessHops::access_started(const Component& initiator, const FabricTransaction& x, double t) {
  begin(initiator, x, t);
}

void AccessHops::access_done(const Component&, const FabricTransaction& x, double t) {
  end(x, t);
}

void AccessHops::post_started(const Component& initiator, const FabricTransaction& x, double t) {
  begin(initiator, x, t);
}

void AccessHops::post_done(const Component&, const FabricTransaction& x, double t) {
  end(x, t);
}

}  // namespace kernbench::observe
