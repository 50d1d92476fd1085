// SPDX-License-Identifier: Apache-2.0
#include "kernbench/systemc_models/fabric/memory_target.h"

#include <algorithm>

#include "kernbench/phase2/op/address_text.h"
#include "kernbench/systemc_models/core/own_class.h"
#include "kernbench/systemc_models/fabric/flit.h"

namespace kernbench::fabric {

MemoryTarget::MemoryTarget(sc_core::sc_module_name name, const ComponentConfig& config,
                           const MemoryParameters& parameters)
    : Component(name, config, parameters),
      FabricNode(static_cast<Component&>(*this)),
      buffers_(buffers_of(parameters)),
      clear_at_reset_(parameters.clear_at_reset),
      request_ns_(parameters.request_ns),
      read_request_ns_(parameters.read_request_ns.value_or(parameters.request_ns)) {}

MemoryTarget::MemoryTarget(sc_core::sc_module_name name, const ComponentConfig& config,
                           const BufferParameters& parameters)
    : Component(name, config, parameters),
      FabricNode(static_cast<Component&>(*this)),
      buffers_(buffers_of(parameters)) {}

MemoryTarget::MemoryTarget(sc_core::sc_module_name name, const ComponentConfig& config,
                           const BlockParameters& parameters)
    : Component(name, config, parameters), FabricNode(static_cast<Component&>(*this)) {}

double MemoryTarget::most_gbs(double edge_bw_gbs) const {
  return flit_servers() ? flit_servers()->most_gbs(edge_bw_gbs) : edge_bw_gbs;
}

double MemoryTarget::narrowest_link_gbs(const Route& r, bool write) const {
  if (is_past_its_edge()) return write ? r.write_inner_bw : r.read_inner_bw;
  return write ? r.write_bw : r.read_bw;
}

double MemoryTarget::bottleneck_gbs(const Route& r, bool write) const {
  const FabricPort* edge = r.hops.empty() ? nullptr : write ? r.hops.back().out : r.way_back().back().in;
  const double edge_gbs = edge && !is_past_its_edge() ? edge->link.bw_gbs : 0;
  const double link = narrowest_link_gbs(r, write), own = most_gbs(edge_gbs);
  return link > 0 && own > 0 ? std::min(link, own) : std::max(link, own);
}

MemoryTarget::Taken MemoryTarget::take_request(const FabricTransaction& x, double arrival_ns) {
  Edge& edge = edges_[x.hop_count > 0 ? x.last_hop().in : nullptr];
  Taken t;
  t.ns = edge.any ? std::max(arrival_ns, edge.taken_ns + (x.write ? request_ns_ : read_request_ns_)) : arrival_ns;
  t.at_once = t.ns == arrival_ns && !(edge.any && Timeline::to_fs(edge.taken_ns) == Timeline::to_fs(arrival_ns));
  t.order = edge.order.of(x.own_order, arrival_ns, t.ns, this);
  edge.any = true;
  edge.taken_ns = t.ns;
  return t;
}

bool MemoryTarget::departs_in_turn(const FabricTransaction& x) const {
  return responses_waiting_ == 0 && (early_ == Early::all || (early_ == Early::reads && !x.write));
}

/// Time of a memory that its breakdown does not name is the memory's own, so that breakdowns sum.
Service MemoryTarget::begin_service(FabricTransaction& x) {
  constexpr double kNothingNs = 1e-9;
  x.served_whole = true;
  const Service s = ask_own(*this, "serve()", [&] { return take(x); });
  x.service_bound = s.bound;
  if (!s.later) {
    check(x.write, x.time_ns, s);
    book(x, s);
    const double open = s.finish_ns - x.time_ns - (s.overhead_ns + s.drain_ns + s.queue_ns);
    if (open > kNothingNs) {
      x.own_service_ns = open;
      x.drain_ns += open;
    }
  }
  if (const FabricObservers& o = observers()) {
    o->memory_request(*this, x, MemoryStep::arrived, x.time_ns);
    o->memory_request(*this, x, MemoryStep::started, x.time_ns + x.memory_queue_ns);
  }
  return s;
}

void MemoryTarget::book(FabricTransaction& x, const Service& s) {
  x.overhead_ns += s.overhead_ns;
  x.drain_ns += s.drain_ns;
  x.memory_queue_ns += s.queue_ns;
}

Service MemoryTarget::at_zero_load(const Request& q) const {
  const Service s = ask_own(*this, "serve()", [&] { return zero_load(q); });
  check(q.write, q.arrival_ns, s);
  return s;
}

Service MemoryTarget::zero_load(const Request& q) const {
  Service s;
  s.overhead_ns = overhead_ns();
  s.drain_ns = data_path_ns(q);
  s.header_leaves_ns = q.arrival_ns + s.overhead_ns;
  s.finish_ns = s.header_leaves_ns + s.drain_ns;
  return s;
}

double MemoryTarget::data_path_ns(const Request& q) const {
  const auto ns = [](uint64_t bytes, double bw) { return bw > 0 ? static_cast<double>(bytes) / bw : 0; };
  if (!q.write) return ns(q.nbytes, q.route.read_inner_bw);
  if (!fabric().mode().data_follow_header()) return 0;
  const double there = ns(q.rows.data_bytes(true, false, q.nbytes), q.route.write_inner_bw);
  return q.is_atomic() ? std::max(there, ns(q.nbytes, q.route.read_inner_bw)) : there;
}

void MemoryTarget::misled(const FabricTransaction& x) const {
  throw OwnClassError(*this, "a router's way() has led a transaction to " + address_text(x.address) +
                                 " here, expected " + (x.route->target ? x.route->target->id() : "a foreign memory"));
}

/// Checks that no time precedes the one that it follows from.
void MemoryTarget::check(bool write, double from_ns, const Service& s) const {
  const double begin = write ? from_ns : checked_ns(*this, "serve(): header_leaves_ns", s.header_leaves_ns, from_ns);
  checked_ns(*this, "serve(): finish_ns", s.finish_ns, begin);
}

void MemoryTarget::answer(FabricTransaction& x, const Service& s) {
  // The data of a read that leave as they arrive may be beyond this point by then.
  const bool left = !x.write && !x.flits.empty();
  check(x.write, left ? std::min(x.time_ns, timeline().now_ns()) : x.time_ns, s);
  book(x, s);
  fabric().mode().answer(x, *this, s);
}

void MemoryTarget::tell_finished(const FabricTransaction& x, double finish_ns) const {
  if (observers()) observers()->memory_request(*this, x, MemoryStep::finished, finish_ns);
}

FlitUse::FlitUse(const Flit& f, bool write, const Rows& rows, uint32_t flit_count) : reads(!write), writes(write) {
  if (rows.atomic == AtomicKind::compare) {
    reads = f.index < flit_count / 2;
    writes = !reads;
  } else if (rows.atomic != AtomicKind::none) {
    reads = true;
  }
}

FlitService serve_flit_at(TurningServer& server, const FlitServers& servers, const Flit& f, const FlitUse& use,
                          const EdgeBandwidths& edges, double ready_ns) {
  if (f.header) {
    const double free_ns = std::max(server.free_ns(), ready_ns);
    return {free_ns, free_ns};
  }
  const double start = server.start_ns(!use.reads, servers.turnaround_ns(), ready_ns);
  double ns = (use.reads ? servers.service_ns(f.address, f.bytes, edges.out) : 0) +
              (use.writes ? servers.service_ns(f.address, f.bytes, edges.in) : 0);
  if (use.reads && use.writes) ns += servers.turnaround_ns();
  server.take(start + ns, use.writes);
  return {start, start + ns};
}

double MemoryTarget::serve_flit(const FabricTransaction& x, const Flit& f, double ready_ns) {
  const FlitServers& servers = *flit_servers();
  if (flit_servers_.empty()) flit_servers_.resize(servers.count());
  const size_t number = servers.server_of(f.address);
  TurningServer& server = flit_servers_[number];
  EdgeBandwidths edges;
  if (x.hop_count > 0) edges = {x.last_hop().out->link.bw_gbs, x.first_back().in->link.bw_gbs};
  const FlitService s = serve_flit_at(server, servers, f, FlitUse(f, x.write, x.rows, x.flit_count), edges, ready_ns);
  if (observers()) observers()->channel_taken(*this, x, number, ready_ns, s.start_ns, s.end_ns);
  return s.end_ns;
}

double MemoryTarget::flit_start_ns(bool writes, uint64_t address, double ready_ns) const {
  if (flit_servers_.empty()) return ready_ns;
  const FlitServers& servers = *flit_servers();
  return flit_servers_[servers.server_of(address)].start_ns(writes, servers.turnaround_ns(), ready_ns);
}

}  // namespace kernbench::fabric
