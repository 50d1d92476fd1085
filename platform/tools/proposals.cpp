#include "kernbench/platform/tools/proposals.h"

#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>

#include "kernbench/phase2/op/errors.h"
#include "kernbench/platform/tools/child_pool.h"
#include "kernbench/platform/tools/remedies.h"

namespace kernbench {
namespace {

using insight::Insight;
using insight::Limit;
using insight::Resource;
using Of = SingleChange::Of;

struct Prediction {
  double ns = 0;
  bool about = false;
  std::string reason;  ///< one for all that mend the same
};

class Predictions {
 public:
  explicit Predictions(const Insight& run) : run_(run) {}

  /// Nothing where the causes say nothing of it, or no good.
  std::optional<Prediction> of(const SingleChange& c) const {
    switch (c.of_what) {
      case Of::part:
        return of_part(c.name);
      case Of::attribute:
        return c.factor == 0.5 ? std::nullopt : of_attribute(c);
      case Of::launch:
        return Prediction{run_.sim_ns - run_.by_resource[static_cast<size_t>(Resource::launch)], true, "launch"};
      case Of::parameter:
        return c.factor == 0 ? std::nullopt : of_parameter(c);
      case Of::edge:
        return std::nullopt;  // its part says it
    }
    return std::nullopt;
  }

 private:
  std::optional<Prediction> of_part(const std::string& name) const {
    for (size_t i = 0; i < insight::kResources; ++i) {
      if (name_of(static_cast<Resource>(i)) == name)
        return Prediction{run_.faster_ns[i], run_.faster_other_order[i], name};
    }
    return std::nullopt;
  }

  std::optional<Prediction> without(Limit limit) const {
    for (const Insight::Unlimited& u : run_.unlimited) {
      if (u.limit == limit) return Prediction{u.ns, true, std::string(name_of(limit))};
    }
    return std::nullopt;
  }

  std::optional<Prediction> of_attribute(const SingleChange& c) const {
    if (const Limit limit = insight::limit_of(c.kind, c.name); limit != Limit::none) return without(limit);
    if (c.factor != 0 || c.free || run_.bound_by.empty()) return std::nullopt;
    // Where nodes of a kind are not alike, the run may wait for a slow one of them.
    if (run_.by_component.empty() || !c.sets(run_.by_component.front().name)) return std::nullopt;
    return Prediction{run_.faster_ns[static_cast<size_t>(run_.bound_by.front())], true, "uneven"};
  }

  /// A tile half as large: more PEs have work, and more tiles are in flight. Twice as large: half as many overheads.
  std::optional<Prediction> of_parameter(const SingleChange& c) const {
    if (c.factor > 1) {
      double overheads = 0;
      for (const Resource r : {Resource::pe_cpu, Resource::scheduler, Resource::engines, Resource::memory,
                               Resource::routers, Resource::wires})
        overheads += run_.by_resource[static_cast<size_t>(r)];
      return Prediction{run_.sim_ns - overheads / 2, true, "larger tiles"};
    }
    if (run_.pes.working < run_.pes.all) {
      const double share = static_cast<double>(run_.pes.working) / static_cast<double>(run_.pes.all);
      return Prediction{run_.sim_ns * std::max(0.5, share), true, "idle PEs"};
    }
    std::optional<Prediction> p = without(Limit::window);
    if (p) p->reason = "smaller tiles";
    return p;
  }

  const Insight& run_;
};

}  // namespace

std::vector<Insight::Remedy> proposals(const std::vector<SingleChange>& changes, const Insight& run, size_t most) {
  constexpr size_t kOfOneReason = 2;
  constexpr double kWorthATry = 0.02;
  const Predictions predictions(run);
  std::vector<std::pair<Prediction, const SingleChange*>> all;
  for (const SingleChange& c : changes) {
    const std::optional<Prediction> p = predictions.of(c);
    if (p && p->ns < run.sim_ns * (1 - (p->about ? kWorthATry : 1e-6))) all.emplace_back(*p, &c);
  }
  std::stable_sort(all.begin(), all.end(), [](const auto& a, const auto& b) { return a.first.ns < b.first.ns; });
  if (!all.empty()) {
    const double good = all.front().first.ns + Remedies::kAsGood * run.sim_ns;
    const auto end = std::find_if(all.begin(), all.end(), [&](const auto& c) { return c.first.ns > good; });
    std::stable_partition(all.begin(), end, [](const auto& c) { return c.second->free; });
  }
  std::map<std::string, size_t> taken;
  std::vector<Insight::Remedy> found;
  for (const auto& [p, c] : all) {
    if (found.size() == most) break;
    if (++taken[p.reason] > kOfOneReason) continue;
    found.push_back({c->words(), c->free, p.ns, p.about, {}, {}});
  }
  return found;
}

void simulate(std::vector<Insight::Remedy>& remedies, const std::vector<SingleChange>& changes,
              const spec::RunSpec& run, double sim_ns) {
  ChildPool pool;
  for (size_t i = 0; i < remedies.size(); ++i) {
    const auto change = std::find_if(changes.begin(), changes.end(),
                                     [&](const SingleChange& c) { return c.words() == remedies[i].change; });
    spec::RunSpec again = change->of(run);
    for (const char* checks : {"verify", "debug-verify", "check-races"}) again.list(checks).clear();  // times alone
    std::vector<std::string> words = again.words();
    words.insert(words.end(), {"--format", "json"});
    pool.start(i, ChildPool::Program{"/proc/self/exe", std::move(words), "", "", ""});
  }
  while (pool.size() > 0) {
    const auto ended = pool.wait(std::chrono::hours(1));
    if (const int signal = StopSignals::take())
      throw Stopped(signal, {stopped_by(signal) + ", and its processes with it"});
    if (!ended) continue;
    Insight::Remedy& r = remedies[ended->id];
    if (ended->status > 1 || ended->out.empty()) {
      r.fault = ended->first_line();
    } else {
      r.ns = nlohmann::json::parse(ended->out).at("sim_ns").get<double>();
    }
  }
  const auto after = [&](const Insight::Remedy& r) { return r.ns.value_or(sim_ns); };
  std::stable_sort(remedies.begin(), remedies.end(), [&](const auto& a, const auto& b) { return after(a) < after(b); });
  if (remedies.empty()) return;
  const double good = after(remedies.front()) + Remedies::kAsGood * sim_ns;
  const auto end = std::find_if(remedies.begin(), remedies.end(), [&](const auto& r) { return after(r) > good; });
  std::stable_partition(remedies.begin(), end, [](const auto& r) { return r.free; });
}

}  // namespace kernbench
