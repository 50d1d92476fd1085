// SPDX-License-Identifier: Apache-2.0
// A later run of a platform is explained like the first one: from its own begin, regardless of earlier runs.
#include <gtest/gtest.h>

#include <numeric>

#include "kernbench/platform/insight/explainer.h"
#include "kernbench/platform/run/run.h"
#include "system_support.h"

namespace kernbench::testing::later_runs_are_explained {
namespace {

RunReport run(Platform& platform, const char* kernel) {
  RunOptions o;
  o.kernel = kernel;
  return run_kernel(platform, std::move(o));
}

/// Verdict and blame of a gemm, after other runs if `later`; or a fault.
std::string explained(bool later) {
  return in_child([&]() -> std::string {
    const auto platform = platform_from_file(topology_path("small.yaml"));
    if (later) {
      run(*platform, "all_reduce");
      run(*platform, "vector_add");
    }
    insight::Explainer explainer(*platform);
    const RunReport report = run(*platform, "gemm");
    const auto found = explainer.explain(figures_of(report));
    if (found->contradictions > 0 || found->unexplained_ns > 1e-3) return "not all is explained";
    std::string text;
    for (const std::string& s : found->verdict) text += s + "\n";
    double sum = 0;
    for (size_t i = 0; i < insight::kResources; ++i) {
      sum += found->by_resource[i];
      text += std::to_string(std::llround(found->by_resource[i] * 1e3)) + "\n";
    }
    if (std::abs(sum / report.end_ns - 1) > 1e-6) return "the blame does not sum to the run's time";
    return text;
  });
}

TEST(Insight, explains_a_later_run_as_the_first_one) {
  const std::string first = explained(false);
  EXPECT_NE(first.find("Bound by"), std::string::npos) << first;
  EXPECT_EQ(explained(true), first);
}

}  // namespace
}  // namespace kernbench::testing::later_runs_are_explained
