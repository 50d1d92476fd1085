// SPDX-License-Identifier: Apache-2.0
#include "kernbench/platform/observe/access_hops.h"

#include <algorithm>

#include "kernbench/platform/elaborate/fabric_watch.h"
#include "kernbench/platform/platform.h"
#include "kernbench/systemc_models/fabric/memory_target.h"

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

void AccessHops::end(const FabricTransaction& x, double t) {
  const auto it = under_way_.find(&x);
  if (it == under_way_.end()) return;
  Access& a = it->second;
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
  done(x, a.number, a.hops, t);
  a.hops.clear();
  idle_.push_back(std::move(a.hops));
  under_way_.erase(it);
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
