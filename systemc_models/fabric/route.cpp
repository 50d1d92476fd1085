// SPDX-License-Identifier: Apache-2.0
#include "kernbench/systemc_models/fabric/route.h"

#include <algorithm>
#include <deque>
#include <map>

#include "kernbench/systemc_models/fabric/path.h"
#include "kernbench/systemc_models/fabric/router.h"

namespace kernbench::fabric {
namespace {

void narrow(double& least, double bw) {
  if (bw > 0 && (least == 0 || bw < least)) least = bw;
}

}  // namespace

void RangeGrouping::add_elsewhere(uint64_t address, uint64_t nbytes) {
  while (nbytes > 0) {
    const auto holds = [&](const Route* r) { return address - r->base < r->size; };
    auto memory = std::find_if(memories_.begin(), memories_.end(), holds);
    if (memory == memories_.end()) {
      memories_.push_back(&routes_.route(initiator_, address, 1, write_));
      memory = memories_.end() - 1;
      groups_.emplace_back().address = address;
      if (groups_.size() == 1) groups_.front().ranges.reserve(expected_);
    }
    if (const auto at = static_cast<size_t>(memory - memories_.begin()); at != last_ || size_ == 0) {
      last_ = at;
      base_ = end_ = (*memory)->base;
      size_ = (*memory)->size;
    }
    const uint64_t here = std::min(nbytes, size_ - (address - base_));
    add_here(address, here);
    address += here;
    nbytes -= here;
  }
}

size_t RangeGrouping::group_of(uint64_t address) const {
  const auto holds = [&](const Route* r) { return address - r->base < r->size; };
  if (!holds(memories_[found_]))
    found_ = static_cast<size_t>(std::find_if(memories_.begin(), memories_.end(), holds) - memories_.begin());
  return found_;
}

std::vector<Hop> fewest_hops(FabricNode& from, FabricNode& to, const PassedBy& passed_by) {
  std::map<FabricNode*, Hop> reached = {{&from, {}}};  // the hop by which each node was first reached
  std::deque<FabricNode*> open = {&from};
  while (!open.empty() && !reached.count(&to)) {
    FabricNode* node = open.front();
    open.pop_front();
    if (node != &from && !dynamic_cast<Router*>(node)) continue;
    for (FabricPort* p : node->ports()) {
      const auto behind = passed_by.find(p);
      FabricPort* next = behind != passed_by.end() ? behind->second : p->forward() ? p->neighbour() : nullptr;
      if (next && reached.emplace(&next->node(), Hop{p, next}).second) open.push_back(&next->node());
    }
  }
  if (!reached.count(&to))
    throw AccessError(from.owner().id() + ": no way to " + to.owner().id() + " over connected routers");
  std::vector<Hop> hops;
  for (FabricNode* node = &to; node != &from;) {
    const Hop& hop = reached.at(node);
    hops.push_back(hop);
    node = &hop.out->node();
  }
  std::reverse(hops.begin(), hops.end());
  return hops;
}

void measure(Route& r) {
  r.read_bw = r.write_bw = r.read_inner_bw = r.write_inner_bw = 0;
  r.known = true;
  for (const bool response : {false, true}) {
    double &all = response ? r.read_bw : r.write_bw, &inner = response ? r.read_inner_bw : r.write_inner_bw;
    const Path path = r.path(response);
    for (const PathHop& hop : path) {
      r.known = r.known && !hop.port->foreign();
      double least = hop.link ? hop.link->bw_gbs : 0;
      if (hop.past_foreign) narrow(least, hop.past_foreign->bw_gbs);
      narrow(all, least);
      if (hop.number + 1 < path.size()) narrow(inner, least);
    }
  }
}

}  // namespace kernbench::fabric
