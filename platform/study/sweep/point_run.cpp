#include "kernbench/platform/study/sweep/point_run.h"

#include <fmt/format.h>

#include <algorithm>

#include "kernbench/phase2/text/json_reader.h"
#include "kernbench/platform/run/spec/run_spec.h"
#include "kernbench/platform/run/spec/shell_words.h"
#include "kernbench/platform/study/sweep/metrics.h"

namespace kernbench::sweep {

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

Words worker_words(Words point, size_t jobs) {
  const bool threads = std::find(point.begin(), point.end(), "--threads") != point.end();
  const bool run = !point.empty() && spec::is_run(point[0]);
  point.insert(point.end(), {"--format", "json"});
  if (run && jobs > 1 && !threads) point.insert(point.end(), {"--threads", "1"});
  return point;
}

PointResult result_of(const ChildPool::Ended& e, double timeout_s, bool run) {
  PointResult r;
  r.status = e.status;
  r.error = e.err.substr(0, e.err.find('\n'));
  if (e.status == ChildPool::kTookTooLong) r.error = fmt::format("took longer than {} s", timeout_s);
  if (e.status > 128 && r.error.empty()) r.error = fmt::format("ended by signal {}", e.status - 128);
  // A run that failed its verification has times all the same; one that crashed may have left half a text.
  if (e.status > 1 || e.out.empty()) return r;
  try {
    auto report = parse_json<nlohmann::json>(e.out);
    if (run) r.wall_s = json_field_or<double>(report, "wall_s", 0);
    if (run) r.run = json_field(report, "run", [](const nlohmann::json& document) { return json_text(document); });
    r.metrics = run ? metrics_of(report) : json_field(report, "cases", [](const nlohmann::json& rows) { return rows; });
  } catch (const JsonFault& fault) {  // what a kernel prints stands among it
    return {1, std::string("its report: ") + fault.what(), nullptr, 0, ""};
  }
  return r;
}

}  // namespace kernbench::sweep
