// SPDX-License-Identifier: Apache-2.0
#include "kernbench/platform/study/sweep/plot.h"
#include "kernbench/phase2/text/print.h"

#include <algorithm>
#include <cmath>
#include <ostream>

namespace kernbench::sweep {
namespace {

constexpr double kLeft = 90, kTop = 44, kWidth = 620, kHeight = 400, kRight = 30, kBottom = 60;

/// An axis between two round numbers, with a mark at each step.
struct Scale {
  double from = 0, step = 1;
  int steps = 1;
  double place(double v, double length) const { return (v - from) / (step * steps) * length; }
};

Scale scale_of(double least, double most) {
  if (!(most > least)) most = least + std::max(std::abs(least) * 0.1, 1e-12);
  Scale s;
  // 1, 2 or 5 times a power of ten, for about five to ten marks.
  for (s.step = 1e-30; (most - least) / s.step > 8;) {
    for (const double factor : {2.0, 2.5, 2.0}) {
      if ((most - least) / s.step > 8) s.step *= factor;
    }
  }
  s.from = std::floor(least / s.step) * s.step;
  s.steps = std::max(1, static_cast<int>(std::ceil((most - s.from) / s.step - 1e-9)));
  return s;
}

std::string xml(const std::string& text) {
  std::string out;
  for (const char c : text) {
    if (c == '<') {
      out += "&lt;";
    } else if (c == '&') {
      out += "&amp;";
    } else {
      out += c;
    }
  }
  return out;
}

}  // namespace

void write_plot(std::ostream& out, const std::string& x_title, const std::string& y_title,
                const std::vector<PlotPoint>& points) {
  const auto by_x = [](const PlotPoint& a, const PlotPoint& b) { return a.x < b.x; };
  const auto by_y = [](const PlotPoint& a, const PlotPoint& b) { return a.y < b.y; };
  Scale x, y;
  if (!points.empty()) {
    const auto [left, right] = std::minmax_element(points.begin(), points.end(), by_x);
    const auto [low, high] = std::minmax_element(points.begin(), points.end(), by_y);
    x = scale_of(left->x, right->x);
    y = scale_of(low->y, high->y);
  }
  const auto px = [&](double v) { return kLeft + x.place(v, kWidth); };
  const auto py = [&](double v) { return kTop + kHeight - y.place(v, kHeight); };
  std::vector<PlotPoint> front;
  std::copy_if(points.begin(), points.end(), std::back_inserter(front), [](const PlotPoint& p) { return p.on_front; });
  std::stable_sort(front.begin(), front.end(), by_x);
  print_to(out,
           "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {0:g} {1:g}\" font-family=\"sans-serif\" "
           "font-size=\"12\">\n<rect width=\"{0:g}\" height=\"{1:g}\" fill=\"white\"/>\n"
           "<text x=\"{2:g}\" y=\"20\">{3} points, {4} of them on the Pareto front (dark)</text>\n",
           kLeft + kWidth + kRight, kTop + kHeight + kBottom, kLeft, points.size(), front.size());
  for (int i = 0; i <= x.steps; ++i) {
    const double v = x.from + i * x.step;
    print_to(out, "<line x1=\"{0:.2f}\" x2=\"{0:.2f}\" y1=\"{1:g}\" y2=\"{2:g}\" stroke=\"#ddd\"/>\n", px(v), kTop,
             kTop + kHeight);
    print_to(out, "<text x=\"{:.2f}\" y=\"{:g}\" text-anchor=\"middle\">{:.6g}</text>\n", px(v), kTop + kHeight + 18,
             std::abs(v) < x.step * 1e-6 ? 0.0 : v);
  }
  for (int i = 0; i <= y.steps; ++i) {
    const double v = y.from + i * y.step;
    print_to(out, "<line y1=\"{0:.2f}\" y2=\"{0:.2f}\" x1=\"{1:g}\" x2=\"{2:g}\" stroke=\"#ddd\"/>\n", py(v), kLeft,
             kLeft + kWidth);
    print_to(out, "<text x=\"{:g}\" y=\"{:.2f}\" text-anchor=\"end\">{:.6g}</text>\n", kLeft - 6, py(v) + 4,
             std::abs(v) < y.step * 1e-6 ? 0.0 : v);
  }
  print_to(out, "<text x=\"{:g}\" y=\"{:g}\" text-anchor=\"middle\">{}</text>\n", kLeft + kWidth / 2,
           kTop + kHeight + 42, x_title);
  print_to(out, "<text transform=\"translate(18 {:g}) rotate(-90)\" text-anchor=\"middle\">{}</text>\n",
           kTop + kHeight / 2, y_title);
  out << "<polyline fill=\"none\" stroke=\"#1f4e8c\" points=\"";
  for (const PlotPoint& p : front) print_to(out, "{:.2f},{:.2f} ", px(p.x), py(p.y));
  out << "\"/>\n";
  for (const bool on_front : {false, true}) {
    for (const PlotPoint& p : points) {
      if (p.on_front != on_front) continue;
      print_to(out, "<circle cx=\"{:.2f}\" cy=\"{:.2f}\" r=\"{}\" fill=\"{}\"><title>{}</title></circle>\n", px(p.x),
               py(p.y), on_front ? 5 : 3.5, on_front ? "#1f4e8c" : "#b9c4d6", xml(p.name));
    }
  }
  out << "</svg>\n";
}

}  // namespace kernbench::sweep
