// SPDX-License-Identifier: Apache-2.0
#include "kernbench/platform/energy/meter.h"

#include <algorithm>
#include <map>
#include <utility>

#include "kernbench/phase2/op/femtoseconds.h"
#include "kernbench/platform/elaborate/machine.h"
#include "kernbench/platform/insight/usage.h"
#include "kernbench/systemc_models/core/component_catalog.h"

namespace kernbench::energy {
namespace {

/// Operations of all engines so far, and their time at peak.
struct Computed {
  double flops = 0, peak_ns = 0;
};
Computed computed(Machine& machine) {
  Computed c;
  for (size_t p = 0; p < machine.pes().count(); ++p) {
    for (const Pe::Engine& e : machine.pes().pe(p).engines) {
      for (const StageStatistics& s : e.role->statistics()) {
        c.flops += s.flops;
        c.peak_ns += s.peak_ns;
      }
    }
  }
  return c;
}

/// Number of nodes of each kind, in order of first appearance.
std::vector<std::pair<std::string, uint64_t>> kinds_of(const topology::Graph& graph) {
  std::vector<std::pair<std::string, uint64_t>> kinds;
  std::map<std::string, size_t> at;
  for (const topology::Node& n : graph.nodes) {
    const auto [it, is_new] = at.emplace(n.kind, kinds.size());
    if (is_new) kinds.emplace_back(n.kind, 0);
    ++kinds[it->second].second;
  }
  return kinds;
}

Silicon built(Machine& machine, const EnergyTable& table) {
  if (table.constants.lower_bound("area.") == table.constants.lower_bound("area/")) return {};
  std::map<uint32_t, uint64_t> tcms;
  for (size_t p = 0; p < machine.pes().count(); ++p) {
    const TcmRole* tcm = machine.pes().pe(p).tcm;
    const auto& blocks = machine.graph().pes[p].blocks;
    if (const auto at = blocks.find(TcmRole::kKind); tcm && at != blocks.end())
      tcms[at->second] = tcm->reserved_bytes() + tcm->allocatable_bytes();
  }
  Built facts;
  facts.tcm_bytes = [&](uint32_t node) { return tcms[node]; };
  facts.memory_gbs = [&](uint32_t node) { return insight::most_gbs(machine, node); };
  return silicon_of(machine.graph(), component_catalog(), table, facts);
}

}  // namespace

Meter::Meter(Machine& machine, std::shared_ptr<const EnergyTable> table)
    : machine_(machine),
      table_(*table),
      begin_ns_(machine.now_ns()),
      silicon_(built(machine, table_)),
      activity_(machine, *this) {
  const Computed before = computed(machine);
  flops_before_ = before.flops;
  peak_ns_before_ = before.peak_ns;
  for (const auto& [kind, nodes] : kinds_of(machine.graph())) {
    if (const Constant* c = table_.find("static." + kind)) idle_.push_back({kind, c, nodes, 0, power_of(c->name)});
  }
  const auto um2_1e3 = static_cast<int64_t>(silicon_.area_1e9_um2.value / 1'000'000'000'000);
  if (const Constant* c = table_.find("static.die"); c && um2_1e3 > 0)
    idle_.push_back({"die", c, 1, um2_1e3, power_of(c->name)});
}

// ---- powers

uint64_t Meter::since_begin_fs(double t) const {
  const uint64_t begin = femtoseconds(begin_ns_), at = femtoseconds(t);
  return at > begin ? at - begin : 0;
}

size_t Meter::power_of(std::string_view constant) {
  const std::string name(class_of(constant));
  const auto it = std::find_if(powers_.begin(), powers_.end(), [&](const Power& p) { return p.name == name; });
  if (it != powers_.end()) return static_cast<size_t>(it - powers_.begin());
  powers_.emplace_back().name = name;
  return powers_.size() - 1;
}

void Meter::add(size_t power, uint64_t from_fs, uint64_t to_fs, Rontojoules energy) {
  powers_[power].series.add(from_fs, to_fs, energy);
  all_.add(from_fs, to_fs, energy);
}

void Meter::add_idle_up_to(uint64_t fs) {
  if (fs <= idle_fs_) return;
  for (const Idle& i : idle_)
    add(i.power, idle_fs_, fs, energy_of(*i.constant, i.nodes * (fs - idle_fs_), i.area).value);
  idle_fs_ = fs;
}

double Meter::joules_between(double from_ns, double to_ns) const {
  constexpr double kWindowNs = static_cast<double>(kWindowFs) * 1e-6;
  const auto first = static_cast<uint64_t>(from_ns / kWindowNs), end = static_cast<uint64_t>(to_ns / kWindowNs) + 1;
  double sum = 0;
  all_.for_each(first, end, [&](uint64_t begin, uint64_t until, Rontojoules each) {
    const double from = std::max(from_ns, static_cast<double>(begin) * kWindowNs);
    const double to = std::min(to_ns, static_cast<double>(until) * kWindowNs);
    sum += joules(each) * std::max(0.0, to - from) / kWindowNs;
  });
  return sum;
}

uint64_t Meter::known_windows() {
  add_pending();
  const uint64_t known = since_begin_fs(activity_.open_from_ns()) / kWindowFs;
  add_idle_up_to(known * kWindowFs);
  return known;
}

// ---- counts

/// The table's constant for the action at that place; null: none. A row is named after its constant.
const Constant* Meter::constant_of(ActivityRow& row) {
  if (row.sram_bytes > 0) return table_.sram(row.sram_bytes, row.write);
  // If the two parts of a memory access are missing, the constant of the complete access is used; it includes
  // activates.
  const bool in_parts = table_.find("hbm.open_row") && table_.find("hbm.activate");
  if (row.constant == "hbm.open_row" && !in_parts) row.constant = "hbm.access";
  if (row.constant == "hbm.activate" && !in_parts && table_.find("hbm.access")) row.constant.clear();
  return table_.find(row.constant);
}

void Meter::row_added(ActivityRow& row) {
  const Constant* c = constant_of(row);
  rates_.push_back(c ? Rate{energy_of(*c, 1, row.nm).value, power_of(c->name)} : Rate{});
}

void Meter::counted(size_t row, uint64_t amount, double from, double to) {
  const Rate& rate = rates_[row];
  if (rate.each == 0) return;
  if (from != pending_.from || to != pending_.to) {
    add_pending();
    pending_.from = from;
    pending_.to = to;
  }
  pending_.energy.resize(powers_.size());
  pending_.energy[rate.power] += product(rate.each, Rontojoules{amount});
}

void Meter::add_pending() {
  for (size_t power = 0; power < pending_.energy.size(); ++power) {
    const Rontojoules energy = std::exchange(pending_.energy[power], 0);
    if (energy > 0) add(power, since_begin_fs(pending_.from), since_begin_fs(pending_.to), energy);
  }
}

// ---- the account

void Meter::fill_actions(Account& account) const {
  const topology::Graph& graph = machine_.graph();
  std::vector<const ActivityRow*> rows;
  for (const ActivityRow& r : activity_.rows()) rows.push_back(&r);
  std::sort(rows.begin(), rows.end(), [](const ActivityRow* a, const ActivityRow* b) {
    return a->place != b->place ? a->place < b->place : a->action < b->action;
  });
  for (const ActivityRow* r : rows) {
    std::string component;
    if (r->place < graph.nodes.size()) {
      component = graph.nodes[r->place].id;
    } else {
      const topology::Edge& e = graph.edges[r->place - graph.nodes.size()];
      component = graph.nodes[e.from].id + "->" + graph.nodes[e.to].id;
    }
    account.actions.push_back({std::move(component), r->action, r->constant, r->count, r->nm});
  }
  for (const Idle& i : idle_)
    account.actions.push_back({"*." + i.kind, "fs", i.constant->name, i.nodes * account.fs, i.area});
}

std::shared_ptr<const Account> Meter::account(double run_ns, size_t pes) {
  auto account = std::make_shared<Account>();
  account->table = table_.name;
  account->fs = femtoseconds(std::max(run_ns, 0.0));  // 0 for a run that was stuck
  activity_.settle();
  add_pending();
  add_idle_up_to(account->fs);
  const Computed now = computed(machine_);
  account->flops = now.flops - flops_before_;
  if (run_ns > 0 && pes > 0)
    account->utilization = (now.peak_ns - peak_ns_before_) / (run_ns * static_cast<double>(pes));
  account->window_fs = kWindowFs;
  all_.for_each(0, all_.windows(),
                [&](uint64_t, uint64_t, Rontojoules each) { account->peak = std::max(account->peak, each); });
  fill_actions(*account);
  account->area = silicon_.area;
  account->dies = silicon_.dies;
  account->packages = silicon_.packages;
  account->hbm_bytes = silicon_.hbm_bytes;
  account->hbm_stacks = silicon_.hbm_stacks;
  account->bounds = table_.bounds;
  std::map<std::string, Constant> used;
  for (const auto* actions : {&account->actions, &account->area}) {
    for (const Action& a : *actions) {
      if (const Constant* c = table_.find(a.constant)) used.emplace(a.constant, *c);
    }
  }
  for (const auto& [name, constant] : table_.constants) {
    if (class_of(name) == "cost" || (name == "area.rest" && !account->dies.empty())) used.emplace(name, constant);
  }
  for (const ActivityRow& r : activity_.rows()) {
    if (r.sram_bytes == 0) continue;
    if (const Constant* c = table_.sram(r.sram_bytes, r.write)) used.emplace(c->name, *c);
  }
  for (auto& [name, constant] : used) account->constants.push_back(std::move(constant));
  if (idle_.empty()) account->unknown.emplace_back("static power");
  account->unknown.emplace_back(table_.find("static.die") ? "control" : "clocks and control");
  return account;
}

}  // namespace kernbench::energy
