// SPDX-License-Identifier: Apache-2.0
#include "kernbench/platform/energy/silicon.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <set>
#include <string>
#include <utility>

#include "kernbench/phase2/op/space.h"
#include "kernbench/platform/topology/graph/edge_kinds.h"
#include "kernbench/platform/topology/view/floorplan.h"
#include "kernbench/systemc_models/core/effective_attributes.h"

namespace kernbench::energy {
namespace {

using topology::Edge;
using topology::Graph;
using topology::Node;

constexpr double kBitsOfGbs = 8;         // wires per GB/s at 1 GHz
constexpr uint64_t kUnlimitedFlits = 4;  // assumed size of buffers that a topology leaves unlimited

bool same(const Band& a, const Band& b) {
  return a.low == b.low && a.value == b.value && a.high == b.high;
}

uint64_t whole(double v) {
  return static_cast<uint64_t>(std::ceil(v - 1e-9));
}

/// For one die, or for all.
class Parts {
 public:
  void add(const std::string& kind, const std::string& what, const std::string& constant, uint64_t count) {
    const std::string component = "*." + kind;
    const auto it = std::find_if(list_.begin(), list_.end(),
                                 [&](const Action& a) { return a.component == component && a.constant == constant; });
    (it == list_.end() ? list_.emplace_back(Action{component, what, constant, 0, 0}) : *it).count += count;
  }
  const std::vector<Action>& list() const { return list_; }

 private:
  std::vector<Action> list_;
};

/// The bandwidth that leaves a die over blocks of one kind.
struct Leaving {
  std::string kind;
  double gbs = 0;
  void add(const std::string& over, double more) {
    kind = over;
    gbs += more;
  }
};

struct OnDie {
  std::string name;
  Parts parts;
  Leaving hbm, ucie, pcie;
  uint64_t hbm_bytes = 0;
  Band edge;  ///< as in Die
};

class Builder {
 public:
  Builder(const Graph& graph, const ImplCatalog& catalog, const EnergyTable& table, const Built& built)
      : graph_(graph), catalog_(catalog), table_(table), built_(built) {}

  Silicon build() {
    for (uint32_t n = 0; n < graph_.nodes.size(); ++n) node(n);
    for (const Edge& e : graph_.edges) edge(e);
    Silicon s;
    std::set<std::string> packages;
    Parts all;
    for (OnDie& d : dies_) {
      s.hbm_stacks += off_die(d);
      s.hbm_bytes += d.hbm_bytes;
      Band area;
      for (const Action& a : d.parts.list()) {
        all.add(a.component.substr(2), a.action, a.constant, a.count);
        area += area_of(a);
      }
      area += rest_of(table_.find("area.rest"), area);
      s.area_1e9_um2 += area;
      if (area.value == 0) continue;
      packages.insert(topology::floorplan::sip_of(d.name));
      const auto alike = std::find_if(s.dies.begin(), s.dies.end(), [&](const Die& other) {
        return same(other.area, area) && same(other.edge, d.edge);
      });
      (alike == s.dies.end() ? s.dies.emplace_back(Die{d.name, 0, area, d.edge}) : *alike).count += 1;
    }
    s.area = all.list();
    s.packages = packages.size();
    return s;
  }

 private:
  OnDie& die_of(const Node& n) {
    const std::string name = topology::floorplan::part_of(n);
    const auto [it, fresh] = die_at_.emplace(name, dies_.size());
    if (fresh) dies_.emplace_back().name = name;
    return dies_[it->second];
  }

  /// As in Account, before one exists.
  Band area_of(const Action& a) const {
    Account one;
    if (const Constant* c = table_.find(a.constant)) one.constants = {*c};
    return energy::area_of(one, a);
  }

  const KindFacts& facts_of(const Node& n) const { return catalog_.kinds().find(n.kind)->facts; }

  void node(uint32_t at) {
    const Node& n = graph_.nodes[at];
    OnDie& die = die_of(n);
    // "area.sram" is per bit, not per block of that kind.
    if (const Constant* own = table_.find("area." + n.kind); own && own->unit == Unit::mm2)
      return die.parts.add(n.kind, "blocks", own->name, 1);
    const bool hbm = n.space == name_of(Space::hbm), shared = !n.space.empty() && !hbm;
    if (const uint64_t tcm = built_.tcm_bytes(at); tcm > 0 || shared) {
      die.parts.add(n.kind, "bits", shared && table_.find("area.cache") ? "area.cache" : "area.sram",
                    8 * (shared ? memory_bytes(at) : tcm));
      if (shared && table_.find("area.sram_port"))
        die.parts.add(n.kind, "port_bits", "area.sram_port",
                      whole(kBitsOfGbs * (in_and_out(at).first + in_and_out(at).second)));
      attributes(n, die);
      return;
    }
    if (hbm) {
      die.hbm_bytes += memory_bytes(at);
      die.hbm.add(n.kind, built_.memory_gbs(at));
      if (table_.find("area.hbm_phy")) return;
    }
    const KindFacts& facts = facts_of(n);
    if (attributes(n, die) || !facts.on_die) return;
    if (!facts.phy.empty() && table_.find("area." + facts.phy + "_phy")) return;  // by its edges' traffic
    if (n.transit && table_.find("area.crosspoint")) return router(at, die);
    die.parts.add(n.kind, "blocks", "area." + n.kind, 1);
  }

  /// The area of a node's declared attributes; false: the table has no constant for any of them.
  bool attributes(const Node& n, OnDie& die) const {
    struct Term {
      std::string counts;
      double sum = 0, factor = 1;
      const NumberMap* by_dtype = nullptr;
    };
    std::map<std::string, Term> terms;
    const auto values = effective_attributes(*catalog_.find(n.impl), n.attrs);
    for (const auto& [a, value] : values) {
      if (!a->area) continue;
      Term& term = terms["area." + a->area->constant];
      if (const auto* map = std::get_if<NumberMap>(&value)) {
        term.by_dtype = map->empty() ? nullptr : map;
      } else if (a->area->factor) {
        term.factor *= number_of(value);
      } else {
        term.sum += number_of(value) * a->area->each;
        term.counts = a->area->counts;
      }
    }
    bool any = false;
    for (const auto& [name, term] : terms) {
      const auto [constant, count] = largest(name, term.sum * term.factor, term.by_dtype);
      if (count > 0) die.parts.add(n.kind, term.counts, constant, whole(count));
      any = any || count > 0;
    }
    return any;
  }

  /// The constant; if there is one per dtype, the largest, because one array serves all types. 0: none.
  std::pair<std::string, double> largest(const std::string& name, double each, const NumberMap* by_dtype) const {
    if (table_.find(name)) return {name, each};
    std::pair<std::string, double> most;
    double area = 0;
    const std::string family = name + ".";
    for (auto it = table_.constants.lower_bound(family);
         it != table_.constants.end() && it->first.rfind(family, 0) == 0; ++it) {
      const std::string dtype = it->first.substr(family.size());
      if (by_dtype && by_dtype->count(dtype) == 0) continue;
      const double count = each * (by_dtype ? by_dtype->at(dtype) : 1);
      if (count * static_cast<double>(it->second.value) <= area) continue;
      most = {it->first, count};
      area = count * static_cast<double>(it->second.value);
    }
    return most;
  }

  /// Bandwidth of all edges to and from a node, GB/s.
  std::pair<double, double> in_and_out(uint32_t at) const {
    if (in_gbs_.empty()) {
      in_gbs_.resize(graph_.nodes.size());
      for (uint32_t e = 0; e < graph_.edges.size(); ++e) in_gbs_[graph_.edges[e].to] += graph_.effective_bw(e);
    }
    double out = 0;
    for (const uint32_t e : graph_.out_edges[at]) out += graph_.effective_bw(e);
    return {in_gbs_[at], out};
  }

  void router(uint32_t at, OnDie& die) const {
    const Node& n = graph_.nodes[at];
    const auto [in, out] = in_and_out(at);
    const uint64_t in_bits = whole(kBitsOfGbs * in), out_bits = whole(kBitsOfGbs * out);
    die.parts.add(n.kind, "crosspoints", "area.crosspoint", in_bits * out_bits);
    if (!table_.find("area.buffer")) return;
    // Each wire of an input is connected to all flits of its buffers, for requests and responses.
    const uint64_t limited = graph_.buffer_flits(at);
    const uint64_t flits = 2 * graph_.virtual_channels(at) * (limited > 0 ? limited : kUnlimitedFlits);
    die.parts.add(n.kind, "buffer_bits", "area.buffer", in_bits * flits);
  }

  void edge(const Edge& e) {
    const Node &from = graph_.nodes[e.from], &to = graph_.nodes[e.to];
    if (!e.bw_gbs) return;
    if (e.kind == topology::edge_kind::kPcie && facts_of(from).phy == e.kind)
      die_of(from).pcie.add(from.kind, *e.bw_gbs);
    if (e.kind == topology::edge_kind::kUcie && topology::floorplan::part_of(from) != topology::floorplan::part_of(to))
      die_of(from).ucie.add(from.kind, *e.bw_gbs);
  }

  /// PHYs, and the stacks of HBM that the die needs.
  uint64_t off_die(OnDie& d) const {
    const auto phy = [&](const Leaving& leaving, const char* constant) {
      if (table_.find(constant) && leaving.gbs > 0) d.parts.add(leaving.kind, "gbs", constant, whole(leaving.gbs));
    };
    phy(d.ucie, "area.ucie_phy");
    phy(d.pcie, "area.pcie_phy");
    const double gbs = table_.number("hbm.stack_gbs"), gb = table_.number("hbm.stack_gb");
    uint64_t stacks = 0;
    if (gbs > 0) stacks = whole(d.hbm.gbs / gbs);
    if (gb > 0) stacks = std::max(stacks, whole(static_cast<double>(d.hbm_bytes) / 1e9 / gb));
    if (table_.find("area.hbm_phy") && stacks > 0) d.parts.add(d.hbm.kind, "stacks", "area.hbm_phy", stacks);
    if (table_.knows_shoreline()) {
      add_edge(d, "shoreline.ucie_phy", whole(d.ucie.gbs));
      add_edge(d, "shoreline.pcie_phy", whole(d.pcie.gbs));
      add_edge(d, "shoreline.hbm_phy", stacks);
    }
    return stacks;
  }

  void add_edge(OnDie& d, const char* constant, uint64_t count) const {
    const Constant& c = *table_.find(constant);
    const auto of = [&](int64_t each) { return product(Rontojoules{count}, Rontojoules{each}); };
    d.edge += Band{of(c.low), of(c.value), of(c.high)};
  }

  uint64_t memory_bytes(uint32_t at) const {
    uint64_t bytes = 0;
    for (const topology::Memory& m : graph_.memories) {
      if (m.node == at) bytes += m.size;
    }
    return bytes;
  }

  const Graph& graph_;
  const ImplCatalog& catalog_;
  const EnergyTable& table_;
  const Built& built_;
  std::vector<OnDie> dies_;
  std::map<std::string, size_t> die_at_;
  mutable std::vector<double> in_gbs_;  ///< by node, computed on first use
};

}  // namespace

Silicon silicon_of(const Graph& graph, const ImplCatalog& catalog, const EnergyTable& table, const Built& built) {
  return Builder(graph, catalog, table, built).build();
}

}  // namespace kernbench::energy
