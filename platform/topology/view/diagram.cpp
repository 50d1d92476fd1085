// SPDX-License-Identifier: Apache-2.0
#include "kernbench/platform/topology/view/diagram.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>

#include "kernbench/phase2/text/print.h"
#include "kernbench/platform/topology/graph/edge_kinds.h"
#include "kernbench/platform/topology/graph/faults.h"

namespace kernbench::topology {
namespace {

struct Paint {
  const char* fill;
  const char* stroke;
};

Paint paint_of(const std::string& kind) {
  static const std::map<std::string, Paint> paints = {
      {"sip", {"#f7f8fa", "#9aa5b1"}},     {"cube", {"#eef3fb", "#7b93b8"}},
      {"io", {"#f3eef9", "#9a7fc0"}},      {"hbm", {"#e7f3e3", "#7fae70"}},
      {"router", {"#c9dcf7", "#3b6fb6"}},  {"xbar", {"#c9dcf7", "#3b6fb6"}},
      {"bridge", {"#dbe9fb", "#3b6fb6"}},  {"noc", {"#b9d0f2", "#3b6fb6"}},
      {"io_noc", {"#d9c9ef", "#7450a8"}},  {"hbm_ctrl", {"#bfe0b4", "#4f8a3c"}},
      {"sram", {"#f6d5a8", "#b9772a"}},    {"m_cpu", {"#f4c2c7", "#b3414d"}},
      {"io_cpu", {"#f4c2c7", "#b3414d"}},  {"pcie_ep", {"#d9c9ef", "#7450a8"}},
      {"switch", {"#d4d8dd", "#545d68"}},  {"ucie", {"#b5e3dd", "#2a8c80"}},
      {"pe", {"#fde3b0", "#c98a1b"}},      {"pe_dma", {"#fde3b0", "#c98a1b"}},
      {"pe_gemm", {"#fbc9a0", "#c2601b"}}, {"pe_math", {"#fbc9a0", "#c2601b"}},
      {"pe_tcm", {"#f6d5a8", "#b9772a"}},  {"pe_fetch_store", {"#fdeecb", "#c98a1b"}},
      {"pe_cpu", {"#f4c2c7", "#b3414d"}},  {"pe_scheduler", {"#f4d6d9", "#b3414d"}},
  };
  const auto it = paints.find(kind);
  return it == paints.end() ? Paint{"#e8eaed", "#7a828c"} : it->second;
}

const char* colour_of_kind(const std::string& kind) {
  static const std::map<std::string, const char*> colours = {
      {"mesh", "#3b6fb6"}, {"memory", "#4f8a3c"}, {"ucie", "#2a8c80"},    {"pcie", "#545d68"},
      {"io", "#7450a8"},   {"pe", "#c98a1b"},     {"command", "#d98a93"}, {"m_cpu", "#b3414d"},
  };
  const auto it = colours.find(kind);
  return it == colours.end() ? "#7a828c" : it->second;
}

const char* colour_of(const Wire& w) {
  return w.colour ? w.colour : colour_of_kind(w.kind);
}

/// For the legend.
std::string name_of_wire(const std::string& kind) {
  static const std::map<std::string, const char*> names = {
      {edge_kind::kMesh, "NoC"},   {edge_kind::kMemory, "memory"},    {edge_kind::kUcie, "UCIe"},
      {edge_kind::kPcie, "PCIe"},  {edge_kind::kIo, "IO NoC"},        {edge_kind::kPe, "PE to NoC"},
      {edge_kind::kMCpu, "M_CPU"}, {edge_kind::kCommand, "launches"}, {edge_kind::kPeInternal, "inside the PE"},
  };
  const auto it = names.find(kind);
  return it == names.end() ? kind : it->second;
}

std::string escaped(const std::string& s) {
  std::string out;
  for (const char c : s) {
    if (c == '&')
      out += "&amp;";
    else if (c == '<')
      out += "&lt;";
    else if (c == '>')
      out += "&gt;";
    else if (c == '"')
      out += "&quot;";
    else
      out += c;
  }
  return out;
}

/// A length in pixels with one decimal, so that drawings are small and byte-identical.
std::string px(double v) {
  return fmt::format("{:.1f}", v == 0 ? 0.0 : v);
}

class SvgWriter {
 public:
  SvgWriter(const Diagram& d, std::ostream& out) : d_(d), out_(out) { measure(); }

  void write() {
    const double width = std::max(520.0, (right_ - left_) * d_.pixels_per_unit + 2 * kMargin);
    const double height = (bottom_ - top_) * d_.pixels_per_unit + 2 * kMargin + kHead + kFoot;
    print_to(out_,
             R"(<svg xmlns="http://www.w3.org/2000/svg" width="{0}" height="{1}" viewBox="0 0 {0} {1}" )"
             R"(font-family="Helvetica, Arial, sans-serif">)"
             "\n<rect width=\"100%\" height=\"100%\" fill=\"white\"/>\n",
             px(width), px(height));
    text(kMargin, 34, d_.title, 18, "#1f2933", "start", true);
    text(kMargin, 54, d_.subtitle, 12.5, "#52606d", "start", false);
    for (const Box& b : d_.boxes)
      if (b.container) box(b);
    for (const Wire& w : d_.wires) wire(w);
    for (const Box& b : d_.boxes)
      if (!b.container) box(b);
    for (const Wire& w : d_.wires) arrow(w);
    for (const Wire& w : d_.wires) label(w);
    legend(height - kFoot + 18);
    out_ << "</svg>\n";
  }

 private:
  static constexpr const char* kDashes = R"( stroke-dasharray="4 3")";
  static constexpr double kMargin = 24, kHead = 52, kFoot = 44;

  void measure() {
    left_ = top_ = 1e300;
    right_ = bottom_ = -1e300;
    const auto take = [&](double at_x, double at_y) {
      left_ = std::min(left_, at_x);
      right_ = std::max(right_, at_x);
      top_ = std::min(top_, at_y);
      bottom_ = std::max(bottom_, at_y);
    };
    for (const Box& b : d_.boxes) {
      take(b.centre.x_mm - b.w / 2, b.centre.y_mm - b.h / 2);
      take(b.centre.x_mm + b.w / 2, b.centre.y_mm + b.h / 2);
    }
    for (const Wire& w : d_.wires)
      for (const Position& p : w.bends) take(p.x_mm, p.y_mm);
    if (d_.boxes.empty()) left_ = top_ = right_ = bottom_ = 0;
  }
  double x(double v) const { return kMargin + (v - left_) * d_.pixels_per_unit; }
  double y(double v) const { return kMargin + kHead + (v - top_) * d_.pixels_per_unit; }

  void text(double at_x, double at_y, const std::string& s, double size, const char* fill, const char* anchor,
            bool bold) {
    print_to(out_,
             R"(<text x="{}" y="{}" font-size="{}" fill="{}" text-anchor="{}"{}>{}</text>)"
             "\n",
             px(at_x), px(at_y), px(size), fill, anchor, bold ? R"( font-weight="bold")" : "", escaped(s));
  }

  void box(const Box& b) {
    const Paint p = paint_of(b.kind);
    const double w = b.w * d_.pixels_per_unit, h = b.h * d_.pixels_per_unit;
    print_to(out_,
             R"(<rect x="{}" y="{}" width="{}" height="{}" rx="{}" fill="{}" stroke="{}"><title>{}</title></rect>)"
             "\n",
             px(x(b.centre.x_mm) - w / 2), px(y(b.centre.y_mm) - h / 2), px(w), px(h),
             px(std::min({6.0, w / 5, h / 5})), p.fill, p.stroke, escaped(b.id));
    if (b.title.empty()) return;
    if (b.container) {
      const double at_x = b.title_centred ? x(b.centre.x_mm) : x(b.centre.x_mm) - w / 2 + 6;
      text(at_x, y(b.centre.y_mm) - h / 2 + d_.font_px + 3, b.title, d_.font_px, p.stroke,
           b.title_centred ? "middle" : "start", true);
      return;
    }
    box_text(b, w, h);
  }

  /// The title and as many details as fit; in a tall narrow box the text runs upwards.
  void box_text(const Box& b, double w, double h) {
    const bool upright = h > 2 * w;
    const double length = upright ? h : w, depth = upright ? w : h;
    const auto size_for = [&](const std::string& s, double most) {
      return std::min({most, 1.6 * (length - 4) / static_cast<double>(std::max<size_t>(s.size(), 1)), depth * 0.8});
    };
    std::vector<std::pair<std::string, double>> lines{{b.title, size_for(b.title, d_.font_px)}};
    double used = lines[0].second * 1.2;
    for (const std::string& s : b.details) {
      const double size = size_for(s, d_.font_px * 0.85);
      if (used + size * 1.2 > depth - 2 || size < 5) break;
      lines.emplace_back(s, size);
      used += size * 1.2;
    }
    if (lines[0].second < 4) return;
    const double cx = x(b.centre.x_mm), cy = y(b.centre.y_mm);
    if (upright) print_to(out_, "<g transform=\"rotate(-90 {} {})\">\n", px(cx), px(cy));
    double at = cy - used / 2;
    for (size_t i = 0; i < lines.size(); ++i) {
      at += lines[i].second * 1.2;
      text(cx, at - lines[i].second * 0.3, lines[i].first, lines[i].second, "#1f2933", "middle", i == 0);
    }
    if (upright) out_ << "</g>\n";
  }

  static double width_of(const Wire& w) {
    const double bw = std::max(w.bw_gbs, w.bw_back_gbs);
    return bw <= 0 ? 1.4 : std::min(7.0, std::max(1.0, 1 + std::log2(bw / 32) * 0.8));
  }

  /// The corners of a wire. If the boxes overlap horizontally or vertically, a straight wire at the smaller one's
  /// middle; else from centre to centre.
  std::vector<Position> corners_of(const Wire& w) const {
    const Box &a = d_.boxes[w.from], &b = d_.boxes[w.to];
    Position p = a.centre, q = b.centre;
    if (!w.bends.empty()) {
      std::vector<Position> corners{p};
      corners.insert(corners.end(), w.bends.begin(), w.bends.end());
      corners.push_back(q);
      return corners;
    }
    const double dx = std::abs(p.x_mm - q.x_mm), dy = std::abs(p.y_mm - q.y_mm);
    if (dy < std::max(a.h, b.h) / 2 && dx > (a.w + b.w) / 2)
      (a.h < b.h ? q.y_mm : p.y_mm) = a.h < b.h ? p.y_mm : q.y_mm;
    if (dx < std::max(a.w, b.w) / 2 && dy > (a.h + b.h) / 2)
      (a.w < b.w ? q.x_mm : p.x_mm) = a.w < b.w ? p.x_mm : q.x_mm;
    return {p, q};
  }

  bool unlimited(const Wire& w) const { return d_.links && w.bw_gbs <= 0 && w.bw_back_gbs <= 0; }

  void wire(const Wire& w) {
    out_ << R"(<polyline fill="none" points=")";
    for (const Position& p : corners_of(w)) print_to(out_, "{},{} ", px(x(p.x_mm)), px(y(p.y_mm)));
    print_to(out_,
             R"(" stroke="{}" stroke-width="{}" stroke-opacity="0.7"{}/>)"
             "\n",
             colour_of(w), px(width_of(w)), unlimited(w) ? kDashes : "");
  }

  static bool inside(const Box& b, const Position& p) {
    return std::abs(p.x_mm - b.centre.x_mm) <= b.w / 2 && std::abs(p.y_mm - b.centre.y_mm) <= b.h / 2;
  }

  /// The share of a straight piece, from a box's centre line, that the box covers.
  static double covered(const Box& box, const Position& from, const Position& to) {
    const double dx = std::abs(to.x_mm - from.x_mm), dy = std::abs(to.y_mm - from.y_mm);
    const double tx = dx == 0 ? 1 : (box.w / 2 - std::abs(from.x_mm - box.centre.x_mm)) / dx;
    const double ty = dy == 0 ? 1 : (box.h / 2 - std::abs(from.y_mm - box.centre.y_mm)) / dy;
    return std::min({tx, ty, 1.0});
  }

  /// The middle of the longest piece that its own boxes do not cover.
  Position label_place(const Wire& w) const {
    const std::vector<Position> corners = corners_of(w);
    Position best = corners[0];
    double longest = -1;
    for (size_t i = 0; i + 1 < corners.size(); ++i) {
      const Position &p = corners[i], &q = corners[i + 1];
      double begin = 0, end = 1;
      for (const size_t n : {w.from, w.to}) {
        const Box& b = d_.boxes[n];
        if (inside(b, p)) begin = std::max(begin, covered(b, p, q));
        if (inside(b, q)) end = std::min(end, 1 - covered(b, q, p));
      }
      const double length = (std::abs(q.x_mm - p.x_mm) + std::abs(q.y_mm - p.y_mm)) * (end - begin);
      if (length <= longest) continue;
      longest = length;
      const double t = (begin + end) / 2;
      best = {p.x_mm + t * (q.x_mm - p.x_mm), p.y_mm + t * (q.y_mm - p.y_mm)};
    }
    return best;
  }

  /// At the box end of a one-way wire.
  void arrow(const Wire& w) {
    if (w.forward == w.back) return;
    std::vector<Position> corners = corners_of(w);
    if (w.back) std::reverse(corners.begin(), corners.end());
    const Box& end = d_.boxes[w.forward ? w.to : w.from];
    while (corners.size() > 2 && inside(end, corners[corners.size() - 2])) corners.pop_back();
    const Position &from = corners[corners.size() - 2], &to = corners.back();
    const double t = covered(end, to, from);
    const double tip_x = x(to.x_mm + t * (from.x_mm - to.x_mm)), tip_y = y(to.y_mm + t * (from.y_mm - to.y_mm));
    const double dx = x(from.x_mm) - x(to.x_mm), dy = y(from.y_mm) - y(to.y_mm), length = std::hypot(dx, dy);
    if (length == 0) return;
    const double ux = dx / length * 9, uy = dy / length * 9;
    print_to(out_, "<polygon points=\"{},{} {},{} {},{}\" fill=\"{}\"/>\n", px(tip_x), px(tip_y),
             px(tip_x + ux - uy / 2.5), px(tip_y + uy + ux / 2.5), px(tip_x + ux + uy / 2.5), px(tip_y + uy - ux / 2.5),
             colour_of(w));
  }

  void label(const Wire& w) {
    const std::string s = w.labelled ? bandwidth_text(w) : "";
    if (s.empty()) return;
    const double size = d_.font_px * 0.8, half = 0.3 * size * static_cast<double>(s.size()) + 3;
    const Position at = label_place(w);
    const double cx = x(at.x_mm), cy = y(at.y_mm);
    print_to(out_,
             R"(<rect x="{}" y="{}" width="{}" height="{}" rx="3" fill="white" fill-opacity="0.9"/>)"
             "\n",
             px(cx - half), px(cy - size * 0.65), px(2 * half), px(size * 1.3));
    text(cx, cy + size * 0.36, s, size, colour_of(w), "middle", false);
  }

  void legend(double at_y) {
    double at_x = kMargin;
    const auto item = [&](const std::string& s) {
      text(at_x, at_y, s, 11, "#52606d", "start", false);
      at_x += 6.0 * static_cast<double>(s.size()) + 20;
    };
    const auto line = [&](double length, const char* colour, double width, bool dashed) {
      print_to(out_,
               R"(<line x1="{}" y1="{}" x2="{}" y2="{}" stroke="{}" stroke-width="{}"{}/>)"
               "\n",
               px(at_x), px(at_y - 4), px(at_x + length), px(at_y - 4), colour, px(width), dashed ? kDashes : "");
      at_x += length + 6;
    };
    if (d_.to_scale) {
      const double mm = ruler_mm(160 / d_.pixels_per_unit);
      line(mm * d_.pixels_per_unit, "#1f2933", 2, false);
      item(number_text(mm) + " mm");
    }
    if (d_.links) item("numbers: GB/s in each direction; wider lines have more bandwidth");
    std::map<std::string, std::pair<const char*, bool>> kinds;  // colour, and whether none of the kind has a bandwidth
    bool any_unlimited = false;
    for (const Wire& w : d_.wires) {
      const auto kind = kinds.emplace(w.kind, std::pair(colour_of(w), true)).first;
      kind->second.second &= unlimited(w);
      any_unlimited = any_unlimited || unlimited(w);
    }
    for (const auto& [kind, look] : kinds) {
      line(20, look.first, 3, look.second);
      item(name_of_wire(kind));
    }
    if (!any_unlimited) return;
    line(20, "#7a828c", 1.4, true);
    item("no bandwidth given: no limit");
  }

  /// The longest of 1, 2, 5, 10, … that is at most `most`.
  static double ruler_mm(double most) {
    const double decade = std::pow(10, std::floor(std::log10(most)));
    return most >= 5 * decade ? 5 * decade : most >= 2 * decade ? 2 * decade : decade;
  }

  const Diagram& d_;
  std::ostream& out_;
  double left_ = 0, right_ = 0, top_ = 0, bottom_ = 0;
};

}  // namespace

std::string bandwidth_text(const Wire& w) {
  if (w.forward && w.back && w.bw_gbs != w.bw_back_gbs)
    return (w.bw_gbs > 0 ? number_text(w.bw_gbs) : "any") + " / " +
           (w.bw_back_gbs > 0 ? number_text(w.bw_back_gbs) : "any");
  const double bw = w.forward ? w.bw_gbs : w.bw_back_gbs;
  return bw > 0 ? number_text(bw) : "";
}

void write_svg(const Diagram& d, std::ostream& out) {
  SvgWriter(d, out).write();
}

void write_dot(const Diagram& d, std::ostream& out) {
  print_to(out,
           "graph \"{}\" {{\n  node [shape=box, style=\"rounded,filled\", fontname=\"Helvetica\"];\n"
           "  edge [fontname=\"Helvetica\", fontsize=9];\n",
           d.title);
  for (const Box& b : d.boxes) {
    if (b.container) continue;
    const Paint paint = paint_of(b.kind);
    print_to(out,
             R"(  "{}" [label="{}", fillcolor="{}", color="{}"];)"
             "\n",
             b.id, b.title.empty() ? b.id : b.title, paint.fill, paint.stroke);
  }
  for (const Wire& w : d.wires) {
    const std::string s = bandwidth_text(w);
    print_to(out,
             R"(  "{}" -- "{}" [color="{}"{}{}];)"
             "\n",
             d.boxes[w.from].id, d.boxes[w.to].id, colour_of(w), s.empty() ? "" : fmt::format(R"(, label="{}")", s),
             w.forward == w.back ? ""
             : w.forward         ? ", dir=forward"
                                 : ", dir=back");
  }
  out << "}\n";
}

void add_wires(const Graph& g, const std::vector<size_t>& box_of_node, Diagram& d) {
  std::map<std::pair<size_t, size_t>, size_t> wire_of;
  for (uint32_t e = 0; e < g.edges.size(); ++e) {
    const size_t a = box_of_node[g.edges[e].from], b = box_of_node[g.edges[e].to];
    if (a == b || a == kOmitted || b == kOmitted) continue;
    const auto [it, fresh] = wire_of.emplace(std::make_pair(std::min(a, b), std::max(a, b)), d.wires.size());
    if (fresh) {
      Wire w;
      w.from = a;
      w.to = b;
      w.kind = g.edges[e].kind;
      d.wires.push_back(w);
    }
    Wire& w = d.wires[it->second];
    (w.from == a ? w.forward : w.back) = true;
    (w.from == a ? w.bw_gbs : w.bw_back_gbs) += g.effective_bw(e);
  }
}

}  // namespace kernbench::topology
