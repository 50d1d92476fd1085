// SPDX-License-Identifier: Apache-2.0
#include "random_traffic.h"

#include <set>
#include <sstream>

namespace kernbench::testing {

namespace {

template <class T>
T pick(std::mt19937_64& r, std::initializer_list<T> from) {
  return from.begin()[r() % from.size()];
}
bool chance(std::mt19937_64& r, int percent) {
  return static_cast<int>(r() % 100) < percent;
}

class Builder {
 public:
  Builder(std::mt19937_64& r, const RandomOptions& o) : r_(r), o_(o) {}

  FlatSystem build() {
    s_.cut_through = o_.cut_through;
    s_.routed = o_.routed;
    s_.header_bytes = pick(r_, {0.0, 0.0, 16.0, 32.0});
    const int transit = 2 + static_cast<int>(r_() % 6);
    for (int t = 0; t < transit; ++t) {
      add_transit(t);
      if (t > 0) link(t, static_cast<int>(r_() % static_cast<uint64_t>(t)));
    }
    for (uint64_t extra = r_() % 5; extra > 0; --extra) {
      const int a = static_cast<int>(r_() % static_cast<uint64_t>(transit));
      const int b = static_cast<int>(r_() % static_cast<uint64_t>(transit));
      if (a != b) link(a, b, chance(r_, 30));
    }
    const auto any_transit = [&] { return static_cast<int>(r_() % static_cast<uint64_t>(transit)); };
    const int memories = 1 + static_cast<int>(r_() % 4);
    uint64_t base = 0;
    for (int m = 0; m < memories; ++m) {
      const uint64_t size = pick<uint64_t>(r_, {1 << 20, 1 << 16, 3 << 18});
      add_memory(m, any_transit(), base, size);
      base += size + pick<uint64_t>(r_, {0, 4096, 1 << 20});
    }
    const int initiators = 2 + static_cast<int>(r_() % 6);
    for (int i = 0; i < initiators; ++i) add_initiator(i, any_transit());
    return s_;
  }

 private:
  double overhead() { return o_.ties ? pick(r_, {0.0, 1.0, 2.0}) : pick(r_, {0.0, 0.5, 1.0, 2.0, 2.51, 5.0, 8.0}); }
  double mm() { return o_.ties ? pick(r_, {10.0, 20.0}) : pick(r_, {0.5, 1.0, 1.5, 2.5, 3.7, 12.125}); }
  double bw() { return o_.ties ? pick(r_, {64.0, 128.0}) : pick(r_, {8.0, 32.0, 64.0, 96.5, 128.0, 256.0, 0.0}); }

  void link(int a, int b, bool one_way = false) {
    if (pairs_.count({a, b}) || (!one_way && pairs_.count({b, a}))) return;
    const FlatEdge e{a, b, mm(), bw()};
    pairs_.insert({a, b});
    s_.edges.push_back(e);
    s_.one_way.push_back(one_way);
    if (one_way) return;
    pairs_.insert({b, a});
    s_.edges.push_back({b, a, e.mm, e.bw});
    s_.one_way.push_back(false);
  }
  void add_transit(int t) {
    FlatNode n;
    n.id = "t" + std::to_string(t);
    n.kind = pick<const char*>(r_, {"router", "xbar", "bridge", "switch", "ucie", "noc"});
    n.impl = "builtin." + n.kind;
    n.transit = true;
    n.store_and_forward = chance(r_, 20);
    n.overhead_ns = overhead();
    s_.nodes.push_back(n);
  }
  void add_memory(int m, int at, uint64_t base, uint64_t size) {
    FlatNode n;
    n.id = "mem" + std::to_string(m);
    n.kind = chance(r_, 75) ? "hbm_ctrl" : "sram";
    n.impl = "builtin." + n.kind;
    n.overhead_ns = overhead();
    if (n.kind == "hbm_ctrl") {
      n.efficiency = pick(r_, {1.0, 1.0, 0.8, 0.5});
      if (chance(r_, 50)) {
        n.impl = "builtin.hbm_pc";
        n.pseudo_channels = pick(r_, {1, 2, 3, 8});
        n.interleave = pick<uint64_t>(r_, {256, 1024});
        n.pc_bw = pick(r_, {8.0, 16.0, 32.0});
        n.hash = n.pseudo_channels != 3 && pick(r_, {false, true});
        n.burst = pick<uint64_t>(r_, {1, 64});
      }
    }
    s_.nodes.push_back(n);
    const int index = static_cast<int>(s_.nodes.size()) - 1;
    link(at, index);
    s_.memories.push_back({index, base, size});
  }
  void add_initiator(int i, int at) {
    FlatNode n;
    n.kind = pick<const char*>(r_, {"pe_dma", "pe_dma", "pe_dma", "m_cpu", "pcie_ep"});
    n.id = "i" + std::to_string(i) + "." + n.kind;
    n.impl = "builtin." + n.kind;
    n.overhead_ns = overhead();
    if (n.kind == "pcie_ep") {
      n.transit = true;
      n.store_and_forward = true;
      n.outstanding = o_.ties ? 1 : pick(r_, {0, 1, 2});
    } else if (!o_.ties) {
      // With ties: one engine each. Otherwise two messages of equal rank could meet, whose order the contract leaves
      // open (§9).
      n.rd_engines = pick(r_, {1, 1, 2, 3});
      n.wr_engines = pick(r_, {1, 1, 2});
    }
    s_.nodes.push_back(n);
    link(static_cast<int>(s_.nodes.size()) - 1, at);
  }

  std::mt19937_64& r_;
  const RandomOptions& o_;
  FlatSystem s_;
  std::set<std::pair<int, int>> pairs_;
};

}  // namespace

FlatSystem random_system(std::mt19937_64& r, const RandomOptions& o) {
  return Builder(r, o).build();
}

std::vector<FlatRequest> random_requests(std::mt19937_64& r, const FlatSystem& s, const RandomOptions& o,
                                         size_t count) {
  std::vector<int> initiators;
  for (size_t n = 0; n < s.nodes.size(); ++n) {
    const std::string& kind = s.nodes[n].kind;
    if (kind == "pe_dma" || kind == "m_cpu" || kind == "pcie_ep") initiators.push_back(static_cast<int>(n));
  }
  std::vector<FlatRequest> requests;
  double burst = 0;
  for (size_t i = 0; i < count; ++i) {
    FlatRequest q;
    // Bursts of simultaneous requests, some of them close together.
    if (chance(r, o.ties ? 10 : 30))
      burst += o.ties ? 4.0 * static_cast<double>(r() % 20) : 0.125 * static_cast<double>(r() % 2000);
    q.issue_ns = burst;
    q.initiator = initiators[r() % initiators.size()];
    q.write = chance(r, 40);
    const FlatMemory& m = s.memories[r() % s.memories.size()];
    q.bytes = o.ties ? pick<uint64_t>(r, {64, 256, 512}) : pick<uint64_t>(r, {1, 64, 100, 256, 1024, 4096, 5153});
    q.address = m.base + (o.ties ? r() % ((m.size - q.bytes) / 256) * 256 : r() % (m.size - q.bytes));
    requests.push_back(q);
  }
  return requests;
}

std::string FlatSystem::yaml() const {
  std::ostringstream y;
  y.precision(17);
  y << "ns_per_mm: " << ns_per_mm << "\ntiming: {links: " << (cut_through ? "cut_through" : "ideal")
    << ", response: " << (routed ? "routed" : "ideal") << ", header_bytes: " << header_bytes << "}\nnodes:\n";
  for (const FlatNode& n : nodes) {
    y << "- {id: " << n.id << ", kind: " << n.kind << ", impl: " << n.impl
      << ", attrs: {overhead_ns: " << n.overhead_ns;
    if (n.transit) y << ", store_and_forward: " << (n.store_and_forward ? "true" : "false");
    if (n.kind == "hbm_ctrl") y << ", efficiency: " << n.efficiency;
    if (n.kind == "pe_dma" || n.kind == "m_cpu")
      y << ", rd_engines: " << n.rd_engines << ", wr_engines: " << n.wr_engines;
    if (n.outstanding) y << ", outstanding: " << n.outstanding;
    if (n.pseudo_channels)
      y << ", pseudo_channels: " << n.pseudo_channels << ", interleave_bytes: " << n.interleave
        << ", pc_bw_gbs: " << n.pc_bw << ", hash: " << (n.hash ? "xor" : "none") << ", burst_bytes: " << n.burst;
    y << "}}\n";
  }
  y << "links:\n";
  for (size_t e = 0; e < edges.size(); ++e) {
    y << "- {from: " << nodes[static_cast<size_t>(edges[e].from)].id
      << ", to: " << nodes[static_cast<size_t>(edges[e].to)].id << ", distance_mm: " << edges[e].mm;
    if (edges[e].bw > 0) y << ", bw_gbs: " << edges[e].bw;
    if (one_way[e]) y << ", bidirectional: false";
    y << "}\n";
    if (!one_way[e]) ++e;  // its path back
  }
  y << "memories:\n";
  for (const FlatMemory& m : memories) {
    const FlatNode& n = nodes[static_cast<size_t>(m.node)];
    y << "- {node: " << n.id << ", space: " << (n.kind == "sram" ? "sram" : "hbm") << ", base: " << m.base
      << ", size: " << m.size << "}\n";
  }
  return y.str();
}

}  // namespace kernbench::testing
