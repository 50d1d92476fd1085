// SPDX-License-Identifier: Apache-2.0
#include "kernbench/platform/study/sweep/sweep.h"

#include <fmt/format.h>

#include <algorithm>
#include <csignal>
#include <map>
#include <numeric>
#include <ostream>
#include <set>

#include "kernbench/phase2/op/errors.h"
#include "kernbench/phase2/text/text_stream.h"
#include "kernbench/platform/entry/system.h"
#include "kernbench/platform/entry/topology_places.h"
#include "kernbench/platform/run/spec/run_spec.h"
#include "kernbench/platform/study/sweep/page.h"
#include "kernbench/platform/study/sweep/plot.h"
#include "kernbench/platform/study/sweep/point_key.h"
#include "kernbench/platform/study/sweep/point_queue.h"
#include "kernbench/platform/study/sweep/point_run.h"
#include "kernbench/platform/study/sweep/progress_file.h"
#include "kernbench/platform/study/sweep/store.h"
#include "kernbench/platform/study/sweep/table_database.h"

namespace kernbench::sweep {
namespace {

const Words kRunColumns = {"sim_ns", "verified"};
const Words kProbeColumns = {"case", "bytes", "actual_ns", "formula_ns", "eff_bw_gbs", "util_pct"};

class Sweep {
 public:
  Sweep(const SweepOptions& o, const SweepHooks& hooks) : o_(o), hooks_(hooks) {
    const Words& command = o.plan.command;
    if (command.empty() || !(spec::is_run(command[0]) || command[0] == "probe"))
      throw InputError(fmt::format("sweep: found '{}', expected run, model or probe with its options",
                                   command.empty() ? "" : command[0]));
    runs_ = spec::is_run(command[0]);
    std::set<std::string> names;
    for (const Axis& a : o.plan.axes) {
      if (!names.insert(a.name).second)
        throw InputError(fmt::format("--over: found '{}' twice, expected each option once", a.name));
      if (a.name == "format") throw InputError("--over: found 'format', which the sweep itself sets");
    }
    if (given("--format")) throw InputError("sweep: found --format in the command, which the sweep itself sets");
    const bool of_runs = !o.metrics.empty() || !o.sort.empty() || !o.pareto.empty() || hooks.page;
    if (!runs_ && of_runs) throw InputError("sweep: --metric, --sort, --pareto and --report are of runs; found probe");
    choose_columns();
    add_points();
  }

  size_t points() const { return points_.size(); }

  int run(std::ostream& out) {
    Words columns;
    for (const Axis& a : o_.plan.axes) columns.push_back(a.name);
    columns.push_back("exit");
    columns.insert(columns.end(), metrics_.begin(), metrics_.end());
    if (hooks_.database) check_database_columns(columns);
    if (!o_.store.empty()) store_ = std::make_unique<Store>(o_.store, o_.version);
    if (store_ && !o_.stored_only) progress_file_.emplace(o_.store);
    Table table(out, o_.form, columns);
    std::vector<Row> rows;  // of the database
    const auto add = [&](const Row& row) {
      table.add(row);
      if (hooks_.database) rows.push_back(row);
    };
    const bool in_order = o_.sort.empty() && o_.pareto.empty();
    size_t told = 0;
    const auto tell_ended = [&] {
      for (; told < points_.size() && results_[same_as_[told]]; ++told) {
        const PointResult& r = *results_[same_as_[told]];
        worst_ = std::max(worst_, r.status == 0 || r.status == 2 ? r.status : 1);
        if (missing_.count(same_as_[told]) == 0) hooks_.ended(points_[told].name(o_.plan.axes), r.error);
        if (in_order) {
          for (const Row& row : rows_of(told)) add(row);
        }
        hooks_.progress(told + 1, points_.size(), simulated_);
      }
    };
    try {
      simulate(tell_ended);
    } catch (...) {
      note_progress(true);
      throw;
    }
    note_progress(true);
    const std::vector<size_t> front = front_of_all();
    if (!in_order) {
      for (const size_t i : chosen(front)) add(rows_of(i).front());
    }
    table.end();
    if (hooks_.picture) draw(front);
    if (hooks_.page) write_page(front);
    if (hooks_.database) hooks_.database(table_database(columns, rows));
    if (store_) {
      std::string line = fmt::format("{} points: {} simulated, {} in {} before", points_.size(), simulated_,
                                     points_.size() - simulated_ - missing_.size(), o_.store);
      if (!missing_.empty()) line += fmt::format(", {} missing", missing_.size());
      if (!lacking_.empty())
        line +=
            fmt::format(o_.stored_only ? "; {} stored points lack the results of --explain"
                                       : "; {} of the simulated points were stored without the results of --explain",
                        lacking_.size());
      hooks_.tell(line);
    }
    return worst_;
  }

 private:
  bool given(const char* option) const {
    const Words& c = o_.plan.command;
    return std::find(c.begin(), c.end(), option) != c.end();
  }

  void choose_columns() {
    metrics_ = !o_.metrics.empty() ? o_.metrics : runs_ ? kRunColumns : kProbeColumns;
    Words wanted = runs_ ? metrics_ : Words();
    for (const auto* objectives : {&o_.sort, &o_.pareto}) {
      for (const Objective& objective : *objectives) {
        wanted.push_back(objective.metric);
        // Metrics that choose points are shown.
        if (std::find(metrics_.begin(), metrics_.end(), objective.metric) == metrics_.end())
          metrics_.push_back(objective.metric);
      }
    }
    for (const std::string& name : wanted) {
      const Metric::Of of = metric(name, "--metric").of;
      explained_ = explained_ || of == Metric::Of::explained_run;
      if (name == "key" && o_.store.empty()) throw InputError("--metric key: needs --store beside it");
    }
  }

  void add_points() {
    std::vector<Point> all = points_of(o_.plan);
    plan_points_ = all.size();
    for (size_t i = 0; i < all.size(); ++i) {
      if (i % o_.shards == o_.shard - 1) points_.push_back(std::move(all[i]));
    }
    results_.resize(points_.size());
    same_as_.resize(points_.size());
    std::iota(same_as_.begin(), same_as_.end(), size_t{0});
    if (o_.store.empty()) return;
    PointKeys keys(o_.version, point_file);
    std::map<std::string, size_t> first;
    for (size_t i = 0; i < points_.size(); ++i) {
      keys_.push_back(keys.key(words_of(i)));
      same_as_[i] = first.emplace(keys_[i], i).first->second;
    }
  }

  Words words_of(size_t i) const {
    Words words = points_[i].words(o_.plan);
    return explained_ ? explained(std::move(words)) : words;
  }

  template <class Told>
  void simulate(const Told& tell_ended) {
    PointQueue queue(queue_options());
    for (size_t i = 0; i < points_.size(); ++i) {
      if (same_as_[i] != i) continue;
      if (store_) results_[i] = store_->find(keys_[i], !o_.stored_only);
      if (results_[i] && results_[i]->lacks(explained_)) {
        lacking_.insert(i);
        if (!o_.stored_only) results_[i].reset();
      }
      if (results_[i]) continue;
      if (o_.stored_only) {
        missing_.insert(i);
        results_[i] = PointResult{1, "is not in " + o_.store, nullptr, 0};
      } else {
        queue.add(i);
      }
    }
    tell_ended();
    const auto take_next = [&](PointQueue::Done& done) {
      take(done);
      tell_ended();
    };
    queue.run(
        take_next, [&](int signal) { on_signal(signal, queue); }, [&] { note_progress(false); });
    if (queue.waiting() > 0) throw stopped();
  }

  PointQueue::Options queue_options() const {
    PointQueue::Options o;
    o.jobs = processes(o_.jobs);
    o.timeout_s = o_.timeout_s;
    o.spared = store_ != nullptr;
    o.runs = runs_;
    o.retries = store_ ? o_.retries : 0;
    o.store = store_.get();
    o.words = [this](size_t i) { return words_of(i); };
    o.key = [this](size_t i) { return keys_[i]; };
    return o;
  }

  void take(PointQueue::Done& d) {
    if (d.how == PointQueue::Done::How::simulated) {
      ++simulated_;
      if (d.result.status == 0) share_system(spec::RunSpec::of_words(words_of(d.id)));
    }
    results_[d.id] = std::move(d.result);
  }

  void note_progress(bool ended) {
    if (!progress_file_) return;
    progress_file_->update(ended, [&] {
      SweepProgress p;
      p.shard = o_.shard;
      p.shards = o_.shards;
      p.plan = plan_points_;
      p.points = points_.size();
      p.simulated = simulated_;
      for (const size_t i : same_as_) {
        p.done += results_[i].has_value();
        p.failed += results_[i] && results_[i]->status != 0;
      }
      return p;
    });
  }

  void on_signal(int signal, PointQueue& queue) {
    const bool again = stopping_ != 0;
    stopping_ = signal;
    queue.stop();
    if (!store_) throw Stopped(signal, {stopped_by(signal) + ", and its processes with it"});
    if (signal != SIGINT || again) throw stopped();
    hooks_.tell(fmt::format("finishing {} running points; another SIGINT ends them", queue.at_work()));
  }

  Stopped stopped() const {
    const auto done = std::count_if(results_.begin(), results_.end(), [](const auto& r) { return r.has_value(); });
    return Stopped(stopping_, {fmt::format("{}: {} of {} points are in {}; the same command continues from there",
                                           stopped_by(stopping_), done, points_.size(), o_.store)});
  }

  Cell cell(size_t i, const std::string& name) const {
    const PointResult& r = *results_[same_as_[i]];
    if (name == "wall_s") return r.wall_s;
    if (name == "error") return r.error;
    if (name == "command") return command_text(words_of(i));
    if (name == "key") return keys_[i];
    const auto it = r.metrics.find(name);
    return it == r.metrics.end() ? Cell() : cell_of(*it);
  }

  /// A point's rows: one for each result in its output.
  std::vector<Row> rows_of(size_t i) const {
    const PointResult& r = *results_[same_as_[i]];
    Row point;
    for (size_t a = 0; a < o_.plan.axes.size(); ++a) point.set(o_.plan.axes[a].name, points_[i].values[a]);
    point.set("exit", int64_t{r.status});
    if (!runs_ && !r.metrics.is_null()) {
      std::vector<Row> rows;
      for (const auto& result : r.metrics) {
        rows.push_back(point);
        for (const std::string& column : metrics_) rows.back().set(column, cell_of(result.at(column)));
      }
      return rows;
    }
    for (const std::string& name : runs_ ? metrics_ : Words()) {
      if (!r.metrics.is_null() || metric(name, "--metric").of == Metric::Of::point) point.set(name, cell(i, name));
    }
    return {point};
  }

  bool any_ran() const {
    return std::any_of(results_.begin(), results_.end(), [](const auto& r) { return r && r->status == 0; });
  }

  /// None without --pareto.
  std::vector<size_t> front_of_all() const {
    if (o_.pareto.empty()) return {};
    std::vector<std::vector<Cell>> cells(points_.size());
    for (size_t i = 0; i < points_.size(); ++i) {
      for (const Objective& objective : o_.pareto) cells[i].push_back(cell(i, objective.metric));
    }
    check_objectives("--pareto", o_.pareto, cells, any_ran());
    return pareto_front(cells, o_.pareto);
  }

  /// The table's points if their order differs from the plan's; also prints the best.
  std::vector<size_t> chosen(const std::vector<size_t>& front) const {
    std::vector<size_t> indices = front;
    if (o_.pareto.empty()) {
      indices.resize(points_.size());
      std::iota(indices.begin(), indices.end(), size_t{0});
    }
    if (!o_.sort.empty()) {
      std::vector<Cell> cells;
      std::vector<std::vector<Cell>> rows;
      for (const size_t i : indices) rows.push_back({cells.emplace_back(cell(i, o_.sort[0].metric))});
      check_objectives("--sort", o_.sort, rows, any_ran());
      std::vector<size_t> sorted;
      for (const size_t at : sorted_by(cells, o_.sort[0])) sorted.push_back(indices[at]);
      indices = std::move(sorted);
      if (!indices.empty()) {
        Row best = rows_of(indices[0]).front();
        const std::string& by = o_.sort[0].metric;
        hooks_.tell(fmt::format("best: {}: {} {}", points_[indices[0]].name(o_.plan.axes), title_of(by),
                                for_people(by, best.at(by))));
      }
    }
    return indices;
  }

  void draw(const std::vector<size_t>& front) const {
    const std::set<size_t> on_front(front.begin(), front.end());
    std::vector<PlotPoint> all;
    for (size_t i = 0; i < points_.size(); ++i) {
      const auto value = [&](const std::string& name) { return number_of(shown(name, cell(i, name))); };
      const auto x = value(o_.pareto[0].metric), y = value(o_.pareto[1].metric);
      if (x && y) all.push_back({*x, *y, on_front.count(i) > 0, points_[i].name(o_.plan.axes)});
    }
    TextOutput text;
    write_plot(text, title_of(o_.pareto[0].metric), title_of(o_.pareto[1].metric), all);
    hooks_.picture(text.str());
  }

  void write_page(const std::vector<size_t>& front) const {
    PageTexts texts{command_text(o_.plan.command), {}, metrics_, o_.pareto};
    for (const Axis& a : o_.plan.axes) texts.axes.push_back(a.name);
    std::vector<PagePoint> points;
    for (size_t i = 0; i < points_.size(); ++i)
      points.push_back({rows_of(i).front(), command_text(words_of(i)), results_[same_as_[i]]->error, false});
    for (const size_t i : front) points[i].on_front = true;
    TextOutput text;
    write_sweep_page(texts, points, [&](std::string_view part) { text << part; });
    hooks_.page(text.str());
  }

  const SweepOptions& o_;
  const SweepHooks& hooks_;
  bool runs_ = true, explained_ = false;
  Words metrics_;  // columns
  std::vector<Point> points_;
  Words keys_;                                       // in a store
  std::vector<size_t> same_as_;                      // the first point with the same key
  std::vector<std::optional<PointResult>> results_;  // of first points
  size_t plan_points_ = 0;                           // of all shards
  std::unique_ptr<Store> store_;
  std::optional<ProgressFile> progress_file_;
  size_t simulated_ = 0;
  std::set<size_t> missing_;  // first points that --stored does not find; only their number is reported
  std::set<size_t> lacking_;  // first points whose row in the store lacks a requested metric
  int stopping_ = 0;          // the signal
  int worst_ = 0;
};

}  // namespace

size_t points_of_sweep(const SweepOptions& options, const SweepHooks& hooks) {
  return Sweep(options, hooks).points();
}

int run_sweep(const SweepOptions& options, std::ostream& out, const SweepHooks& hooks) {
  return Sweep(options, hooks).run(out);
}

}  // namespace kernbench::sweep
