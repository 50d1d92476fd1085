#include "kernbench/platform/study/sweep/page.h"

#include "kernbench/phase2/text/json_writer.h"
#include "kernbench/platform/run/record/html_page.h"

namespace kernbench {

namespace page {
extern const std::string_view sweep_html, sweep_css, sweep_js;
}

namespace sweep {
namespace {

void write_cells(JsonWriter& w, const char* key, const Row& row, const std::vector<std::string>& columns) {
  w.key(key).open('{');
  for (const std::string& column : columns) w.field(column, row.at(column));
  w.close('}');
}

}  // namespace

void write_sweep_page(const PageTexts& texts, const std::vector<PagePoint>& points,
                      const std::function<void(std::string_view)>& write) {
  std::string text;
  JsonWriter w(text, JsonWriter::Layout::compact, JsonWriter::Reals::decimal);
  w.open('{').field("axes", texts.axes).key("metrics").open('[');
  for (const std::string& name : texts.metrics) {
    w.open('{').field("name", name).field("meaning", metric(name, "--metric").meaning).close('}');
  }
  w.close(']').key("objectives").open('[');
  for (const Objective& o : texts.objectives) w.open('{').field("metric", o.metric).field("most", o.most).close('}');
  w.close(']').key("points").open('[');
  for (const PagePoint& p : points) {
    w.open('{');
    write_cells(w, "axes", p.row, texts.axes);
    write_cells(w, "metrics", p.row, texts.metrics);
    w.field("exit", p.row.at("exit")).field("front", p.on_front).field("command", p.command).field("error", p.error);
    w.close('}');
  }
  w.close(']').close('}');
  const std::string title = escaped_html(texts.title), data = escaped_json(text);
  write_page(page::sweep_html,
             {{"title", title}, {"own_css", page::sweep_css}, {"sweep_js", page::sweep_js}, {"data", data}}, write);
}

}  // namespace sweep
}  // namespace kernbench
