// SPDX-License-Identifier: Apache-2.0
// The zero-load latency of a transaction, flit by flit: the same steps as with traffic, on idle links.
#include "kernbench/systemc_models/fabric/flit_links.h"
#include "kernbench/systemc_models/fabric/path.h"

namespace kernbench::fabric {
namespace {

/// An isolated message: its flits at one node after another.
class IsolatedMessage {
 public:
  explicit IsolatedMessage(std::vector<Flit> flits) : flits_(std::move(flits)) {}
  std::vector<Flit>& flits() { return flits_; }
  double first_ns() const { return flits_.front().time_ns; }
  double last_ns() const { return flits_.back().time_ns; }

  void cross_idle(const Link& link) {
    Link idle;
    idle.set({link.wire_ns, link.bw_gbs});
    for (Flit& f : flits_) cross(idle, f);
  }
  /// Arrival at a node. Returns the wait for store-and-forward.
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

/// The memory's part: the request's flits have arrived. Sets the times at which the response's flits leave.
void serve_alone(const Route& r, bool write, uint64_t address, uint64_t nbytes, const Rows& rows,
                 std::vector<Flit>& request, std::vector<Flit>& response) {
  const double first = request.front().time_ns;
  const FlitServers* servers = r.target->flit_servers();
  if (!servers) {
    const double arrival = request.back().time_ns;
    Service s = r.target->at_zero_load({r, write, address, nbytes, rows});
    s.header_leaves_ns += arrival;
    s.finish_ns += arrival;
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

}  // namespace

ZeroLoad FlitLinks::work_out(const Route& r, bool write, uint64_t address, uint64_t nbytes, const Rows& rows,
                             std::vector<ZeroLoadHop>* hops) const {
  const auto message = [&](bool back) {
    std::vector<Flit> flits;
    const uint64_t bytes = rows.data_bytes(write, back, nbytes);
    for (uint64_t cut = 0; cut < bytes; cut += nbytes) {  // a compare-and-swap carries its bytes twice
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
    return IsolatedMessage(std::move(flits));
  };
  IsolatedMessage request = message(false), response = message(true);

  ZeroLoad zero;
  double left = 0;  // of the first flit, from the last added node
  const auto add = [&](const FabricNode& node, uint32_t number, bool back, double arrive, double overhead,
                       double ready) {
    if (!hops) return;
    if (!hops->empty()) hops->back().transfer_ns = arrive - left - hops->back().link->wire_ns;
    ZeroLoadHop at;
    at.node = &node;
    at.number = number;
    at.response = back;
    at.arrive_ns = arrive;
    at.overhead_ns = overhead;
    at.store_forward_ns = ready - arrive - overhead;
    hops->push_back(at);
    left = ready;
  };
  const auto enter = [&](IsolatedMessage& m, const PathHop& hop) {
    const PassingMessage passing{write, hop.response, address, nbytes, rows};
    const double arrive = m.first_ns(), overhead = hop.cost(passing).overhead_ns;
    const bool stores = hop.number > 0 && passing.has_data() && hop.node().stores_and_forwards();
    zero.store_forward_ns += m.enter(overhead, stores);
    add(hop.node(), hop.number, hop.response, arrive, overhead, m.first_ns());
  };
  const auto cross_link = [&](IsolatedMessage& m, const PathHop& hop) {
    if (hops) hops->back().link = hop.link;
    m.cross_idle(*hop.link);
  };
  const auto ends = [&](double at_ns) {
    if (hops) hops->back().drain_ns = at_ns - left;  // the rest of the data
    zero.latency_ns = at_ns;
    return zero;
  };
  for (const PathHop& hop : r.path(false)) {
    enter(request, hop);
    cross_link(request, hop);
  }
  if (!r.target) {  // a message ends there
    zero.latency_ns = request.last_ns();
    return zero;
  }
  const double arrive = request.first_ns(), overhead = r.target->end_ns();
  request.enter(r.target->flit_servers() ? overhead : 0, false);  // serve() includes the overhead
  add(*r.target, static_cast<uint32_t>(r.hops.size()), false, arrive, overhead, arrive + overhead);
  serve_alone(r, write, address, nbytes, rows, request.flits(), response.flits());
  if (rows.posted) return ends(response.first_ns());  // when its memory has finished
  if (hops) hops->back().drain_ns = response.first_ns() - left;
  left = response.first_ns();
  for (const PathHop& hop : r.path(true)) {
    cross_link(response, hop);
    enter(response, hop);
  }
  return ends(response.last_ns());
}

}  // namespace kernbench::fabric
