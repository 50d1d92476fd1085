#include "kernbench/systemc_models/fabric/flit.h"

#include <algorithm>

#include "kernbench/systemc_models/memory/memory_target.h"

namespace kernbench {

void pass_link(Link& link, Flit& f) {
  const double start = std::max(f.time_ns, link.free_ns);
  const double transfer = link.transfer_ns(f.bytes);
  link.free_ns = start + transfer;
  link.busy_ns += transfer;
  link.messages += f.last;
  if (link.observer) link.observer->link_taken(link, f.time_ns, start, link.free_ns, f.bytes);
  f.time_ns = link.free_ns + link.wire_ns;
}

void become_ready_in_order(Flit& f, double overhead_ns) {
  double& last = f.transaction->ready_ns[f.node];
  last = f.index == 0 ? f.time_ns + overhead_ns : std::max(f.time_ns, last);
  f.time_ns = last;
}

void become_ready(Flit& f, double overhead_ns, Link& from, const void* next) {
  const double arrival = f.time_ns;
  become_ready_in_order(f, overhead_ns);
  f.order = from.ready_order.of(f.transaction->own_order, arrival, f.time_ns, next);
}

Flit* header_flit(Fabric& fabric, FabricTransaction& x, bool response) {
  Flit* f = fabric.acquire_flit();
  *f = Flit{};
  f->transaction = &x;
  f->bytes = fabric.header_bytes;
  f->last = true;
  f->response = response;
  f->order = x.own_order;
  return f;
}

void data_flits(Fabric& fabric, FabricTransaction& x, bool response) {
  x.train.clear();
  for_each_flit(x.address, x.rows, fabric.flit_bytes, [&](uint64_t address, uint64_t bytes) {
    Flit* f = fabric.acquire_flit();
    *f = Flit{};
    f->transaction = &x;
    f->address = address;
    f->bytes = static_cast<double>(bytes);
    f->index = static_cast<uint32_t>(x.train.size());
    f->response = response;
    f->order = x.own_order;
    x.train.push_back(f);
  });
  x.train.back()->last = true;
  x.flits = static_cast<uint32_t>(x.train.size());
}

namespace {

struct LoneFlit {
  uint64_t address;
  double bytes;
  double t;
};

void cross(const Link& link, std::vector<LoneFlit>& flits) {
  double free = 0;
  for (LoneFlit& f : flits) {
    free = std::max(f.t, free) + link.transfer_ns(f.bytes);
    f.t = free + link.wire_ns;
  }
}

struct Place {
  uint32_t node;
  bool response;
  double overhead_ns;
  bool store_and_forward;
};

void enter(const Place& at, std::vector<LoneFlit>& flits, LoneFlitTrace* trace) {
  const double arrive = flits.front().t;
  if (at.store_and_forward) {
    if (trace) trace->store_forward_ns += flits.back().t - arrive;
    const double all = flits.back().t + at.overhead_ns;
    for (LoneFlit& f : flits) f.t = all;
  } else {
    double last = arrive + at.overhead_ns;
    for (LoneFlit& f : flits) last = f.t = std::max(f.t, last);
  }
  if (trace && trace->stops) trace->stops->push_back({at.node, at.response, arrive, flits.front().t, flits.back().t});
}

}  // namespace

double lone_flit_latency_ns(const Fabric& fabric, const Route& r, bool write, uint64_t address, const Rows& rows,
                            LoneFlitTrace* trace) {
  std::vector<LoneFlit> data;
  for_each_flit(address, rows, fabric.flit_bytes, [&](uint64_t a, uint64_t bytes) {
    data.push_back({a, static_cast<double>(bytes), 0});
  });
  std::vector<LoneFlit> header{{address, fabric.header_bytes, 0}};

  std::vector<LoneFlit>& request = write ? data : header;
  const auto memory = static_cast<uint32_t>(r.hops.size());
  for (uint32_t i = 0; i < memory; ++i) {
    enter({i, false, r.hops[i].overhead_ns, i > 0 && write && r.hops[i].store_and_forward}, request, trace);
    cross(*r.hops[i].fwd, request);
  }
  enter({memory, false, r.target->overhead_ns(), false}, request, trace);
  const double asked = request.front().t;

  const double edge_bw = write ? r.hops.back().fwd->bw_gbs : r.hops.back().back->bw_gbs;
  std::vector<double> free(r.target->flit_servers(), 0.0);
  double latest = 0;
  for (LoneFlit& f : data) {
    double& server = free[r.target->flit_server(f.address)];
    server = std::max(server, write ? f.t : asked) + r.target->flit_service_ns(f.bytes, edge_bw);
    latest = std::max(latest, server);
    f.t = latest;  // a read's flits leave in order
  }
  std::vector<LoneFlit>& response = write ? header : data;
  if (write) header.front().t = latest;
  if (trace && trace->stops) trace->stops->push_back({memory, true, asked, response.front().t, response.back().t});
  for (uint32_t i = memory; i-- > 0;) {
    cross(*r.hops[i].back, response);
    enter({i, true, r.hops[i].overhead_ns, i > 0 && !write && r.hops[i].store_and_forward}, response, trace);
  }
  return response.back().t;
}

}  // namespace kernbench
