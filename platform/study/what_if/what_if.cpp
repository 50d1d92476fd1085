// SPDX-License-Identifier: Apache-2.0
#include "kernbench/platform/study/what_if/what_if.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

#include "kernbench/phase2/op/errors.h"
#include "kernbench/phase2/text/json_reader.h"
#include "kernbench/phase2/text/text.h"
#include "kernbench/platform/insight/scaling.h"
#include "kernbench/platform/run/spec/run_spec.h"
#include "kernbench/platform/study/what_if/remedies.h"

namespace kernbench::study {
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
    spec::RunSpec explained = scaled({});
    explained.set("explain", "true");
    explained.set("format", "json");
    simulate({explained}, [&](size_t, const RunRecord& r) {
      if (!r.faults.empty()) throw RunError("the run itself fails: " + r.first_line());
      base = parse_json<nlohmann::json>(r.report());
      w.sim_ns = whole_ns_of(r);
      w.verdict = r.verdict;
    });
    const nlohmann::json& insight = base.at("insight");
    for (const insight::ScaledPart& p : parts_) {
      WhatIf::Row row;
      row.part = p.name;
      row.title = p.title;
      if (const auto it = insight.at("what_if").find(row.part); it != insight.at("what_if").end()) {
        row.predicted_faster_ns = it->at("faster_ns").get<double>();
        row.predicted_slower_ns = it->at("slower_ns").get<double>();
        row.faster_doubt_ns = it->at("faster_doubt_ns").get<double>();
        row.slower_doubt_ns = it->at("slower_doubt_ns").get<double>();
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
  spec::RunSpec scaled(const Words& scales) const {
    spec::RunSpec run = o_.run;
    for (const std::string& scale : scales) run.add("scale", scale);
    return run;
  }

  void simulate(const std::vector<spec::RunSpec>& runs, const std::function<void(size_t, const RunRecord&)>& done) {
    o_.run_each(runs, o_.jobs, [&](size_t i, const RunRecord& r) {
      done(i, r);
      progress_(++done_, runs_);
    });
  }

  static void take(const RunRecord& r, std::optional<double>& ns, std::string& fault) {
    if (r.faults.empty()) {
      ns = whole_ns_of(r);
    } else if (fault.empty()) {
      fault = r.first_line();
    }
  }

  void simulate_parts(WhatIf& w) {
    std::vector<spec::RunSpec> runs;
    for (const WhatIf::Row& r : w.rows) {
      runs.push_back(scaled({r.part + "=2"}));
      runs.push_back(scaled({r.part + "=0.5"}));
    }
    simulate(runs, [&](size_t i, const RunRecord& r) {
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
             [&](size_t, const RunRecord& r) { take(r, pair.faster_ns, pair.fault); });
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

spec::RunSpec run_of_command(const std::vector<std::string>& words) {
  if (words.empty() || !spec::is_run(words[0]))
    throw InputError("whatif: expected run or model with its options after --");
  spec::RunSpec run = spec::RunSpec::of_words(words, "whatif");
  for (const spec::Option& o : run.table().options) {
    if (o.role == spec::Option::Role::writes && run.given(o.name))
      throw InputError(fmt::format("whatif: found --{} in the command; its runs write only their times", o.name));
  }
  return run;
}

WhatIf what_if(const WhatIfOptions& o, const std::function<void(size_t done, size_t of)>& progress) {
  return WhatIfs(o, progress).all();
}

}  // namespace kernbench::study
