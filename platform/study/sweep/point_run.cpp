// SPDX-License-Identifier: Apache-2.0
#include "kernbench/platform/study/sweep/point_run.h"

#include <algorithm>

#include "kernbench/phase2/text/json_reader.h"
#include "kernbench/platform/entry/child_run.h"
#include "kernbench/platform/run/spec/run_spec.h"
#include "kernbench/platform/run/spec/shell_words.h"

namespace kernbench::sweep {
namespace {

nlohmann::json json_of(std::monostate) {
  return nullptr;
}
template <class T>
nlohmann::json json_of(const T& v) {
  return v;
}

}  // namespace

std::string command_text(const Words& words) {
  return "kernbench" + spec::shell_words(words);
}

bool is_explained(const Words& words) {
  return std::find(words.begin(), words.end(), "--explain") != words.end();
}

Words explained(Words words) {
  if (!is_explained(words)) words.emplace_back("--explain");
  return words;
}

int simulate_point(const Words& point, size_t jobs) {
  const bool run = spec::is_run(point[0]);
  const auto spec = [&] {
    spec::RunSpec asked = spec::RunSpec::of_words(point);
    if (!run) asked.set("format", "json");
    if (run && jobs > 1 && !asked.given("threads")) asked.set("threads", "1");
    return asked;
  };
  return simulate_in_copy(spec, !run);
}

PointResult result_of(const ChildPool::Ended& e, double timeout_s, bool run) {
  const RunRecord record = record_of(e, timeout_s);
  PointResult r;
  r.status = record.status;
  r.error = record.first_line();
  if (!record.faults.empty()) return r;
  r.wall_s = record.wall_s;
  if (run) {
    r.run = record.document;
    r.metrics = nlohmann::json::object();
    for (const auto& [name, value] : record.figures) {
      std::visit([&, &key = name](const auto& v) { r.metrics[key] = json_of(v); }, value);
    }
  } else {
    r.metrics = parse_json<nlohmann::json>(record.report()).at("cases");
  }
  return r;
}

}  // namespace kernbench::sweep
