// The time of a message that is alone in an idle system, flit by flit: the same steps as in traffic, at idle links.
#include "kernbench/systemc_models/fabric/flit_links.h"

namespace kernbench {
namespace {

/// A message alone: its flits at one place after the other.
class LoneMessage {
 public:
  explicit LoneMessage(std::vector<Flit> flits) : flits_(std::move(flits)) {}
  std::vector<Flit>& flits() { return flits_; }
  double first_ns() const { return flits_.front().time_ns; }
  double last_ns() const { return flits_.back().time_ns; }

  void cross_idle(const Link& link) {
    Link idle;
    idle.set({link.wire_ns, link.bw_gbs});
    for (Flit& f : flits_) cross(idle, f);
  }
  /// Arrival at a node; returns what store-and-forward made it wait.
  double enter(double overhead_ns, bool stores) {
    const double arrive = first_ns(), rest = stores ? last_ns() - arrive : 0;
    if (stores) {
      const double all = last_ns() + overhead_ns;
      for (Flit& f : flits_) f.time_ns = all;
    } else {
      double before = 0;
      for (Flit& f : flits_) become_ready(f, overhead_ns, before);
    }
    return rest;
  }

 private:
  std::vector<Flit> flits_;
};

/// The memory's part: the request's flits are there; sets when the response's leave.
void serve_alone(const Route& r, bool write, uint64_t address, uint64_t nbytes, const Rows& rows,
                 std::vector<Flit>& request, std::vector<Flit>& response) {
  const double first = request.front().time_ns;
  const FlitServers* servers = r.target->flit_servers();
  if (!servers) {
    const double arrival = request.back().time_ns;
    Service s;
    s.header_leaves_ns = arrival + r.target->lone_header_ns(r, write, address, nbytes, rows);
    s.finish_ns = arrival + r.target->lone_service_ns(r, write, address, nbytes, rows);
    double done = 0;
    for (Flit& f : response) f.time_ns = write ? s.finish_ns : leaves_evenly_ns(f, done, nbytes, s);
    return;
  }
  EdgeBandwidths edges;
  if (!r.hops.empty()) edges = {r.hops.back().out->link.bw_gbs, r.way_back().back().in->link.bw_gbs};
  std::vector<TurningServer> all(servers->count());
  double latest = 0;
  for (Flit& f : write ? request : response) {
    TurningServer& server = all[servers->server_of(f.address)];
    const FlitUse use(f, write, rows, static_cast<uint32_t>(request.size()));
    latest = std::max(latest, serve_flit_at(server, *servers, f, use, edges, write ? f.time_ns : first).end_ns);
    f.time_ns = latest;  // a read's flits leave in order
  }
  if (!write) return;
  for (Flit& f : response) f.time_ns = latest;
}

/// Where a lone message's first flit is, and when it is ready to leave; at the memory once for the request and once for
/// the response.
struct LonePlace {
  uint32_t node = 0;
  bool response = false;
  double arrive_ns = 0, overhead_ns = 0, ready_ns = 0;
};

std::vector<LoneStop> stops_of(const Route& r, const std::vector<LonePlace>& places, double latency_ns) {
  const size_t memory = r.hops.size();
  std::vector<LoneStop> stops;
  for (size_t i = 0; i < places.size(); ++i) {
    if (i == memory + 1) continue;
    const LonePlace& p = places[i];
    LoneStop s;
    s.node = p.node;
    s.response = p.response;
    s.arrive_ns = p.arrive_ns;
    double leaves = p.ready_ns;
    s.overhead_ns = p.overhead_ns;
    if (i == memory) {
      // The first flit is served; a write's acknowledgement leaves after the last.
      leaves = places[memory + 1].ready_ns;
      s.drain_ns = leaves - p.ready_ns;
    } else {
      s.store_forward_ns = p.ready_ns - p.arrive_ns - s.overhead_ns;
    }
    if (i + 1 < places.size()) {
      const Link& link = i < memory    ? r.hops[i].out->link
                         : i == memory ? r.way_back().back().in->link
                                       : r.way_back()[p.node - 1].in->link;
      s.transfer_ns = places[i == memory ? i + 2 : i + 1].arrive_ns - leaves - link.wire_ns;
    } else {
      s.drain_ns = latency_ns - p.ready_ns;  // the rest of the data
    }
    stops.push_back(s);
  }
  return stops;
}

}  // namespace

LoneTime FlitLinks::work_out(const Route& r, bool write, uint64_t address, uint64_t nbytes, const Rows& rows,
                             std::vector<LoneStop>* stops) const {
  const auto message = [&](bool back) {
    std::vector<Flit> flits;
    const uint64_t bytes = rows.data_bytes(write, back, nbytes);
    for (uint64_t cut = 0; cut < bytes; cut += nbytes) {  // a compare-and-swap's twice
      for_each_flit_of_packets(address, rows, cuts(), [&](uint64_t a, double n, bool header) {
        Flit& f = flits.emplace_back();
        f.address = a;
        f.bytes = n;
        f.header = header;
        f.index = static_cast<uint32_t>(flits.size() - 1);
      });
    }
    if (flits.empty()) flits.emplace_back().bytes = fabric_.timing().header_bytes;
    if (!back) flits.front().list_bytes = static_cast<double>(rows.list_bytes);
    return LoneMessage(std::move(flits));
  };
  LoneMessage request = message(false), response = message(true);

  LoneTime lone;
  std::vector<LonePlace> places;
  const double memory_overhead = r.target ? end_ns(*r.target) : 0;
  const auto enter = [&](LoneMessage& m, size_t node, bool back) {
    const double arrive = m.first_ns();
    if (!back && node == r.hops.size()) {
      // serve() has the overhead in it.
      m.enter(r.target->flit_servers() ? memory_overhead : 0, false);
      places.push_back({static_cast<uint32_t>(node), back, arrive, memory_overhead, arrive + memory_overhead});
      return;
    }
    const PassingMessage passing{write, back, address, nbytes, rows};
    const Stop stop = back ? r.back(node) : r.there(node);
    const double overhead = stop.cost(passing).overhead_ns;
    lone.store_forward_ns += m.enter(overhead, node > 0 && passing.has_data() && stop.node->stores_and_forwards());
    places.push_back({static_cast<uint32_t>(node), back, arrive, overhead, m.first_ns()});
  };
  for (size_t i = 0; i < r.hops.size(); ++i) {
    enter(request, i, false);
    request.cross_idle(r.hops[i].out->link);
  }
  if (!r.target) {  // the way of messages: there it ends
    lone.latency_ns = request.last_ns();
    return lone;
  }
  enter(request, r.hops.size(), false);
  const double asked = request.first_ns();
  serve_alone(r, write, address, nbytes, rows, request.flits(), response.flits());
  if (rows.unanswered) {
    lone.latency_ns = response.first_ns();  // when its memory is finished with it
    if (stops) *stops = stops_of(r, places, lone.latency_ns);
    return lone;
  }
  places.push_back({static_cast<uint32_t>(r.hops.size()), true, asked, 0, response.first_ns()});
  for (size_t i = r.way_back().size(); i-- > 0;) {
    response.cross_idle(r.way_back()[i].in->link);
    enter(response, i, true);
  }
  lone.latency_ns = response.last_ns();
  if (stops) *stops = stops_of(r, places, lone.latency_ns);
  return lone;
}

}  // namespace kernbench
