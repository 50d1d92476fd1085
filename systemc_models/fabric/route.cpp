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

void RangeGrouping::add(uint64_t address, uint64_t nbytes) {
  if (nbytes_ > 0 && address == address_ + nbytes_) {
    nbytes_ += nbytes;
    return;
  }
  close();
  address_ = address;
  nbytes_ = nbytes;
}

void RangeGrouping::close() {
  // Mostly the memory of the one before.
  if (last_ < memories_.size()) {
    const Route& r = *memories_[last_];
    const uint64_t offset = address_ - r.base;
    if (offset < r.size && nbytes_ <= r.size - offset) {
      RangeGroup& g = groups_[last_];
      g.ranges.push_back({address_ - g.address, nbytes_});
      g.nbytes += nbytes_;
      nbytes_ = 0;
      return;
    }
  }
  while (nbytes_ > 0) {
    const auto holds = [&](const Route* r) { return address_ - r->base < r->size; };
    auto memory = std::find_if(memories_.begin(), memories_.end(), holds);
    if (memory == memories_.end()) {
      memories_.push_back(&routes_.route(initiator_, address_, 1, write_));
      memory = memories_.end() - 1;
      groups_.emplace_back().address = address_;
    }
    last_ = static_cast<size_t>(memory - memories_.begin());
    RangeGroup& g = groups_[last_];
    const uint64_t here = std::min(nbytes_, (*memory)->size - (address_ - (*memory)->base));
    g.ranges.push_back({address_ - g.address, here});
    g.nbytes += here;
    address_ += here;
    nbytes_ -= here;
  }
}

size_t RangeGrouping::group_of(uint64_t address) const {
  const auto holds = [&](const Route* r) { return address - r->base < r->size; };
  if (!holds(memories_[last_]))
    last_ = static_cast<size_t>(std::find_if(memories_.begin(), memories_.end(), holds) - memories_.begin());
  return last_;
}

std::vector<RangeGroup> RangeGrouping::take() {
  close();
  return std::move(groups_);
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
