// SPDX-License-Identifier: Apache-2.0
#include "kernbench/platform/observe/statistics.h"

#include <fmt/format.h>

#include <fnmatch.h>

#include <algorithm>
#include <cmath>
#include <iterator>

#include "kernbench/phase2/op/errors.h"
#include "kernbench/phase2/text/text.h"
#include "kernbench/platform/elaborate/fabric_watch.h"
#include "kernbench/platform/observe/timed_changes.h"
#include "kernbench/platform/platform.h"
#include "kernbench/systemc_models/core/component_catalog.h"
#include "kernbench/systemc_models/fabric/memory_target.h"

namespace kernbench::observe {

double StatisticsSnapshot::value(const std::string& object, const std::string& counter) const {
  for (size_t i = 0; i < values_.size(); ++i) {
    const Counter& c = (*counters_)[i];
    if (c.object == object && c.name == counter) return values_[i];
  }
  throw InputError("statistics: found no counter '" + counter + "' of '" + object + "'; legal: those of counters()");
}

double StatisticsSnapshot::sum(const std::string& object_glob, const std::string& counter) const {
  double sum = 0;
  bool found = false;
  for (size_t i = 0; i < values_.size(); ++i) {
    const Counter& c = (*counters_)[i];
    if (c.name != counter || fnmatch(object_glob.c_str(), c.object.c_str(), 0) != 0) continue;
    sum += values_[i];
    found = true;
  }
  if (!found)
    throw InputError("statistics: found no counter '" + counter + "' of '" + object_glob +
                     "'; legal: those of counters()");
  return sum;
}

std::string StatisticsSnapshot::csv() const {
  std::string out = "object,counter,value\n";
  for (size_t i = 0; i < values_.size(); ++i) {
    const Counter& c = (*counters_)[i];
    if (values_[i] != 0) out += fmt::format("{},{},{}\n", c.object, c.name, values_[i]);
  }
  return out;
}

enum class Statistics::Kind : unsigned char {
  count,        ///< the value itself
  time_of_any,  ///< ns during which it is more than 0
  time_of_each  ///< the value times ns
};

/// Counters whose changes may be reported before they happen.
class Statistics::Totals : public TimedChanges {
 public:
  Variable add(Kind kind) {
    totals_.push_back({kind, 0, 0});
    return add_signal(64, 0);
  }
  /// One more from from_fs to to_fs. The report may come late: a flit's wait for room is known when the flit leaves.
  void during(Variable v, uint64_t from_fs, uint64_t to_fs) {
    if (from_fs < now_fs()) totals_[v].level_fs += std::min(now_fs(), to_fs) - from_fs;
    from_fs = std::max(from_fs, now_fs());
    if (from_fs >= to_fs) return;
    change(v, from_fs, 1);
    change(v, to_fs, -1);
  }
  /// All variables at the present.
  std::vector<double> all(uint64_t fs) {
    advance(fs);
    while (!idle() && next_fs() <= fs) work_off();  // includes changes at the present
    std::vector<double> v;
    for (Variable i = 0; i < totals_.size(); ++i) {
      bring_up(i, fs);
      v.push_back(totals_[i].kind == Kind::count ? static_cast<double>(signal(i).value)
                                                 : static_cast<double>(totals_[i].level_fs) * 1e-6);
    }
    return v;
  }

 private:
  __extension__ using LevelTime = unsigned __int128;  // exact: slices add up
  struct Total {
    Kind kind;
    uint64_t since_fs;
    LevelTime level_fs;
  };
  void bring_up(Variable v, uint64_t fs) {
    Total& t = totals_[v];
    const uint64_t level = t.kind == Kind::time_of_any ? signal(v).value != 0 : signal(v).value;
    if (t.kind != Kind::count && fs > t.since_fs) t.level_fs += LevelTime{level} * (fs - t.since_fs);
    t.since_fs = std::max(fs, t.since_fs);
  }
  void show(uint64_t fs, const std::vector<Variable>& touched) override {
    for (const Variable v : touched) {
      bring_up(v, fs);
      Signal& s = signal(v);
      if (static_cast<int64_t>(s.next) < 0) s.next = 0;  // the end of an activity that began before counting
      s.value = s.next;
    }
  }

  std::vector<Total> totals_;
};

/// State of every(): its process ends when the owner is gone.
struct Statistics::Period {
  Statistics* owner;
  sc_core::sc_time length;
  std::function<void(const StatisticsSnapshot&)> call;
  bool begun = false;

  void end() {
    if (!owner) return;
    const StatisticsSnapshot s = owner->interval();
    if (begun) call(s);
    begun = true;
    if (owner) sc_core::next_trigger(length);
  }
};

Statistics::Statistics(Platform& platform)
    : platform_(platform),
      counters_(std::make_shared<std::vector<Counter>>()),
      totals_(std::make_unique<Totals>()),
      pes_(platform.pes().count()),
      memories_(platform.graph().nodes.size()),
      initiators_(platform.graph().nodes.size()),
      links_(platform.graph().edges.size()) {
  for (size_t p = 0; p < pes_.size(); ++p) add_pe(p);
  for (uint32_t n = 0; n < memories_.size(); ++n) add_node(n);
  add_links();
  watch_fabric(platform_.machine(), *this);
  reset();
}

Statistics::~Statistics() {
  every({}, nullptr);
  for (size_t p = 0; p < pes_.size(); ++p) platform_.pes().pe(p).observers.remove(*this);
  unwatch_fabric(platform_.machine(), *this);
}

Statistics::Variable Statistics::add(const std::string& object, const std::string& name, Kind kind) {
  counters_->push_back({object, name});
  return totals_->add(kind);
}

void Statistics::add_pe(size_t p) {
  Pe& pe = platform_.pes().pe(p);
  const auto& blocks = platform_.graph().pes[p].blocks;
  if (const auto cpu = blocks.find("pe_cpu"); cpu != blocks.end()) {
    const std::string& id = platform_.graph().nodes[cpu->second].id;
    pes_[p].runs = add(id, "runs_ns", Kind::time_of_any);
    pes_[p].waits = add(id, "waits_ns", Kind::time_of_any);
  }
  for (const auto& [block, role, index] : pe.engines) {
    const std::string& id = platform_.graph().nodes[index].id;
    const auto stages = role->statistics();
    for (size_t i = 0; i < stages.size(); ++i) {
      const std::string prefix =
          stages.size() > 1 ? component_catalog().kinds().stage(stages[i].stage).short_name + "." : "";
      Unit& unit = pes_[p].units[static_cast<int>(stages[i].stage)];
      unit.busy = add(id, prefix + "busy_ns", Kind::time_of_each);
      unit.serves.resize(stages[i].servers);
      const Variable ops = add(id, prefix + "ops", Kind::count);
      const Variable bytes = add(id, prefix + "bytes", Kind::count);
      engines_.push_back({role, i, ops, bytes, add(id, prefix + "flops", Kind::count)});
    }
  }
  pe.observers.add(*this);
}

void Statistics::add_node(uint32_t n) {
  Component& component = platform_.component(n);
  if (!component.fabric_node()) return;
  const std::string& id = platform_.graph().nodes[n].id;
  if (platform_.request_port(n)) {
    Initiator& i = initiators_[n].emplace();
    for (const int write : {0, 1}) {
      const std::string what = write ? "write" : "read";
      i.accesses[write] = add(id, what + "_accesses", Kind::count);
      i.bytes[write] = add(id, what + "_access_bytes", Kind::count);
      i.latency[write] = add(id, what + "_latency_ns", Kind::time_of_each);
    }
  }
  if (const auto* memory = dynamic_cast<MemoryTarget*>(&component)) {
    Memory& m = memories_[n].emplace();
    for (const int write : {0, 1}) {
      const std::string what = write ? "write" : "read";
      m.requests[write] = add(id, what + "s", Kind::count);
      m.bytes[write] = add(id, what + "_bytes", Kind::count);
    }
    m.busy = add(id, "busy_ns", Kind::time_of_any);
    m.queue = add(id, "queue_ns", Kind::time_of_each);
    const std::vector<MemoryCounter> own = memory->counters();
    for (size_t i = 0; i < own.size(); ++i) {
      const Variable v = add(id, own[i].name, Kind::count);
      if (i == 0) own_counts_.push_back({memory, v});
    }
  }
}

void Statistics::add_links() {
  const topology::Graph& graph = platform_.graph();
  for (uint32_t e = 0; e < links_.size(); ++e) {
    if (!platform_.machine().blocks().link(e)) continue;
    const std::string id = graph.nodes[graph.edges[e].from].id + "->" + graph.nodes[graph.edges[e].to].id;
    LinkCounters& l = links_[e].emplace();
    l.messages = add(id, "messages", Kind::count);
    l.bytes = add(id, "bytes", Kind::count);
    l.busy = add(id, "busy_ns", Kind::time_of_any);
    l.wait = add(id, "wait_ns", Kind::time_of_each);
  }
}

void Statistics::present() {
  totals_->advance(Timeline::to_fs(platform_.timeline().now_ns()));
}

std::vector<double> Statistics::now() {
  std::vector<double> v = totals_->all(Timeline::to_fs(platform_.timeline().now_ns()));
  for (const Engine& e : engines_) {
    const StageStatistics s = e.engine->statistics()[e.stage];
    v[e.ops] = static_cast<double>(s.ops);
    v[e.bytes] = static_cast<double>(s.bytes);
    v[e.flops] = s.flops;
  }
  for (const OwnCounts& o : own_counts_) {
    Variable at = o.first;
    for (const MemoryCounter& c : o.memory->counters()) v[at++] = c.value;
  }
  return v;
}

StatisticsSnapshot Statistics::since(const std::vector<double>& base, double begin_ns, std::vector<double> now) const {
  StatisticsSnapshot s;
  s.counters_ = counters_;
  s.values_ = std::move(now);
  for (size_t i = 0; i < base.size(); ++i) s.values_[i] -= base[i];
  s.begin_ns_ = begin_ns;
  s.end_ns_ = platform_.timeline().now_ns();
  return s;
}

StatisticsSnapshot Statistics::snapshot() {
  return since(reset_, reset_ns_, now());
}

StatisticsSnapshot Statistics::interval() {
  std::vector<double> v = now();
  const StatisticsSnapshot s = since(interval_, interval_ns_, v);
  interval_ = std::move(v);
  interval_ns_ = s.end_ns();
  return s;
}

void Statistics::reset() {
  interval_ = reset_ = now();
  interval_ns_ = reset_ns_ = platform_.timeline().now_ns();
}

void Statistics::every(const sc_core::sc_time& period, std::function<void(const StatisticsSnapshot&)> call) {
  if (period_) period_->owner = nullptr;
  period_.reset();
  if (!call) return;
  if (period == sc_core::SC_ZERO_TIME) throw InputError("statistics: found a period of 0, expected a longer one");
  period_ = std::make_shared<Period>(Period{this, period, std::move(call)});
  sc_core::sc_spawn_options options;
  options.spawn_method();
  sc_core::sc_spawn([p = period_] { p->end(); }, sc_core::sc_gen_unique_name("kernbench_statistics"), &options);
}

void Statistics::server_changed(const Pe& pe, Stage stage, unsigned server, Activity activity, const PeItem*, uint64_t,
                                double t) {
  Unit& unit = pes_[pe.index].units[static_cast<int>(stage)];
  const bool serves = activity == Activity::service;
  if (server >= unit.serves.size() || unit.serves[server] == serves) return;
  present();
  unit.serves[server] = serves;
  totals_->change(unit.busy, Timeline::to_fs(t), serves ? 1 : -1);
}

void Statistics::kernel_changed(const Pe& pe, KernelActivity activity, double t) {
  const PeCounters& p = pes_[pe.index];
  if (p.runs == kNone) return;
  present();
  totals_->set(p.runs, Timeline::to_fs(t), activity == KernelActivity::runs);
  totals_->set(p.waits, Timeline::to_fs(t), activity == KernelActivity::waits);
}

void Statistics::link_crossed(const FabricTransaction&, const Link& link, const LinkCrossing& c) {
  present();
  const LinkCounters& l = *links_[link.edge];
  const uint64_t start = Timeline::to_fs(c.start_ns), end = Timeline::to_fs(c.end_ns);
  if (c.first) totals_->change(l.messages, start, 1);
  totals_->change(l.bytes, start, std::llround(c.bytes));
  totals_->during(l.wait, Timeline::to_fs(c.ready_ns), start);
  totals_->change(l.busy, start, 1);
  totals_->change(l.busy, end, -1);
}

void Statistics::memory_request(const MemoryTarget& memory, const FabricTransaction& x, MemoryStep step, double t) {
  const Memory& m = *memories_[memory.index()];
  const uint64_t fs = Timeline::to_fs(t);
  present();
  switch (step) {
    case MemoryStep::arrived:
      totals_->change(m.requests[x.write], fs, 1);
      totals_->change(m.bytes[x.write], fs, static_cast<int64_t>(x.nbytes));
      totals_->change(m.queue, fs, 1);
      break;
    case MemoryStep::started:
      totals_->change(m.queue, fs, -1);
      totals_->change(m.busy, fs, 1);
      break;
    case MemoryStep::finished:
      totals_->change(m.busy, fs, -1);
      break;
  }
}

void Statistics::access_started(const Component& initiator, const FabricTransaction& x, double t) {
  const Initiator& i = *initiators_[initiator.index()];
  present();
  totals_->change(i.latency[x.write], Timeline::to_fs(t), 1);
}

void Statistics::access_done(const Component& initiator, const FabricTransaction& x, double t) {
  const Initiator& i = *initiators_[initiator.index()];
  const uint64_t fs = Timeline::to_fs(t);
  present();
  totals_->change(i.latency[x.write], fs, -1);
  totals_->change(i.accesses[x.write], fs, 1);
  totals_->change(i.bytes[x.write], fs, static_cast<int64_t>(x.nbytes));
}

}  // namespace kernbench::observe
