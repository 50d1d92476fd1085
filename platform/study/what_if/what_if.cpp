#include "kernbench/platform/study/what_if/what_if.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

#include "kernbench/phase2/op/errors.h"
#include "kernbench/phase2/text/json_reader.h"
#include "kernbench/phase2/text/text.h"
#include "kernbench/platform/insight/scaling.h"
#include "kernbench/platform/run/child/child_pool.h"
#include "kernbench/platform/run/spec/run_spec.h"

namespace kernbench {
namespace {

using Words = std::vector<std::string>;

std::vector<insight::ScaledPart> chosen_parts(const Words& names) {
  if (names.empty()) return insight::scaled_parts();
  std::vector<insight::ScaledPart> parts;
  for (const std::string& name : names) {
    const auto& all = insight::scaled_parts();
    const auto it = std::find_if(all.begin(), all.end(), [&](const insight::ScaledPart& p) { return p.name == name; });
    if (it == all.end()) {
      Words legal;
      for (const insight::ScaledPart& p : all) legal.emplace_back(p.name);
      throw InputError(fmt::format("--part: found {}; legal: {}", in_quotes(name), joined(legal)));
    }
    parts.push_back(*it);
  }
  return parts;
}

class WhatIfs {
 public:
  WhatIfs(const WhatIfOptions& o, const std::function<void(size_t, size_t)>& progress)
      : o_(o), progress_(progress), parts_(chosen_parts(o.parts)) {}

  WhatIf all() {
    WhatIf w;
    nlohmann::json base;
    runs_ = o_.simulate ? 1 + 2 * parts_.size() : 1;
    simulate({scaled({}, true)}, [&](size_t, const ChildPool::Ended& r) {
      if (r.status > 1 || r.out.empty()) throw RunError("the run itself fails: " + r.first_line());
      base = parse_json<nlohmann::json>(r.out);
    });
    w.sim_ns = base.at("sim_ns").get<double>();
    const nlohmann::json& insight = base.at("insight");
    w.verdict = insight.at("verdict").get<Words>();
    for (const insight::ScaledPart& p : parts_) {
      WhatIf::Row row;
      row.part = p.name;
      row.title = p.title;
      if (const auto it = insight.at("what_if").find(row.part); it != insight.at("what_if").end()) {
        row.predicted_faster_ns = it->at("faster_ns").get<double>();
        row.predicted_slower_ns = it->at("slower_ns").get<double>();
        row.faster_other_order = it->at("faster_other_order").get<bool>();
        row.slower_other_order = it->at("slower_other_order").get<bool>();
      }
      w.rows.push_back(std::move(row));
    }
    if (o_.simulate) simulate_parts(w);
    const auto time = [&](const WhatIf::Row& r) {
      return r.faster_ns ? *r.faster_ns : r.predicted_faster_ns ? *r.predicted_faster_ns : w.sim_ns;
    };
    std::stable_sort(w.rows.begin(), w.rows.end(),
                     [&](const WhatIf::Row& a, const WhatIf::Row& b) { return time(a) < time(b); });
    if (o_.simulate && w.rows.size() >= 2) {
      std::vector<Words> pairs = {{w.rows[0].part, w.rows[1].part}};
      const auto bound_by = insight.at("bound_by").get<Words>();
      if (bound_by.size() == 2 && !std::is_permutation(bound_by.begin(), bound_by.end(), pairs[0].begin()))
        pairs.push_back(bound_by);
      for (const Words& pair : pairs) add_pair(w, pair);
    }
    return w;
  }

 private:
  Words scaled(const Words& scales, bool explained = false) const {
    Words line = o_.command;
    for (const std::string& s : scales) line.insert(line.end(), {"--scale", s});
    if (explained) line.emplace_back("--explain");
    line.insert(line.end(), {"--format", "json"});
    return line;
  }

  void simulate(const std::vector<Words>& lines, const std::function<void(size_t, const ChildPool::Ended&)>& done) {
    const auto work = [&](size_t i) { return o_.work(lines[i]); };
    run_in_order(lines.size(), processes(o_.jobs), work, [&](const ChildPool::Ended& r) {
      done(r.id, r);
      progress_(++done_, runs_);
    });
  }

  static void take(const ChildPool::Ended& r, std::optional<double>& ns, std::string& fault) {
    if (r.status > 1 || r.out.empty()) {
      if (fault.empty()) fault = r.first_line();
    } else {
      ns = parse_json<nlohmann::json>(r.out).at("sim_ns").get<double>();
    }
  }

  void simulate_parts(WhatIf& w) {
    std::vector<Words> lines;
    for (const WhatIf::Row& r : w.rows) {
      lines.push_back(scaled({r.part + "=2"}));
      lines.push_back(scaled({r.part + "=0.5"}));
    }
    simulate(lines, [&](size_t i, const ChildPool::Ended& r) {
      WhatIf::Row& row = w.rows[i / 2];
      take(r, i % 2 == 0 ? row.faster_ns : row.slower_ns, row.fault);
    });
  }

  void add_pair(WhatIf& w, const Words& parts) {
    const auto title = [](const std::string& part) {
      const auto& all = insight::scaled_parts();
      return std::string(std::find_if(all.begin(), all.end(), [&](const auto& p) { return p.name == part; })->title);
    };
    WhatIf::Row pair;
    pair.part = parts[0] + "+" + parts[1];
    pair.title = title(parts[0]) + " and " + title(parts[1]);
    ++runs_;
    simulate({scaled({parts[0] + "=2", parts[1] + "=2"})},
             [&](size_t, const ChildPool::Ended& r) { take(r, pair.faster_ns, pair.fault); });
    w.rows.push_back(std::move(pair));
  }

  const WhatIfOptions& o_;
  const std::function<void(size_t, size_t)>& progress_;
  const std::vector<insight::ScaledPart> parts_;
  size_t done_ = 0, runs_ = 0;
};

}  // namespace

bool WhatIf::Row::changes_nothing(double sim_ns) const {
  const auto same = [&](const std::optional<double>& ns) { return !ns || std::abs(*ns - sim_ns) < 1e-6; };
  return fault.empty() && same(faster_ns) && same(slower_ns) && same(predicted_faster_ns) && same(predicted_slower_ns);
}

void check_command(const WhatIfOptions& o) {
  if (o.command.empty() || !spec::is_run(o.command[0]))
    throw InputError("whatif: expected run or model with its options behind --");
  for (const spec::Option& option : spec::table_of(o.command[0]).options) {
    const std::string name = "--" + std::string(option.name);
    if (option.role == spec::Option::Role::writes &&
        std::any_of(o.command.begin(), o.command.end(),
                    [&](const std::string& w) { return w == name || w.compare(0, name.size() + 1, name + "=") == 0; }))
      throw InputError(fmt::format("whatif: found {} in the command; the runs write nothing but their times", name));
  }
}

WhatIf what_if(const WhatIfOptions& o, const std::function<void(size_t done, size_t of)>& progress) {
  return WhatIfs(o, progress).all();
}

}  // namespace kernbench
