#include "kernbench/platform/study/diff/diff_page.h"

#include "kernbench/phase2/text/json_writer.h"
#include "kernbench/platform/run/record/html_page.h"
#include "kernbench/platform/topology/view/plan_json.h"

namespace kernbench {

namespace page {
extern const std::string_view diff_html, diff_css, diff_js;
}

namespace {

/// By id: of engines the share of the run in which they were busy, of links and memories that of their bandwidth.
void write_shares(JsonWriter& w, const RunFile& run) {
  w.open('{');
  for (const auto& [engine, ns] : run.busy_ns) {
    if (run.sim_ns > 0) w.field(engine, ns / run.sim_ns);
  }
  for (const auto& [name, share] : run.shares) w.field(name, share);
  w.close('}');
}

}  // namespace

void write_diff_page(const DiffPage& p, const std::function<void(std::string_view)>& write) {
  std::string text;
  JsonWriter w(text, JsonWriter::Layout::compact, JsonWriter::Reals::decimal);
  write_diff(w.open('{').key("diff"), p.diff);
  write_shares(w.key("a"), p.a);
  write_shares(w.key("b"), p.b);
  w.key("plans");
  if (p.system) {
    topology::write_plans(w, *p.system);
  } else {
    w.null();
  }
  w.close('}');
  const std::string title = escaped_html(p.a.name + " and " + p.b.name), data = escaped_json(text);
  write_page(page::diff_html,
             {{"title", title}, {"own_css", page::diff_css}, {"diff_js", page::diff_js}, {"data", data}}, write);
}

}  // namespace kernbench
