#include "kernbench/systemc_models/fabric/route.h"

#include <algorithm>
#include <deque>
#include <map>

#include "kernbench/systemc_models/fabric/fabric_node.h"
#include "kernbench/systemc_models/fabric/fabric_port.h"
#include "kernbench/systemc_models/fabric/foreign_neighbour.h"
#include "kernbench/systemc_models/fabric/router.h"

namespace kernbench {
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

const Link& Stop::link() const {
  return out->link;
}

NodeCost Stop::cost(const PassingMessage& m) const {
  if (out && from) return node->passing_cost(m, from);
  return {out ? node->begin_ns(m) : node->end_ns(), 0};
}

Stop Route::there(size_t i) const {
  return {&hops[i].out->node(), hops[i].out, i > 0 ? &hops[i - 1].out->link : nullptr};
}

Stop Route::back(size_t i) const {
  const Hop& hop = way_back()[i];
  // A foreign memory that is bound without an adapter has no port of this project's: its answer comes by the neighbour.
  const Link* from = hop.in ? &hop.in->link : hop.out->foreign() ? &hop.out->foreign()->from : nullptr;
  return {&hop.out->node(), i > 0 ? way_back()[i - 1].in : nullptr, from};
}

std::vector<Hop> fewest_hops(FabricNode& from, FabricNode& to, const PassedBy& passed_by) {
  std::map<FabricNode*, Hop> reached = {{&from, {}}};  // how each node was reached first
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
  for (size_t i = 0; i < r.hops.size(); ++i) {
    const Hop& hop = r.hops[i];
    double there = hop.out->link.bw_gbs, back = hop.in && r.own_back.empty() ? hop.in->link.bw_gbs : 0;
    if (hop.out->foreign()) {
      r.known = false;
      if (hop.in && hop.in->foreign()) narrow(there, hop.in->foreign()->from.bw_gbs);
      narrow(back, hop.out->foreign()->from.bw_gbs);
    }
    narrow(r.write_bw, there);
    narrow(r.read_bw, back);
    if (i + 1 == r.hops.size()) continue;
    narrow(r.write_inner_bw, there);
    narrow(r.read_inner_bw, back);
  }
  for (size_t i = 0; i < r.own_back.size(); ++i) {
    narrow(r.read_bw, r.own_back[i].in->link.bw_gbs);
    if (i + 1 < r.own_back.size()) narrow(r.read_inner_bw, r.own_back[i].in->link.bw_gbs);
  }
}

}  // namespace kernbench
