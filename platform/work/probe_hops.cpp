// SPDX-License-Identifier: Apache-2.0
#include "kernbench/platform/work/probe.h"

#include <algorithm>

#include "kernbench/phase2/op/errors.h"
#include "kernbench/platform/platform.h"
#include "kernbench/systemc_models/fabric/memory_target.h"

namespace kernbench::work {

namespace {

class HopTracer {
 public:
  HopTracer(Platform& platform, const ProbeCase& c, uint64_t nbytes, const Route& route)
      : platform_(platform), case_(c), nbytes_(nbytes), route_(route) {}

  ProbeTrace trace() {
    std::vector<ZeroLoadHop> hops;
    platform_.system().mode().work_out(route_, case_.write, probe_address(platform_, case_), nbytes_, {1, nbytes_, 0},
                                       &hops);
    for (const ZeroLoadHop& hop : hops) add(hop);
    mark_bottleneck();
    for (const ProbeHop& h : out_.hops) out_.drain_ns += h.transfer_ns + h.drain_ns;
    out_.total_ns = out_.hops.back().leave_ns();
    return std::move(out_);
  }

 private:
  bool responses_travel() const { return platform_.system().responses_travel(); }

  void add(const ZeroLoadHop& at) {
    ProbeHop h;
    h.node = at.node->owner().index();
    h.response = at.response;
    h.arrive_ns = at.arrive_ns;
    h.overhead_ns = at.overhead_ns;
    h.store_forward_ns = at.store_forward_ns;
    h.drain_ns = at.drain_ns;
    h.transfer_ns = at.transfer_ns;
    if (at.link) {
      h.edge = at.link->edge;
      h.wire_ns = at.link->wire_ns;
      h.bw_gbs = at.link->bw_gbs;
      if (!responses_travel() && !case_.write && route_.returns) h.bw_gbs = route_.hops[at.number].in->link.bw_gbs;
    }
    out_.hops.push_back(h);
  }

  void mark_bottleneck() {
    const double least = route_.target->narrowest_link_gbs(route_, case_.write);
    const Hop& last = route_.hops.back();
    const double edge_bw = case_.write ? last.out->link.bw_gbs : route_.way_back().back().in->link.bw_gbs;
    out_.memory_bw_gbs = memory_bandwidth(platform_, case_.memory, edge_bw);
    out_.memory_is_bottleneck = out_.memory_bw_gbs > 0 && (least == 0 || out_.memory_bw_gbs < least);
    if (least == 0 || out_.memory_is_bottleneck) return;
    const size_t memory = route_.hops.size();
    const bool back = responses_travel() && !case_.write;
    for (size_t i = back ? memory : 0; i < (back ? out_.hops.size() : memory); ++i) {
      ProbeHop& h = out_.hops[i];
      h.bottleneck = h.edge != ProbeHop::kNoEdge && h.bw_gbs == least;
    }
  }

  Platform& platform_;
  const ProbeCase& case_;
  const uint64_t nbytes_;
  const Route& route_;
  ProbeTrace out_;
};

}  // namespace

double memory_bandwidth(Platform& platform, uint32_t memory, double edge_bw_gbs) {
  const uint32_t node = platform.graph().memories[memory].node;
  return dynamic_cast<MemoryTarget&>(platform.component(node)).most_gbs(edge_bw_gbs);
}

ProbeTrace trace_hops(Platform& platform, const ProbeCase& c, uint64_t nbytes) {
  try {
    const Route& route = platform.routes().route(c.initiator, probe_address(platform, c), nbytes, c.write);
    return HopTracer(platform, c, nbytes, route).trace();
  } catch (const AccessError& e) {
    throw InputError(c.name + ": " + e.what());
  }
}

}  // namespace kernbench::work
