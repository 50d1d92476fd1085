// SPDX-License-Identifier: Apache-2.0
#include "kernbench/platform/study/sweep/page.h"

#include "kernbench/phase2/text/forms.h"
#include "kernbench/platform/run/record/html_page.h"

namespace kernbench {
namespace page {
extern const std::string_view sweep_html, sweep_css, sweep_js;
}
namespace sweep {

void write_sweep_page(const PageTexts& texts, const std::vector<PagePoint>& points,
                      const std::function<void(std::string_view)>& write) {
  const std::string text = to_json([&](Fields& f) {
    f("axes", texts.axes).each("metrics", texts.metrics, [&](const std::string& name) {
      f("name", name)("title", title_of(name))("meaning", metric(name, "--metric").meaning);
    });
    f.each("objectives", texts.objectives, [&](const Objective& o) { f("metric", o.metric)("most", o.most); });
    f.each("points", points, [&](const PagePoint& p) {
      for (const auto& [key, columns] : {std::pair("axes", &texts.axes), {"metrics", &texts.metrics}}) {
        f(key, [&, all = columns] {
          for (const std::string& column : *all) f(column, shown(column, p.row.at(column)));
        });
      }
      f("exit", p.row.at("exit"))("front", p.on_front)("command", p.command)("error", p.error);
    });
  });
  const std::string title = escaped_html(texts.title), data = escaped_json(text);
  write_page(page::sweep_html,
             {{"title", title}, {"own_css", page::sweep_css}, {"sweep_js", page::sweep_js}, {"data", data}}, write);
}

}  // namespace sweep
}  // namespace kernbench
