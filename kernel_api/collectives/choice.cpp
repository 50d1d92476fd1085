// SPDX-License-Identifier: Apache-2.0
#include "kernbench/kernel_api/collectives/choice.h"

#include <algorithm>
#include <cmath>

#include "kernbench/kernel_api/collectives/schedules.h"
#include "kernbench/kernel_api/params.h"
#include "kernbench/phase2/eval/atomic.h"
#include "kernbench/phase2/text/text.h"

namespace kernbench::ccl {
namespace {

int64_t up(int64_t n, int64_t by) {
  return (n + by - 1) / by;
}

std::vector<const Phase*> pointers(const std::vector<Phase>& phases) {
  std::vector<const Phase*> all;
  for (const Phase& p : phases) all.push_back(&p);
  return all;
}

/// The phases of one level of all groups.
std::vector<const Phase*> level(const std::vector<Group>& groups, std::vector<Phase> Group::*which) {
  std::vector<const Phase*> all;
  for (const Group& g : groups) {
    for (const Phase* p : pointers(g.*which)) all.push_back(p);
  }
  return all;
}

}  // namespace

CostTable::CostTable(const LaunchShape& launch, const LaunchCosts& costs, Collective collective, Amount amount)
    : launch_(launch),
      costs_(costs),
      collective_(std::move(collective)),
      amount_(std::move(amount)),
      first_(groups_of(launch, parse_axes(collective_.over)).front().front()) {}

/// Call overhead of a message beyond its path: c + i.
double CostTable::overhead_ns() const {
  return costs_.call_ns(first_) + costs_.queue_ns(first_);
}

const LaunchCosts::Ways& CostTable::ways(const std::string& algorithm, const char* level, const Phases& phases) const {
  Collective c = collective_;
  c.algorithm = algorithm;
  const std::string rings = std::to_string(c.slots.value_or(0)) + ' ' + std::to_string(c.slot_bytes.value_or(0)) + ' ' +
                            c.tier.value_or("default") + ' ' + c.protocol.value_or("");
  return *launch_.memo.get<std::unique_ptr<LaunchCosts::Ways>>("ways " + text_of(c) + ' ' + level + ' ' + rings, [&] {
    std::vector<std::pair<int64_t, int64_t>> ways;
    for (const Phase* p : phases) {
      for (const Wire& w : wires_of(*p)) {
        const int64_t a = p->pes[static_cast<size_t>(w.from)], b = p->pes[static_cast<size_t>(w.to)];
        ways.insert(ways.end(), {{a, b}, {b, a}});
      }
    }
    return costs_.ways(std::move(ways), {c.slots, c.slot_bytes, c.tier, c.protocol});
  });
}

LaunchCosts::Message CostTable::message(const LaunchCosts::Ways& ways, int64_t elements) const {
  LaunchCosts::Message dearest = ways.dearest(static_cast<uint64_t>(elements) * size_of(amount_.dtype));
  dearest.total_ns += overhead_ns();
  return dearest;
}

double CostTable::math_ns(int64_t elements) const {
  return costs_.math_ns(first_, math_op_of(amount_.redop), elements, amount_.dtype);
}

CostTable::InOut CostTable::grid(const LaunchCosts::Ways& all, const Phases& phases) const {
  const LaunchCosts::Message s = message(all, amount_.elements);
  const double m = math_ns(amount_.elements);
  InOut dearest;
  for (const Phase* p : phases) {
    InOut cost;
    for (const auto& [w, r] : {std::pair(p->grid.w, p->grid.x(p->root)), std::pair(p->grid.h, p->grid.y(p->root))}) {
      const auto d = static_cast<double>(std::max(r, w - 1 - r));
      cost.in_ns += d * (s.total_ns + m) + (0 < r && r < w - 1 ? overhead_ns() + s.read_ns + m : 0);
      cost.out_ns += d * s.total_ns;
    }
    dearest = {std::max(dearest.in_ns, cost.in_ns), std::max(dearest.out_ns, cost.out_ns)};
  }
  return dearest;
}

double CostTable::hierarchical(const std::vector<Group>& groups) const {
  const auto grid_of = [&](const Phases& phases, const char* name) {
    return grid(ways("hierarchical", name, phases), phases);
  };
  const InOut pes = grid_of(level(groups, &Group::inner), "pe"), cubes = grid_of(level(groups, &Group::cubes), "cube");
  const double sum = pes.in_ns + pes.out_ns + (cubes.in_ns + cubes.out_ns);
  const Phases ranks = level(groups, &Group::ranks);
  if (ranks.empty()) return sum;
  const Phase& first = *ranks.front();
  if (first.kind == Phase::Kind::grid) {
    const InOut cost = grid_of(ranks, "rank");
    return sum + cost.in_ns + cost.out_ns;
  }
  const double step =
      message(ways("hierarchical", "rank", ranks), amount_.elements).total_ns + math_ns(amount_.elements);
  const int64_t steps = first.kind == Phase::Kind::ring ? first.size() - 1 : first.grid.w - 1 + first.grid.h - 1;
  return sum + static_cast<double>(steps) * step;
}

double CostTable::single(const std::string& algorithm, const std::vector<Group>& groups) const {
  const Op op = collective_.op;
  const bool reduces = op == Op::all_reduce || op == Op::reduce_scatter || op == Op::reduce;
  const double sends = op == Op::all_reduce ? 2 : 1;  // an all_reduce sends once in each half
  const std::vector<const Phase*> phases = level(groups, &Group::single);
  const int64_t n = amount_.elements, members = groups.front().size();
  if (members == 1) return 0;
  if (algorithm == "multicast" && op == Op::all_reduce) {
    const auto half = [&](Op which, const std::string& by) {
      Collective c = collective_;
      c.op = which;
      return CostTable(launch_, costs_, c, amount_).cost_ns(by);
    };
    return half(Op::reduce_scatter, reduce_scatter_before_multicast(members)) + half(Op::all_gather, algorithm);
  }
  const LaunchCosts::Ways& all = ways(algorithm, "", phases);
  if (algorithm == "multicast") {
    if (op == Op::broadcast) return message(all, n).total_ns;
    const LaunchCosts::Message block = message(all, up(n, members));
    return block.total_ns + static_cast<double>(members - 2) * block.next_ns;
  }
  if (algorithm == "grid") {
    const InOut cost = grid(all, phases);
    return op == Op::all_reduce ? cost.in_ns + cost.out_ns : op == Op::reduce ? cost.in_ns : cost.out_ns;
  }
  const auto step = [&](int64_t elements, double messages) {
    return messages * message(all, elements).total_ns + (reduces ? math_ns(elements) : 0);
  };
  const auto others = static_cast<double>(members - 1);
  if (algorithm == "ring") return others * step(up(n, members), sends);
  if (algorithm == "rotate" || algorithm == "chain") return others * step(n, 1);
  if (algorithm == "tree") return log2_up(members) * step(n, sends);
  double sum = 0;  // halving
  for (int b = 1; b <= log2_up(members); ++b) sum += step(up(n, int64_t{1} << b), sends);
  return sum;
}

double CostTable::cost_ns(const std::string& algorithm) const {
  Collective c = collective_;
  c.algorithm = algorithm;
  const std::vector<Group>& groups = all_groups(launch_, c);
  const double start_ns = c.protocol ? costs_.protocol_start_ns(first_, *c.protocol) : 0;
  return start_ns + (algorithm == "hierarchical" ? hierarchical(groups) : single(algorithm, groups));
}

std::string CostTable::unavailable(const std::string& algorithm) const {
  Collective c = collective_;
  c.algorithm = algorithm;
  const Members first = group_with(launch_, parse_axes(c.over), first_);
  if (algorithm == "rotate") {
    const uint64_t room = costs_.tcm_bytes(first_) / 4;
    const uint64_t asked = first.size() * static_cast<uint64_t>(amount_.elements) * size_of(amount_.dtype);
    if (asked > room) {
      return std::to_string(first.size()) + " parts are " + std::to_string(asked) +
             " bytes, and a quarter of the allocatable TCM is " + std::to_string(room);
    }
  }
  if (algorithm == "in_network" && !atomic_of(red_of(amount_.redop), amount_.dtype))
    return "memories have no red_" + red_of(amount_.redop) + " of " + std::string(name_of(amount_.dtype));
  for (const Members& pes : groups_of(launch_, parse_axes(c.over))) {
    const std::string why = ccl::unavailable(launch_, c, pes);
    if (!why.empty()) return why;
  }
  return {};
}

bool CostTable::considered(const std::string& algorithm) const {
  const Algorithm::Considered considered = algorithm_named(algorithm).considered;
  if (considered != Algorithm::Considered::if_declared) return considered == Algorithm::Considered::always;
  Collective c = collective_;
  c.algorithm = algorithm;
  return ways(algorithm, "", level(all_groups(launch_, c), &Group::single)).multicasts();
}

std::vector<std::pair<std::string, double>> CostTable::all() const {
  std::vector<std::pair<std::string, double>> costs;
  for (const std::string& a : algorithms_of(collective_.op)) {
    if (!unavailable(a).empty() || !considered(a)) continue;
    for (auto& cost : by_protocol(a)) costs.push_back(std::move(cost));
  }
  return costs;
}

std::vector<std::pair<std::string, double>> CostTable::by_protocol(const std::string& algorithm) const {
  std::vector<std::pair<std::string, double>> costs;
  const std::vector<std::string> protocols = costs_.protocols(first_);
  if (protocols.empty()) return {{algorithm, cost_ns(algorithm)}};
  for (const std::string& p : protocols) {
    Collective c = collective_;
    c.protocol = p;
    costs.emplace_back(algorithm + '.' + p, CostTable(launch_, costs_, c, amount_).cost_ns(algorithm));
  }
  return costs;
}

void CostTable::check_protocol() const {
  const std::vector<std::string> known = costs_.protocols(first_);
  if (!collective_.protocol || std::find(known.begin(), known.end(), *collective_.protocol) != known.end()) return;
  throw BadParam("algorithm: found the protocol '" + *collective_.protocol +
                 "', expected one that the PEs declare: " + (known.empty() ? "none" : joined(known)));
}

namespace {

/// The algorithms that do not fail.
std::vector<std::pair<std::string, double>> simulated(const CostTable& table, const Simulate& simulate) {
  std::vector<std::string> names;
  for (const auto& [name, cost] : table.all()) names.push_back(name);
  const std::vector<double> times = simulate(names);
  std::vector<std::pair<std::string, double>> costs;
  for (size_t i = 0; i < names.size(); ++i) {
    if (std::isfinite(times.at(i))) costs.emplace_back(names[i], times[i]);
  }
  if (costs.empty()) throw BadParam("algorithm: best: none of them comes to its end");
  return costs;
}

}  // namespace

std::string choose_algorithm(const CostTable& table, const Collective& c, const Simulate& simulate,
                             LaunchNotes* notes) {
  const bool best = c.algorithm == "best", given = c.algorithm != "auto" && !best;
  if (given) {
    const std::string why = table.unavailable(c.algorithm);
    if (!why.empty()) throw BadParam("algorithm: " + c.algorithm + " is not available: " + why);
    table.check_protocol();
    if (c.protocol) return c.algorithm + '.' + *c.protocol;
  }
  const bool alone = algorithms_of(c.op).size() == 1;  // then the size of each message decides
  if (alone ||
      algorithm_named(given ? c.algorithm : algorithms_of(c.op).front()).considered == Algorithm::Considered::never)
    return given ? c.algorithm : algorithms_of(c.op).front();
  std::vector<std::pair<std::string, double>> costs;
  if (given) {
    costs = table.by_protocol(c.algorithm);
    if (costs.size() == 1) return c.algorithm;
  } else {
    costs = best ? simulated(table, simulate) : table.all();
  }
  notes->costs_ns = std::move(costs);
  notes->simulated = best;
  return std::min_element(notes->costs_ns.begin(), notes->costs_ns.end(),
                          [](const auto& a, const auto& b) { return a.second < b.second; })
      ->first;
}

}  // namespace kernbench::ccl
