#include "kernbench/platform/sweep/run_points.h"

#include <deque>

#include "kernbench/phase2/op/errors.h"
#include "kernbench/platform/sweep/point_run.h"
#include "kernbench/platform/sweep/workers.h"

namespace kernbench::sweep {

std::vector<PointResult> PointRunner::run(const std::vector<Words>& points) const {
  std::vector<PointResult> results(points.size());
  Words names;
  std::deque<size_t> waiting;
  size_t ended = 0;
  for (size_t i = 0; i < points.size(); ++i) {
    if (store) names.push_back(keys->key(points[i]));
    waiting.push_back(i);
  }
  Workers workers(work, timeout_s, false);
  const auto take_stored = [&](size_t i) {
    results[i] = *store->find(names[i], true);
    progress(++ended);
  };
  while (!waiting.empty() || workers.size() > 0) {
    for (size_t n = waiting.size(); n > 0 && workers.size() < jobs; --n) {
      const size_t i = waiting.front();
      waiting.pop_front();
      const Store::Claim claim = store ? store->claim(names[i], command_text(points[i])) : Store::Claim::mine;
      if (claim == Store::Claim::mine) workers.start(i, worker_words(points[i], jobs));
      if (claim == Store::Claim::done) take_stored(i);
      if (claim == Store::Claim::others) waiting.push_back(i);
    }
    if (workers.size() == 0 && waiting.empty()) break;
    // Where others are at all that is left, they are asked again and again.
    const auto one = workers.wait(std::chrono::milliseconds(workers.size() > 0 ? 1000 : 50));
    if (const int signal = StopSignals::take()) throw Stopped(signal, {stopped_by(signal)});
    if (!one) continue;
    results[one->id] = result_of(*one, timeout_s, true);
    if (store) store->put(names[one->id], results[one->id]);
    progress(++ended);
  }
  return results;
}

}  // namespace kernbench::sweep
