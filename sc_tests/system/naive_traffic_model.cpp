// SPDX-License-Identifier: Apache-2.0
#include "naive_traffic_model.h"

#include <algorithm>
#include <cmath>
#include <deque>
#include <functional>
#include <map>
#include <stdexcept>
#include <tuple>

namespace kernbench::testing {

namespace {

int64_t fs(double ns) {
  return static_cast<int64_t>(std::floor(ns * 1e6 + 0.38));
}

int channel_of(const FlatNode& memory, uint64_t block) {
  const auto count = static_cast<uint64_t>(memory.pseudo_channels);
  if (!memory.hash || count == 1) return static_cast<int>(block % count);
  uint64_t channel = 0;
  for (uint64_t rest = block; rest; rest /= count) channel ^= rest % count;
  return static_cast<int>(channel);
}

using Server = std::pair<int, int>;  // kind, index
enum ServerKind { kLink, kMemory, kReads, kWrites, kPool };

struct Message {
  const FlatRequest* q = nullptr;
  std::vector<int> there, back;  // edges
  double grant = 0, done = 0;
  double drain = 0;       // data after the header of a read's response
  double not_before = 0;  // its end, if its header did not wait
  bool returning = false;
  size_t hop = 0;  // edges passed on the current leg
  Server came_from{kPool, -1};
  int64_t left_as = 0;  // its position in the departures from that server
  int64_t granted_as = 0;
};

}  // namespace

NaiveTrafficModel::NaiveTrafficModel(const FlatSystem& system) : system_(system) {}

double NaiveTrafficModel::bandwidth(int edge) const {
  const FlatEdge& e = system_.edges[static_cast<size_t>(edge)];
  double bw = e.bw;
  for (int end : {e.from, e.to}) bw *= system_.nodes[static_cast<size_t>(end)].efficiency;
  return bw;
}

/// Relaxes whole labels (nm, hops, edges) until nothing changes.
std::vector<int> NaiveTrafficModel::path(int from, int to) const {
  using Label = std::tuple<int64_t, size_t, std::vector<int>>;
  std::map<int, Label> best{{from, Label{0, 0, {}}}};
  for (bool changed = true; changed;) {
    changed = false;
    for (int e = 0; e < static_cast<int>(system_.edges.size()); ++e) {
      const FlatEdge& edge = system_.edges[static_cast<size_t>(e)];
      const auto at = best.find(edge.from);
      if (at == best.end() || (edge.from != from && !system_.nodes[static_cast<size_t>(edge.from)].transit)) continue;
      Label next = at->second;
      std::get<0>(next) += std::llround(edge.mm * 1e6);
      std::get<1>(next) += 1;
      std::get<2>(next).push_back(e);
      const auto known = best.find(edge.to);
      if (known == best.end() || next < known->second) {
        best[edge.to] = next;
        changed = true;
      }
    }
  }
  return best.count(to) ? std::get<2>(best[to]) : std::vector<int>{};
}

std::vector<int> NaiveTrafficModel::way_back(const std::vector<int>& path) const {
  std::vector<int> back;
  for (auto e = path.rbegin(); e != path.rend(); ++e) {
    const FlatEdge& there = system_.edges[static_cast<size_t>(*e)];
    for (int b = 0; b < static_cast<int>(system_.edges.size()); ++b) {
      const FlatEdge& edge = system_.edges[static_cast<size_t>(b)];
      if (edge.from == there.to && edge.to == there.from) back.push_back(b);
    }
  }
  return back.size() == path.size() ? back : std::vector<int>{};
}

const FlatMemory& NaiveTrafficModel::memory_of(const FlatRequest& q) const {
  for (const FlatMemory& m : system_.memories)
    if (q.address >= m.base && q.address + q.bytes <= m.base + m.size) return m;
  throw std::logic_error("no memory there");
}

bool NaiveTrafficModel::possible(const FlatRequest& q) const {
  const std::vector<int> there = path(q.initiator, memory_of(q).node);
  if (there.empty()) return false;
  return (q.write && !system_.routed) || !way_back(there).empty();
}

std::vector<NaiveResult> NaiveTrafficModel::run(const std::vector<FlatRequest>& requests) const {
  std::vector<NaiveResult> results = play(requests);
  for (size_t i = 0; i < requests.size(); ++i) {
    FlatRequest alone = requests[i];
    alone.issue_ns = 0;
    results[i].formula_ns = play({alone}).front().done_ns;
  }
  return results;
}

std::vector<NaiveResult> NaiveTrafficModel::play(const std::vector<FlatRequest>& requests) const {
  const FlatSystem& s = system_;
  const auto node = [&](int n) -> const FlatNode& { return s.nodes[static_cast<size_t>(n)]; };
  const auto edge = [&](int e) -> const FlatEdge& { return s.edges[static_cast<size_t>(e)]; };
  const auto over = [](double bytes, double bw) { return bw > 0 ? bytes / bw : 0.0; };

  // In each instant: first events inside initiators, then responses leave memories, then arrivals at servers.
  struct Instant {
    std::deque<std::function<void()>> inside;
    std::vector<std::tuple<int64_t, std::function<void()>>> departures;   // by order of arrival at the memory
    std::map<Server, std::vector<std::pair<Message*, double>>> arrivals;  // with the exact time
  };
  std::map<int64_t, Instant> todo;

  std::deque<Message> messages(requests.size());
  std::map<Server, double> free_at;
  std::map<std::pair<int, int>, double> channel_free_at;  // (memory node, pseudo-channel)
  std::map<Server, int> in_service;
  std::map<Server, std::deque<Message*>> waiting;
  int64_t departures = 0, grants = 0, memory_arrivals = 0;

  const auto pool_of = [&](const Message& m) -> Server {
    if (node(m.q->initiator).kind == "pcie_ep") return {kPool, m.q->initiator};
    return {m.q->write ? kWrites : kReads, m.q->initiator};
  };
  const auto servers_of = [&](const Server& pool) {
    const FlatNode& n = node(pool.second);
    if (pool.first == kPool) return n.outstanding ? n.outstanding : 1 << 30;
    return pool.first == kReads ? n.rd_engines : n.wr_engines;
  };
  const auto leg = [](const Message& m) -> const std::vector<int>& { return m.returning ? m.back : m.there; };
  // Bytes that travel with the header on this leg.
  const auto payload = [](const Message& m) {
    return m.q->write != m.returning ? static_cast<double>(m.q->bytes) : 0.0;
  };

  // Zero-load time of a read's header from the memory to the initiator.
  const auto idle_way = [&](const Message& m) {
    double ns = node(m.q->initiator).overhead_ns;
    for (size_t i = 0; i < m.back.size(); ++i) {
      const FlatEdge& e = edge(m.back[i]);
      ns += e.mm * s.ns_per_mm;
      if (i + 1 == m.back.size()) break;
      ns += node(e.to).overhead_ns;
      if (node(e.to).store_and_forward) ns += over(static_cast<double>(m.q->bytes), bandwidth(m.back[i]));
    }
    return ns;
  };

  std::function<void(Message&, double)> header_at_node, grant_next_after;
  const auto leave_server = [&](Message& m, Server from) {
    m.came_from = from;
    m.left_as = ++departures;
  };
  const auto finish = [&](Message& m, double t) {
    m.done = t;
    todo[fs(t)].inside.push_back([&, t] { grant_next_after(m, t); });
  };

  // The header of m is at the node after `m.hop` edges of its segment.
  header_at_node = [&](Message& m, double t) {
    while (true) {
      const std::vector<int>& way = leg(m);
      const int at = m.hop == 0 ? edge(way[0]).from : edge(way[m.hop - 1]).to;
      const bool end = m.hop == way.size();
      if (end && !m.returning) {
        todo[fs(t)].arrivals[{kMemory, at}].push_back({&m, t});
        return;
      }
      const bool at_memory = m.returning && m.hop == 0;
      if (!at_memory) t += node(at).overhead_ns;
      if (m.hop > 0 && !end && node(at).store_and_forward) t += over(payload(m), bandwidth(way[m.hop - 1]));
      if (end) {
        finish(m, std::max(t + m.drain, m.not_before));
        return;
      }
      if (s.cut_through) {
        todo[fs(t)].arrivals[{kLink, way[m.hop]}].push_back({&m, t});
        return;
      }
      t += edge(way[m.hop]).mm * s.ns_per_mm;
      ++m.hop;
    }
  };

  const auto grant = [&](Message& m, double t) {
    const Server pool = pool_of(m);
    ++in_service[pool];
    m.grant = t;
    m.granted_as = ++grants;
    leave_server(m, pool);
    header_at_node(m, t);
  };
  grant_next_after = [&](Message& m, double t) {
    const Server pool = pool_of(m);
    --in_service[pool];
    if (waiting[pool].empty()) return;
    Message& next = *waiting[pool].front();
    waiting[pool].pop_front();
    grant(next, t);
  };

  const auto pass_link = [&](Message& m, int e, double ready) {
    double& free = free_at[{kLink, e}];
    const double start = std::max(ready, free);
    free = start + over(payload(m) + s.header_bytes, bandwidth(e));
    leave_server(m, {kLink, e});
    ++m.hop;
    header_at_node(m, start + edge(e).mm * s.ns_per_mm);
  };

  const auto serve_memory = [&](Message& m, int at, double arrival) {
    const FlatNode& memory = node(at);
    const double bytes = static_cast<double>(m.q->bytes);
    double narrowest = 0, narrowest_inner = 0;
    for (int e : m.q->write ? m.there : m.back) {
      const double bw = bandwidth(e);
      if (bw <= 0) continue;
      if (narrowest == 0 || bw < narrowest) narrowest = bw;
      const bool touches = edge(e).from == at || edge(e).to == at;
      if (!touches && (narrowest_inner == 0 || bw < narrowest_inner)) narrowest_inner = bw;
    }
    double header_leaves = 0, done = 0, drain = over(bytes, narrowest);
    if (memory.pseudo_channels == 0) {
      double& free = free_at[{kMemory, at}];
      const double start = std::max(arrival, free);
      header_leaves = start + memory.overhead_ns;
      done = free = header_leaves + drain;
    } else {
      header_leaves = arrival + memory.overhead_ns;
      drain = over(bytes, narrowest_inner);
      done = header_leaves + drain;
      const uint64_t offset = m.q->address - memory_of(*m.q).base;
      for (uint64_t from = offset; from < offset + m.q->bytes;) {
        const uint64_t to = std::min((from / memory.interleave + 1) * memory.interleave, offset + m.q->bytes);
        double& free = channel_free_at[{at, channel_of(memory, from / memory.interleave)}];
        const uint64_t bursts = (to - 1) / memory.burst - from / memory.burst + 1;
        free = std::max(free, header_leaves) + over(static_cast<double>(bursts * memory.burst), memory.pc_bw);
        done = std::max(done, free);
        from = to;
      }
    }
    if (!s.routed) {
      finish(m, done);
      return;
    }
    const double leaves = m.q->write ? done : header_leaves;
    m.drain = m.q->write ? 0 : drain;
    m.not_before = m.q->write ? 0 : done + idle_way(m);
    todo[fs(leaves)].departures.push_back({++memory_arrivals, [&, at, leaves] {
                                             m.returning = true;
                                             m.hop = 0;
                                             leave_server(m, {kMemory, at});
                                             header_at_node(m, leaves);
                                           }});
  };

  for (size_t i = 0; i < requests.size(); ++i) {
    Message& m = messages[i];
    m.q = &requests[i];
    m.there = path(m.q->initiator, memory_of(*m.q).node);
    m.back = way_back(m.there);
    todo[fs(m.q->issue_ns)].inside.push_back([&] {
      const Server pool = pool_of(m);
      if (waiting[pool].empty() && in_service[pool] < servers_of(pool)) {
        grant(m, m.q->issue_ns);
      } else {
        waiting[pool].push_back(&m);
      }
    });
  }

  while (!todo.empty()) {
    Instant& now = todo.begin()->second;
    if (!now.inside.empty()) {
      const auto act = now.inside.front();
      now.inside.pop_front();
      act();
    } else if (!now.departures.empty()) {
      auto first = std::min_element(now.departures.begin(), now.departures.end(),
                                    [](const auto& a, const auto& b) { return std::get<0>(a) < std::get<0>(b); });
      const auto act = std::get<1>(*first);
      now.departures.erase(first);
      act();
    } else if (!now.arrivals.empty()) {
      const Server server = now.arrivals.begin()->first;
      auto& all = now.arrivals.begin()->second;
      // For each upstream server, only the first departure may go; among these: by grant, initiator, reads first.
      const auto behind_another = [&](const Message& m) {
        return std::any_of(all.begin(), all.end(), [&](const auto& o) {
          return o.first->came_from == m.came_from && o.first->left_as < m.left_as;
        });
      };
      const auto rank = [&](const Message& m) {
        return std::make_tuple(fs(m.grant), m.q->initiator, m.q->write, m.granted_as);
      };
      size_t chosen = all.size();
      for (size_t i = 0; i < all.size(); ++i) {
        if (behind_another(*all[i].first)) continue;
        if (chosen == all.size() || rank(*all[i].first) < rank(*all[chosen].first)) chosen = i;
      }
      Message& m = *all[chosen].first;
      const double t = all[chosen].second;
      all.erase(all.begin() + static_cast<std::ptrdiff_t>(chosen));
      if (all.empty()) now.arrivals.erase(now.arrivals.begin());
      if (server.first == kLink) {
        pass_link(m, server.second, t);
      } else {
        serve_memory(m, server.second, t);
      }
    } else {
      todo.erase(todo.begin());
    }
  }

  std::vector<NaiveResult> results;
  for (const Message& m : messages) results.push_back({m.grant, m.done, 0});
  return results;
}

}  // namespace kernbench::testing
