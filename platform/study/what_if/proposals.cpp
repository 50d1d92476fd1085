// SPDX-License-Identifier: Apache-2.0
#include "kernbench/platform/study/what_if/proposals.h"

#include <fmt/format.h>
#include <fnmatch.h>

#include <algorithm>
#include <limits>
#include <map>
#include <optional>
#include <set>
#include <utility>

#include "kernbench/phase2/op/errors.h"
#include "kernbench/platform/insight/scaling.h"
#include "kernbench/platform/run/child/stop_signals.h"
#include "kernbench/platform/study/what_if/remedies.h"
#include "kernbench/systemc_models/core/component_catalog.h"

namespace kernbench::study {
namespace {

using insight::Insight;
using insight::Limit;
using insight::Resource;
using Of = SingleChange::Of;

constexpr double kWorthATry = 0.02;  // of the run's time

// Why a prediction may be off.
constexpr const char* kOrder = "an order or wait may change";
constexpr const char* kLimit = "without the limit";
constexpr const char* kShare = "from shares of the path";
constexpr const char* kRest = "half of the rest";
constexpr const char* kNone = "not predicted";

struct Prediction {
  double ns = 0;
  const char* doubt = "";  ///< why it may be off; empty: it is exact
  std::string reason;      ///< equal for all changes with the same effect
  bool unbound = false;    ///< a changed order may save more, so the change is worth a try whatever its prediction
  bool guess = false;      ///< based only on the attribute's declaration
};

class Predictions {
 public:
  Predictions(const Insight& run, const std::vector<SingleChange>& changes, const LaunchNotes& launch, bool timed)
      : run_(run), launch_(launch), timed_(timed) {
    for (const Resource r : {Resource::mesh, Resource::ucie, Resource::routers, Resource::memory, Resource::buffers})
      of_place_ += blamed(r);
    for (const SingleChange& c : changes) of_place_ = std::max(of_place_, blamed_on_unlike(c) * (1 - c.ratio));
  }

  /// None if the causal graph predicts nothing for it, or no gain.
  std::optional<Prediction> of(const SingleChange& c) const {
    switch (c.of_what) {
      case Of::part:
        return of_part(c.name);
      case Of::attribute:
        return c.worse ? std::nullopt : of_attribute(c);
      case Of::launch:
        return Prediction{run_.sim_ns - (timed_ ? blamed(Resource::launch) : of_no_op()), kShare, "launch"};
      case Of::address:  // removes all look-ups: saves at most twice as much as halving them
        return Prediction{run_.sim_ns - 2 * saved_ns(Resource::mmu), kShare, "address"};
      case Of::kernel:
        if (c.name != "gemm_2d") return of_other_kernel();
        return launch_.instead_ns > 0 ? std::optional(Prediction{launch_.instead_ns + of_no_op(), kShare, "kernel"})
                                      : std::nullopt;
      case Of::parameter:  // other parameters may change the amount of work, such as a repetition count
        if (c.name == "algorithm") return of_algorithm(c);
        if (c.name.rfind("tile_", 0) == 0) return of_tile(c);
        return Prediction{run_.sim_ns - of_moves() / 2, kShare, c.name, false, true};
      case Of::pes:
        return c.factor > 1 || timed_ || of_place_ > 0 ? std::optional(of_pes(c.factor)) : std::nullopt;
      case Of::edge:
        return c.unlike.empty() ? std::nullopt : of_unlike(c);  // an edge's bandwidth is predicted by its part
      case Of::spread:  // as many SIPs without waiting stages, or with one group more; or more SIPs
        return Prediction{run_.sim_ns / std::max(2.0, c.factor), kShare, c.factor == 1 ? "spread" : "more SIPs"};
      case Of::file:
        if (c.name.rfind("timing.", 0) != 0) return std::nullopt;
        return Prediction{run_.sim_ns - of_links() / 2, kShare, c.name, false, true};
    }
    return std::nullopt;
  }

 private:
  std::optional<Prediction> of_part(const std::string& name) const {
    const std::optional<Prediction> room = without(Limit::buffers);
    // Buffer credits return over the wires: faster wires save at most half of the wait for buffers.
    if (name == name_of(Resource::wires) && room) {
      const double faster = run_.faster_ns[static_cast<size_t>(Resource::wires)];
      return Prediction{faster - std::max(0.0, run_.sim_ns - room->ns) / 2, kShare, name, true};
    }
    for (size_t i = 0; i < insight::kResources; ++i) {
      if (name_of(static_cast<Resource>(i)) == name)
        return Prediction{run_.faster_ns[i], run_.faster_doubt_ns[i] > 0 ? kOrder : "", name};
    }
    return std::nullopt;
  }

  std::optional<Prediction> without(Limit limit) const {
    for (const Insight::Unlimited& u : run_.unlimited) {
      if (u.limit == limit) return Prediction{u.ns, kLimit, std::string(name_of(limit)), u.other_order};
    }
    return std::nullopt;
  }

  std::optional<Prediction> of_attribute(const SingleChange& c) const {
    const AttrSpec& a = *c.attribute;
    if (a.limit == Limit::buffers) return of_buffers(c);
    if (a.limit != Limit::none) return without(a.limit);
    if (!c.unlike.empty()) return of_unlike(c);
    return of_declaration(c);
  }

  /// The time blamed on the attribute's resource or on its blocks: half of it for a factor of 2, all of it for another
  /// choice. A guess if --scale changes the same, or if the attribute names no resource.
  std::optional<Prediction> of_declaration(const SingleChange& c) const {
    const AttrSpec& a = *c.attribute;
    const bool rated = a.direction == Direction::rate || a.direction == Direction::latency;
    const bool scaled = a.overhead || (a.resource && rated && insight::resource_of(name_of(*a.resource)));
    if (!a.resource && (a.direction == Direction::choice || (a.direction == Direction::flag && !a.faster)))
      return std::nullopt;
    double saved = 0;
    if (a.resource && c.factor != 0 && (scaled || a.direction != Direction::rate)) {
      saved = saved_ns(*a.resource);
    } else {
      for (const Insight::Share& s : run_.by_component) {
        // A memory without channels has one resource for all its time.
        const bool its = !a.resource || s.resource == *a.resource || s.resource == Resource::memory;
        if (c.blocks->count(s.name) > 0 && (c.factor != 0 || its)) saved += s.ns;
      }
      if (c.factor != 0) saved /= 2;
    }
    // Store-and-forward in a node costs the links' time.
    if (!a.resource && a.faster) saved += of_links() / 2;
    const bool guess = scaled || !a.resource;
    const std::string reason =
        a.direction == Direction::choice
            ? a.name
            : fmt::format("{}, {}", guess ? c.impl->kind : name_of(*a.resource), name_of(a.direction));
    return Prediction{run_.sim_ns - saved, kShare, reason, false, guess};
  }

  /// The saving without waits for buffers, times these nodes' share of the path's waits. Waits without a link belong to
  /// a memory that holds responses back. Each attribute is predicted separately.
  std::optional<Prediction> of_buffers(const SingleChange& c) const {
    std::optional<Prediction> p = without(Limit::buffers);
    const double all = blamed(Resource::buffers);
    if (!p || all <= 0) return std::nullopt;
    const bool memory = !component_catalog().kinds().find(c.impl->kind)->facts.memory.empty();
    double its = 0;
    for (const Insight::Share& s : run_.by_component) {
      if (s.resource == Resource::buffers && (s.name.empty() ? memory : is_before_one_of(c, s.name))) its += s.ns;
    }
    if (c.factor == 0 && its < all / 2) return std::nullopt;  // arbitration needs most waits at its nodes
    p->ns = run_.sim_ns - (run_.sim_ns - p->ns) * its / all;
    p->reason += " " + c.name;
    p->unbound = p->unbound && its > kWorthATry * run_.sim_ns;
    return p;
  }

  /// Whether the edge leads to a node whose attribute is changed.
  static bool is_before_one_of(const SingleChange& c, const std::string& edge) {
    const std::string to = edge.substr(edge.find("->") + 2);
    return std::any_of(c.options.begin(), c.options.end(), [&](const auto& option) {
      const std::string nodes = option.second.substr(0, option.second.rfind("." + c.name + "="));
      return fnmatch(nodes.c_str(), to.c_str(), 0) == 0;
    });
  }

  /// The time blamed on nodes that differ from most of their kind, minus the time with the others' values.
  std::optional<Prediction> of_unlike(const SingleChange& c) const {
    return Prediction{run_.sim_ns - blamed_on_unlike(c) * (1 - c.ratio), kShare, "unlike"};
  }

  double blamed_on_unlike(const SingleChange& c) const {
    double ns = 0;
    for (const Insight::Share& s : run_.by_component) {
      if (std::any_of(c.unlike.begin(), c.unlike.end(), [&](const auto& node) { return is_of(s, c, node); }))
        ns += s.ns;
    }
    return ns;
  }

  /// Whether a share of the blame belongs to a node: its own, that of one of its edges, or its PE's time for its TCM.
  static bool is_of(const Insight::Share& s, const SingleChange& c, const std::string& node) {
    const auto parent = [](const std::string& id) { return id.substr(0, id.rfind('.')); };
    if (s.name == node || s.name.rfind(node + "->", 0) == 0) return true;
    const size_t to = s.name.find("->");
    if (to != std::string::npos) return s.name.compare(to + 2, std::string::npos, node) == 0;
    const bool of_tcm = c.attribute && c.attribute->resource == Resource::tcm;
    return of_tcm && s.resource == Resource::tcm && parent(s.name) == parent(node);
  }

  double of_links() const {
    double ns = of_dram();
    for (const Resource r :
         {Resource::mesh, Resource::ucie, Resource::pcie, Resource::link, Resource::hbm, Resource::sram})
      ns += blamed(r);
    return ns;
  }
  double of_dram() const {
    double ns = 0;
    for (const Resource r :
         {Resource::rows, Resource::banks, Resource::refresh, Resource::turnaround, Resource::dram_queue})
      ns += blamed(r);
    return ns;
  }
  /// Time for moving data and for the commands of it.
  double of_moves() const {
    double ns = of_links();
    for (const Resource r : {Resource::queues, Resource::memory, Resource::routers, Resource::pe_cpu,
                             Resource::scheduler, Resource::engines, Resource::tcm, Resource::wires, Resource::buffers})
      ns += blamed(r);
    return ns;
  }

  double blamed(Resource r) const { return run_.by_resource[static_cast<size_t>(r)]; }
  double saved_ns(Resource r) const { return run_.sim_ns - run_.faster_ns[static_cast<size_t>(r)]; }

  /// The path's time outside of ops: the launch, and the completion back to the host.
  double of_no_op() const {
    const auto& lines = run_.by_line;
    const auto none = std::find_if(lines.begin(), lines.end(), [](const Insight::Share& s) { return s.name.empty(); });
    return none == lines.end() ? 0 : none->ns;
  }

  /// `share`: ratio of the numbers of PEs. The time of ops scales with its inverse. The host's transfers scale with it,
  /// because each PE has a copy of common data. Fewer PEs may be nearer to their data, or exclude a slow PE.
  Prediction of_pes(double share) const {
    const double rest = of_no_op(), ops = run_.sim_ns - rest - (share < 1 ? of_place_ : 0);
    return {(timed_ ? rest * share : rest) + ops / share, kShare, share > 1 ? "more PEs" : "fewer PEs"};
  }

  /// Another kernel may give its PEs fewer commands and keep its sums in engines; at best none of these costs any time.
  Prediction of_other_kernel() const {
    double ns = 0;
    for (const Resource r : {Resource::pe_cpu, Resource::scheduler, Resource::engines, Resource::tcm}) ns += blamed(r);
    return {run_.sim_ns - ns, kShare, "other kernel", true};
  }

  /// The other algorithm source: the cost table (auto), or simulations (best). Simulations are proposed if the table
  /// was used already, or if waits for buffers count, because the table ignores these. Predicts half as many messages.
  std::optional<Prediction> of_algorithm(const SingleChange& c) const {
    const std::string other = c.options.front().second.substr(std::string("algorithm=").size());
    const bool chosen = !launch_.costs_ns.empty();
    const bool simulated = !launch_.simulated && (chosen || without(Limit::buffers));
    if (!(other == "auto" && !chosen) && !(other == "best" && simulated)) return std::nullopt;
    double ns = 0;
    for (const Resource r : {Resource::queues, Resource::pe_cpu, Resource::scheduler, Resource::engines,
                             Resource::routers, Resource::wires, Resource::mesh, Resource::ucie, Resource::pcie})
      ns += blamed(r);
    return Prediction{run_.sim_ns - ns / 2, kShare, "algorithm"};
  }

  /// Half the tile: more PEs have work, and more tiles are in flight. Twice the tile: half the overheads and half the
  /// repeated reads, in pieces of twice the length.
  std::optional<Prediction> of_tile(const SingleChange& c) const {
    if (c.factor > 1) {
      double overheads = of_dram();
      for (const Resource r :
           {Resource::pe_cpu, Resource::scheduler, Resource::engines, Resource::memory, Resource::routers,
            Resource::wires, Resource::mmu, Resource::hbm, Resource::sram, Resource::mesh, Resource::ucie})
        overheads += blamed(r);
      return Prediction{run_.sim_ns - overheads / 2, kShare, "larger " + c.name};
    }
    if (run_.pes.working < run_.pes.all) {
      const double share = static_cast<double>(run_.pes.working) / static_cast<double>(run_.pes.all);
      return Prediction{run_.sim_ns * std::max(0.5, share), kShare, "smaller " + c.name};
    }
    std::optional<Prediction> p = without(Limit::window);
    if (p) p->reason = "smaller " + c.name;
    return p;
  }

  const Insight& run_;
  const LaunchNotes& launch_;
  const bool timed_;  ///< the run's time includes the host's transfers
  /// Time that fewer PEs may avoid because their data are nearer: routes, memories' overheads, and nodes slower than
  /// others of their kind.
  double of_place_ = 0;
};

using Proposal = std::pair<Prediction, const SingleChange*>;

std::vector<Proposal> proposals(const std::vector<SingleChange>& changes, const Insight& run,
                                const Predictions& predictions, size_t most) {
  constexpr size_t kOfOneReason = 3;
  const auto hoped_ns = [&](const Proposal& p) { return p.first.ns - (p.first.unbound ? 0.05 * run.sim_ns : 0); };
  std::vector<Proposal> all, guesses, small;  // small: exact predictions of small savings
  for (const SingleChange& c : changes) {
    const std::optional<Prediction> p = predictions.of(c);
    if (!p || p->ns >= run.sim_ns * (1 - (*p->doubt && !p->unbound ? kWorthATry : 1e-6))) continue;
    const bool worth = hoped_ns({*p, &c}) < run.sim_ns * (1 - kWorthATry);
    (p->guess ? guesses : worth ? all : small).emplace_back(*p, &c);
  }
  for (auto* these : {&all, &guesses, &small}) {
    std::stable_sort(these->begin(), these->end(),
                     [](const Proposal& a, const Proposal& b) { return a.second->cost < b.second->cost; });
    order_remedies(*these, run.sim_ns, hoped_ns, [](const Proposal& p) { return p.second->cost; });
  }
  // Guesses get a third of the trials, because they are not known to be worse.
  std::map<std::string, size_t> taken;
  std::vector<Proposal> found;
  const auto take = [&](const std::vector<Proposal>& these, size_t until) {
    for (const Proposal& p : these) {
      const auto same = [&](const Proposal& o) { return o.second == p.second; };
      if (found.size() < until && std::none_of(found.begin(), found.end(), same) &&
          ++taken[p.first.reason] <= kOfOneReason)
        found.push_back(p);
    }
  };
  take(all, most - most / 3);
  take(guesses, most);
  for (auto* rest : {&all, &small}) take(*rest, most);
  return found;
}

/// The same run without checks, because only its time matters.
spec::RunSpec timed_alone(const spec::RunSpec& run) {
  spec::RunSpec timed(run.table());
  for (const spec::Option* o : run.table().deciding()) timed.list(o->name) = run.list(o->name);
  for (const char* checks : {"verify", "debug-verify", "check-races"}) timed.list(checks).clear();
  return timed;
}

/// The trials and their results.
class Trials {
 public:
  Trials(const std::vector<SingleChange>& changes, const Insight& found, const Predictions& predictions,
         const spec::RunSpec& run, const RunEach& run_each)
      : changes_(changes), found_(found), predictions_(predictions), run_(run), run_each_(run_each) {}

  void proposed() {
    constexpr size_t kProposed = 20;
    std::vector<Trial> next;
    for (const auto& [p, change] : proposals(changes_, found_, predictions_, kProposed))
      next.push_back({*change, {change->words(), change->cost, p.ns, p.doubt, {}, {}}});
    simulate(std::move(next));
  }

  /// Changes without a prediction, up to `most` runs in all: free ones first, then those of blocks on the critical
  /// path.
  void others(size_t most) {
    std::vector<const SingleChange*> rest;
    for (const SingleChange& c : changes_) {
      const auto same = [&](const Trial& t) { return t.change.options == c.options; };
      const bool reshapes = c.of_what == Of::file && c.name.rfind("timing.", 0) != 0;
      if (!c.worse && !reshapes && std::none_of(trials_.begin(), trials_.end(), same)) rest.push_back(&c);
    }
    std::set<std::string> blamed;
    for (const Insight::Share& s : found_.by_component) blamed.insert(s.name);
    const auto rank = [&](const SingleChange* c) {
      if (c->cost == CostClass::free) return 0;
      const auto is = [&](const std::string& block) { return blamed.count(block) > 0; };
      return c->blocks && std::any_of(c->blocks->begin(), c->blocks->end(), is) ? 1 : 2;
    };
    std::stable_sort(rest.begin(), rest.end(), [&](const auto* a, const auto* b) { return rank(a) < rank(b); });
    std::vector<Trial> next;
    for (size_t i = 0; i < rest.size() && runs_ + next.size() < most; ++i)
      next.push_back({*rest[i], {rest[i]->words(), rest[i]->cost, found_.sim_ns, kNone, {}, {}}});
    simulate(std::move(next));
  }

  /// Applies the best factor changes repeatedly, until a step gains little, up to `most` runs in all. A change that
  /// makes some nodes like the others stays first unless the repeated ones save far more.
  void repeat(size_t most) {
    constexpr size_t kBest = 3, kMost = 12;
    constexpr double kWorth = 0.01, kFarMore = 1.3;
    order();
    if (trials_.empty() || saved(trials_.front()) < kWorth) return;
    const Trial first = trials_.front();
    std::vector<size_t> on;
    for (size_t i = 0; i < trials_.size() && on.size() < kBest; ++i) {
      if (saved(trials_[i]) > saved(trials_.front()) / 2 && trials_[i].change.repeats()) on.push_back(i);
    }
    for (size_t round = 0; round < kMost && !on.empty() && runs_ + on.size() <= most; ++round) {
      std::vector<Trial> next;
      for (const size_t i : on) {
        const Trial& t = trials_[i];
        SingleChange change = t.change.again();
        // Each repetition is predicted to save half of the rest.
        const double left = 2 * t.first_ns - found_.sim_ns;
        const double ns = (t.remedy.predicted_ns + std::max(0.0, left)) / 2;
        next.push_back({change, {change.words(), change.cost, ns, kRest, {}, {}}, t.first_ns, true});
      }
      run(next);
      std::vector<size_t> still;
      for (size_t n = 0; n < next.size(); ++n) {
        const double more = saved(next[n]) - saved(trials_[on[n]]);
        if (more < kWorth) continue;
        trials_[on[n]] = std::move(next[n]);
        still.push_back(on[n]);
      }
      on = std::move(still);
    }
    order();
    if (first.change.unlike.empty() || saved(trials_.front()) >= kFarMore * saved(first)) return;
    const auto same = [&](const Trial& t) { return t.remedy.change == first.remedy.change; };
    const auto it = std::find_if(trials_.begin(), trials_.end(), same);
    std::rotate(trials_.begin(), it, it + 1);
  }

  double best() const {
    double most = 0;
    for (const Trial& t : trials_) most = std::max(most, saved(t));
    return most;
  }

  std::vector<Insight::Remedy> take() {
    constexpr double kTold = 0.005;
    std::vector<Insight::Remedy> all;
    for (const Trial& t : trials_) {
      if (saved(t) >= kTold) all.push_back(t.remedy);
    }
    return all;
  }

 private:
  struct Trial {
    SingleChange change;
    Insight::Remedy remedy;
    double first_ns = remedy.predicted_ns;  ///< prediction for a single application
    bool repeated = false;
  };
  double saved(const Trial& t) const { return 1 - t.remedy.ns.value_or(found_.sim_ns) / found_.sim_ns; }
  void run(std::vector<Trial>& next) {
    std::vector<spec::RunSpec> specs;
    for (const Trial& t : next) specs.push_back(timed_alone(t.change.of(run_)));
    runs_ += specs.size();
    run_each_(specs, 0, [&](size_t i, const RunRecord& r) {
      next[i].remedy.ns = sim_ns_of(r);
      if (!next[i].remedy.ns) next[i].remedy.fault = r.first_line();
    });
  }
  void simulate(std::vector<Trial> next) {
    run(next);
    for (Trial& t : next) trials_.push_back(std::move(t));
  }
  void order() {
    order_remedies(
        trials_, found_.sim_ns, [&](const Trial& t) { return t.remedy.ns.value_or(found_.sim_ns); },
        [](const Trial& t) { return std::pair(t.remedy.cost, t.repeated); });
  }

  const std::vector<SingleChange>& changes_;
  const Insight& found_;
  const Predictions& predictions_;
  const spec::RunSpec& run_;
  const RunEach& run_each_;
  std::vector<Trial> trials_;
  size_t runs_ = 0;
};

}  // namespace

std::vector<Insight::Remedy> tried_proposals(const std::vector<SingleChange>& changes, const Insight& found,
                                             const LaunchNotes& launch, const spec::RunSpec& run, bool all,
                                             const RunEach& run_each) {
  constexpr size_t kRuns = 60, kRepeats = 12;
  constexpr double kEnough = 0.1;
  const Predictions predictions(found, changes, launch, run.text("transfer") == "timed");
  Trials trials(changes, found, predictions, run, run_each);
  const size_t most = all ? std::numeric_limits<size_t>::max() : kRuns;
  trials.proposed();
  if (all || trials.best() < kEnough) trials.others(most - kRepeats);
  trials.repeat(most);
  return trials.take();
}

}  // namespace kernbench::study
