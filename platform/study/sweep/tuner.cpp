// SPDX-License-Identifier: Apache-2.0
#include "kernbench/platform/study/sweep/tuner.h"

#include <fmt/format.h>
#include <sys/resource.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>
#include <optional>

#include "kernbench/phase2/io/random.h"
#include "kernbench/phase2/op/errors.h"
#include "kernbench/phase2/text/json_reader.h"
#include "kernbench/platform/entry/topology_places.h"
#include "kernbench/platform/run/spec/run_spec.h"
#include "kernbench/platform/study/sweep/point_key.h"
#include "kernbench/platform/study/sweep/point_queue.h"
#include "kernbench/platform/study/sweep/point_run.h"
#include "kernbench/platform/study/sweep/shrinking.h"

namespace kernbench::sweep {
namespace {

constexpr size_t kSteps = 16;        // ratio of PEs between rungs, and inverse ratio of points
constexpr size_t kSmallestStep = 4;  // a smaller ratio would cost nearly as much as the full machine
constexpr size_t kFinalists = 4;     // points that the full machine compares to find the best one

/// Of all ended children.
double cpu_seconds() {
  rusage u{};
  getrusage(RUSAGE_CHILDREN, &u);
  const auto seconds = [](const timeval& t) {
    return static_cast<double>(t.tv_sec) + 1e-6 * static_cast<double>(t.tv_usec);
  };
  return seconds(u.ru_utime) + seconds(u.ru_stime);
}

class Tuner {
 public:
  Tuner(const TuneOptions& o, const TuneHooks& hooks)
      : o_(o), hooks_(hooks), points_(points_of(o.plan)), keys_(o.version, point_file) {
    if (o.plan.command.empty() || !spec::is_run(o.plan.command[0]))
      throw InputError("tune: expected run or model with its options");
    for (const Objective& objective : o.by) {
      const Metric& m = metric(objective.metric, "tune");
      if (m.of == Metric::Of::point || !m.number)
        throw InputError("tune: found " + in_quotes(objective.metric) +
                         ", expected a figure of a run that is a number");
    }
    if (!o.store.empty()) store_.emplace(o.store, o.version);
  }

  int run(std::ostream& out) {
    const std::vector<size_t> rungs = find_rungs();
    const double budget = std::max(2.0, o_.budget * static_cast<double>(points_.size()));
    const std::vector<size_t> counts =
        points_of_rungs(rungs, points_.size(), budget, wants_front() ? points_.size() : kFinalists);
    Words columns = {"rung", "pes"};
    for (const Axis& a : o_.plan.axes) columns.push_back(a.name);
    columns.emplace_back("exit");
    for (const Objective& objective : o_.by) columns.push_back(objective.metric);
    Table table(out, o_.form, columns);
    std::vector<size_t> next = sample();
    std::vector<Tried> good;
    double work = 0;
    size_t runs = 0;
    for (size_t r = 0; r < rungs.size(); ++r) {
      next.resize(std::min(next.size(), counts[r]));
      work += static_cast<double>(next.size() * rungs[r]) / static_cast<double>(rungs.back());
      runs += next.size();
      good = try_rung(std::move(next), r, rungs, table);
      next.clear();
      for (const Tried& t : good) next.push_back(t.point);
    }
    table.end();
    tell_best(good);
    hooks_.tell(fmt::format("{} runs; simulated work of {:.1f} of {} full points ({:.1f} %); {:.1f} s of CPU time",
                            runs, work, points_.size(), 100 * work / static_cast<double>(points_.size()),
                            cpu_seconds()));
    return good.empty() ? 1 : 0;
  }

 private:
  struct Tried {
    size_t point;
    std::vector<Cell> values;  // of o_.by
  };

  bool wants_front() const { return o_.by.size() > 1 && o_.weights.empty(); }

  /// Prints the best point of the full machine, or the Pareto front.
  void tell_best(const std::vector<Tried>& good) const {
    if (good.empty()) {
      hooks_.tell("no point completed on the full machine with a number for each metric");
      return;
    }
    std::vector<std::vector<Cell>> values;
    for (const Tried& t : good) values.push_back(t.values);
    const std::vector<size_t> best = wants_front() ? pareto_front(values, o_.by) : std::vector<size_t>{0};
    for (const size_t i : best) {
      const std::string head = wants_front() ? "front: " : "best: ";
      std::string line = head + points_[good[i].point].name(o_.plan.axes) + ":";
      for (size_t k = 0; k < o_.by.size(); ++k)
        line += (k > 0 ? ", " : " ") + title_of(o_.by[k].metric) + " " + for_people(o_.by[k].metric, good[i].values[k]);
      hooks_.tell(line);
      hooks_.tell(head + command_text(words_of(good[i].point)));
    }
  }

  Words words_of(size_t point) const {
    Words words = points_[point].words(o_.plan);
    return needs_explain(o_.by) ? explained(std::move(words)) : words;
  }

  /// The number of PEs of each rung; the last is the machine's. Only the full machine if points shrink differently.
  std::vector<size_t> find_rungs() {
    for (const Point& p : points_) {
      const Words alike = without_params(p.words(o_.plan));
      auto it = shrinkings_.find(alike);
      if (it == shrinkings_.end()) it = shrinkings_.emplace(alike, describe(alike)).first;
      shrinking_.push_back(&it->second);
    }
    const size_t pes = shrinking_.front()->pes.size();
    const bool alike = std::all_of(shrinking_.begin(), shrinking_.end(),
                                   [&](const Shrinking* s) { return s->pes.size() == pes && pes > 0; });
    const auto whole_alone = std::find_if(o_.by.begin(), o_.by.end(), [](const Objective& objective) {
      return !metric(objective.metric, "tune").of_some_pes;
    });
    if (!alike) hooks_.tell("no smaller machine represents all points: using a sample of points on the full machine");
    if (alike && whole_alone != o_.by.end())
      hooks_.tell("no smaller machine determines " + whole_alone->metric +
                  ": using a sample of points on the full machine");
    return alike && whole_alone == o_.by.end() ? rungs_of(pes) : std::vector<size_t>{1};
  }

  Shrinking describe(const Words& words) const {
    ChildPool copy(o_.timeout_s);
    copy.start(0, [&] { return hooks_.describe(words); });
    while (true) {
      const auto ended = copy.wait(std::chrono::seconds(1));
      if (const int signal = StopSignals::take()) throw Stopped(signal, {stopped_by(signal)});
      if (!ended) continue;
      // The point's run will report its error; a plug-in may print into the output.
      if (ended->status != 0) return {};
      try {
        return Shrinking::from_json(ended->out);
      } catch (const JsonFault&) {
        return {};
      }
    }
  }

  /// All points, in an order that depends on the seed.
  std::vector<size_t> sample() const {
    std::vector<size_t> order(points_.size());
    std::iota(order.begin(), order.end(), size_t{0});
    std::sort(order.begin(), order.end(), [&](size_t a, size_t b) {
      return std::make_pair(random_word(o_.seed, a), a) < std::make_pair(random_word(o_.seed, b), b);
    });
    return order;
  }

  /// In order. Calls `progress(done)` after each.
  template <class Progress>
  std::vector<PointResult> simulate(const std::vector<Words>& points, const Progress& progress) {
    PointQueue::Options o;
    o.jobs = processes(o_.jobs);
    o.timeout_s = o_.timeout_s;
    o.words = [&](size_t i) { return points[i]; };
    Words keys;
    if (store_) {
      o.store = &*store_;
      for (const Words& words : points) keys.push_back(keys_.key(words));
      o.key = [&](size_t i) { return keys[i]; };
    }
    PointQueue queue(std::move(o));
    for (size_t i = 0; i < points.size(); ++i) queue.add(i);
    std::vector<PointResult> results(points.size());
    size_t done = 0;
    const auto take = [&](PointQueue::Done& d) {
      results[d.id] = std::move(d.result);
      progress(++done);
    };
    queue.run(
        take, [](int signal) { throw Stopped(signal, {stopped_by(signal)}); }, [] {});
    return results;
  }

  /// The completed points of `tried`, the best first.
  std::vector<Tried> try_rung(std::vector<size_t> tried, size_t r, const std::vector<size_t>& rungs, Table& table) {
    std::sort(tried.begin(), tried.end());
    const bool whole = r + 1 == rungs.size();
    std::vector<Words> words;
    for (const size_t i : tried) {
      words.push_back(words_of(i));
      if (!whole) words.back() = smaller(words.back(), *shrinking_[i], rungs[r]);
    }
    const std::vector<PointResult> results =
        simulate(words, [&](size_t done) { hooks_.progress(r + 1, rungs.size(), done, tried.size()); });
    std::vector<std::vector<Cell>> values;
    for (const PointResult& result : results) values.push_back(values_of(result));
    const auto ran = [](const PointResult& result) { return result.status == 0; };
    check_objectives("tune", o_.by, values, std::any_of(results.begin(), results.end(), ran));
    std::vector<Tried> good;
    std::string fault;
    size_t faults = 0;
    for (const size_t at : ranked_by(values, o_.by, o_.weights)) {
      const size_t i = tried[at];
      Row row;
      row.set("rung", static_cast<int64_t>(r + 1));
      if (!shrinking_[i]->pes.empty())
        row.set("pes", static_cast<int64_t>(whole ? shrinking_[i]->pes.size() : rungs[r]));
      for (size_t a = 0; a < o_.plan.axes.size(); ++a) row.set(o_.plan.axes[a].name, points_[i].values[a]);
      row.set("exit", int64_t{results[at].status});
      for (size_t k = 0; k < o_.by.size(); ++k) row.set(o_.by[k].metric, values[at][k]);
      table.add(row);
      const auto lacking =
          std::find_if(values[at].begin(), values[at].end(), [](const Cell& c) { return !number_of(c); });
      if (lacking == values[at].end()) {
        good.push_back({i, values[at]});
      } else if (faults++ == 0) {
        const std::string& metric = o_.by[static_cast<size_t>(lacking - values[at].begin())].metric;
        const std::string& error = results[at].error;
        fault = points_[i].name(o_.plan.axes) + ": " + (error.empty() ? "has no number for " + metric : error);
      }
    }
    if (faults > 0)
      hooks_.tell(fmt::format("rung {}: {} of {} points failed; the first: {}", r + 1, faults, tried.size(), fault));
    return good;
  }

  /// Values of o_.by; empty cells if the point failed or lacks the figure.
  std::vector<Cell> values_of(const PointResult& result) const {
    std::vector<Cell> values;
    for (const Objective& objective : o_.by) {
      values.emplace_back();
      if (result.status == 0 && result.metrics.contains(objective.metric))
        values.back() = cell_of(result.metrics.at(objective.metric));
    }
    return values;
  }

  const TuneOptions& o_;
  const TuneHooks& hooks_;
  std::vector<Point> points_;
  std::map<Words, Shrinking> shrinkings_;
  std::vector<const Shrinking*> shrinking_;  // by point
  std::optional<Store> store_;
  PointKeys keys_;
};

}  // namespace

std::vector<size_t> rungs_of(size_t pes) {
  std::vector<size_t> rungs;
  for (size_t some = 1; some * kSmallestStep <= pes; some *= kSteps) rungs.push_back(some);
  rungs.push_back(pes);
  return rungs;
}

std::vector<size_t> points_of_rungs(const std::vector<size_t>& rungs, size_t points, double budget, size_t finalists) {
  const auto whole = static_cast<double>(rungs.back());
  const auto most = static_cast<size_t>(budget);
  if (rungs.size() == 1) return {std::min(points, most)};
  finalists = std::clamp(most / 2, size_t{1}, std::max(finalists, size_t{1}));
  const double a_rung = (budget - static_cast<double>(finalists)) / static_cast<double>(rungs.size() - 1);
  std::vector<size_t> counts;
  for (size_t r = 0; r + 1 < rungs.size(); ++r) {
    const size_t before = r == 0 ? points : counts.back();
    const size_t kept = r == 0 ? points : std::max(finalists, before * rungs[r - 1] / rungs[r]);
    counts.push_back(std::min({before, kept, static_cast<size_t>(a_rung * whole / static_cast<double>(rungs[r]))}));
  }
  counts.push_back(std::min(counts.back(), finalists));
  return counts;
}

int run_tuner(const TuneOptions& options, std::ostream& out, const TuneHooks& hooks) {
  return Tuner(options, hooks).run(out);
}

}  // namespace kernbench::sweep
