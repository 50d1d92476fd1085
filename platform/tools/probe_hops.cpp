#include "kernbench/platform/tools/probe_hops.h"

#include <algorithm>

#include "kernbench/phase2/op/errors.h"
#include "kernbench/platform/elaborate/platform.h"
#include "kernbench/systemc_models/fabric/flit.h"
#include "kernbench/systemc_models/memory/memory_target.h"

namespace kernbench {

namespace {

class HopTracer {
 public:
  HopTracer(Platform& platform, const ProbeCase& c, uint64_t nbytes, const Route& route)
      : platform_(platform),
        fabric_(platform.fabric()),
        case_(c),
        nbytes_(nbytes),
        route_(route),
        routed_(fabric_.response == ResponseMode::routed || fabric_.links == LinkMode::flit) {}

  ProbeTrace trace() {
    list_nodes();
    if (fabric_.links == LinkMode::flit) {
      time_flits();
    } else {
      time_header();
    }
    mark_bottleneck();
    for (const ProbeHop& h : out_.hops) out_.drain_ns += h.transfer_ns + h.drain_ns;
    out_.total_ns = out_.hops.back().leave_ns();
    return std::move(out_);
  }

 private:
  /// Everything but times: the nodes of the way, their overheads and the edges that leave them.
  void list_nodes() {
    const topology::Graph& g = platform_.graph();
    const size_t memory = route_.hops.size();
    for (size_t i = 0; i <= memory; ++i) {
      ProbeHop h;
      if (i < memory) {
        const Route::Hop& hop = route_.hops[i];
        h.node = g.edges[hop.fwd->edge].from;
        leave_by(h, *hop.fwd, !routed_ && !case_.write && hop.back ? hop.back->bw_gbs : hop.fwd->bw_gbs);
      } else {
        h.node = g.edges[route_.hops.back().fwd->edge].to;
      }
      h.overhead_ns = platform_.component(h.node).overhead_ns();
      out_.hops.push_back(h);
    }
    if (!routed_) return;
    const Link& first_back = *route_.hops.back().back;
    leave_by(out_.hops.back(), first_back, first_back.bw_gbs);
    for (size_t i = memory; i-- > 0;) {
      ProbeHop h;
      h.response = true;
      h.node = g.edges[route_.hops[i].back->edge].to;
      h.overhead_ns = platform_.component(h.node).overhead_ns();
      if (i > 0) leave_by(h, *route_.hops[i - 1].back, route_.hops[i - 1].back->bw_gbs);
      out_.hops.push_back(h);
    }
  }

  static void leave_by(ProbeHop& h, const Link& link, double bw_gbs) {
    h.edge = link.edge;
    h.wire_ns = link.wire_ns;
    h.bw_gbs = bw_gbs;
  }

  void time_header() {
    const size_t memory = route_.hops.size();
    const double n = static_cast<double>(nbytes_);
    const double drain =
        route_.target->lone_service_ns(route_, case_.write, address(), nbytes_, rows()) - route_.target->overhead_ns();
    // Data that a routed read asked for ends its way at the initiator; all other data at the memory.
    ProbeHop& drained = routed_ && !case_.write ? out_.hops.back() : out_.hops[memory];
    drained.drain_ns = drain;
    for (size_t i = 0; i < out_.hops.size(); ++i) {
      ProbeHop& h = out_.hops[i];
      if (i > 0) h.arrive_ns = out_.hops[i - 1].leave_ns() + out_.hops[i - 1].wire_ns;
      if (i == memory || i == 0 || i + 1 == out_.hops.size()) continue;
      const size_t at = i < memory ? i : 2 * memory - i;  // position on the route
      if (!route_.hops[at].store_and_forward) continue;
      if (!h.response && case_.write) h.store_forward_ns = route_.hops[at - 1].fwd->transfer_ns(n);
      if (h.response && !case_.write) h.store_forward_ns = route_.hops[at].back->transfer_ns(n);
    }
  }

  void time_flits() {
    std::vector<LoneFlitStop> stops;
    LoneFlitTrace trace;
    trace.stops = &stops;
    const double total = lone_flit_latency_ns(fabric_, route_, case_.write, address(), rows(), &trace);
    const size_t memory = route_.hops.size();
    // The stops are those of the way, with the memory's twice: as the request's end and as the response's begin.
    for (size_t i = 0; i < out_.hops.size(); ++i) {
      ProbeHop& h = out_.hops[i];
      const LoneFlitStop& s = stops[i <= memory ? i : i + 1];
      h.arrive_ns = s.arrive_ns;
      double leaves = s.ready_ns;
      if (i == memory) {
        leaves =
            stops[memory + 1].ready_ns;  // the first flit is served; a write's acknowledgement leaves after the last
        h.drain_ns = leaves - s.ready_ns;
      } else {
        h.store_forward_ns = s.ready_ns - s.arrive_ns - h.overhead_ns;
      }
      if (i + 1 < out_.hops.size()) {
        h.transfer_ns = stops[i < memory ? i + 1 : i + 2].arrive_ns - leaves - h.wire_ns;
      } else {
        h.drain_ns = total - s.ready_ns;  // the rest of the data
      }
    }
  }

  void mark_bottleneck() {
    const double least = case_.write ? route_.write_bw : route_.read_bw;
    const double edge_bw = case_.write ? route_.hops.back().fwd->bw_gbs : route_.hops.back().back->bw_gbs;
    out_.memory_bw_gbs = memory_bandwidth(platform_, case_.memory, edge_bw);
    out_.memory_is_bottleneck = out_.memory_bw_gbs > 0 && (least == 0 || out_.memory_bw_gbs < least);
    if (least == 0 || out_.memory_is_bottleneck) return;
    const size_t memory = route_.hops.size();
    const bool back = routed_ && !case_.write;
    for (size_t i = back ? memory : 0; i < (back ? out_.hops.size() : memory); ++i) {
      ProbeHop& h = out_.hops[i];
      h.bottleneck = h.edge != ProbeHop::kNoEdge && h.bw_gbs == least;
    }
  }

  uint64_t address() const { return probe_address(platform_, case_); }
  Rows rows() const { return {1, nbytes_, 0}; }

  Platform& platform_;
  const Fabric& fabric_;
  const ProbeCase& case_;
  const uint64_t nbytes_;
  const Route& route_;
  const bool routed_;
  ProbeTrace out_;
};

}  // namespace

double memory_bandwidth(Platform& platform, uint32_t memory, double edge_bw_gbs) {
  const auto& target = dynamic_cast<MemoryTarget&>(platform.component(platform.graph().memories[memory].node));
  const double ns_per_byte = target.flit_service_ns(1, edge_bw_gbs);
  return ns_per_byte > 0 ? static_cast<double>(target.flit_servers()) / ns_per_byte : 0;
}

ProbeTrace trace_hops(Platform& platform, const ProbeCase& c, uint64_t nbytes) {
  try {
    const Route& route = platform.route(c.initiator, probe_address(platform, c), nbytes, c.write);
    return HopTracer(platform, c, nbytes, route).trace();
  } catch (const AccessError& e) {
    throw InputError(c.name + ": " + e.what());
  }
}

}  // namespace kernbench
