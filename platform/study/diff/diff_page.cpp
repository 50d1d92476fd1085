// SPDX-License-Identifier: Apache-2.0
#include "kernbench/platform/study/diff/diff_page.h"

#include "kernbench/phase2/text/forms.h"
#include "kernbench/platform/run/record/html_page.h"
#include "kernbench/platform/topology/view/plan_json.h"

namespace kernbench {
namespace page {
extern const std::string_view diff_html, diff_css, diff_js;
}

}  // namespace kernbench
namespace kernbench::study {
namespace {

/// By id: the busy share of the run for engines, the used share of the bandwidth for links and memories.
void describe_shares(Fields& f, const RunFile& run) {
  for (const auto& [engine, ns] : run.busy_ns) {
    if (run.sim_ns > 0) f(engine, ns / run.sim_ns);
  }
  for (const auto& [name, share] : run.shares) f(name, share);
}

}  // namespace

void write_diff_page(const DiffPage& p, const std::function<void(std::string_view)>& write) {
  RunDiff diff = p.diff;
  diff.figures = figures_in_text(diff);
  const std::string text = to_json([&](Fields& f) {
    f("diff", diff)("a", [&] { describe_shares(f, p.a); })("b", [&] { describe_shares(f, p.b); });
    f("plans", p.system ? std::optional(topology::plans_of(*p.system)) : std::nullopt);
  });
  const std::string title = escaped_html(p.a.name + " and " + p.b.name), data = escaped_json(text);
  write_page(page::diff_html,
             {{"title", title}, {"own_css", page::diff_css}, {"diff_js", page::diff_js}, {"data", data}}, write);
}

}  // namespace kernbench::study
