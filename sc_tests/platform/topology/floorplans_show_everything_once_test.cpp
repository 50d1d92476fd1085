// SPDX-License-Identifier: Apache-2.0
// Is a floorplan readable: boxes do not cover each other, wires of the tray do not overlap, and the ruler is to scale?
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <regex>
#include <sstream>
#include <string>
#include <vector>

#include "kernbench/platform/topology/build/compiler.h"
#include "kernbench/platform/topology/view/print.h"
#include "kernbench/sc_tests/platform/topology/test_catalog.h"

namespace kernbench::topology::floorplans_show_everything_once {
namespace {

const testing::TestCatalog catalog;

std::string svg(const Graph& g, View view) {
  std::ostringstream out;
  print_svg(g, view, out, "");
  return out.str();
}

struct Rect {
  std::string id;
  double x = 0, y = 0, w = 0, h = 0;
};

std::vector<Rect> boxes_of(const std::string& picture) {
  static const std::regex box(
      "<rect x=\"([-0-9.]+)\" y=\"([-0-9.]+)\" width=\"([0-9.]+)\" height=\"([0-9.]+)\"[^>]*><title>([^<]+)</title>");
  std::vector<Rect> found;
  for (std::sregex_iterator it(picture.begin(), picture.end(), box), end; it != end; ++it) {
    Rect r;
    r.id = (*it)[5];
    r.x = std::stod((*it)[1]);
    r.y = std::stod((*it)[2]);
    r.w = std::stod((*it)[3]);
    r.h = std::stod((*it)[4]);
    found.push_back(r);
  }
  return found;
}

bool contains(const std::string& whole, const std::string& part) {
  return part.compare(0, whole.size() + 1, whole + ".") == 0;
}

/// "a over b" for each pair of overlapping boxes, unless one contains the other as its part.
std::vector<std::string> overlaps(const std::vector<Rect>& boxes) {
  std::vector<std::string> found;
  for (size_t i = 0; i < boxes.size(); ++i) {
    for (size_t k = i + 1; k < boxes.size(); ++k) {
      const Rect &a = boxes[i], &b = boxes[k];
      if (contains(a.id, b.id) || contains(b.id, a.id)) continue;
      const double x = std::min(a.x + a.w, b.x + b.w) - std::max(a.x, b.x);
      const double y = std::min(a.y + a.h, b.y + b.h) - std::max(a.y, b.y);
      if (x > 0.2 && y > 0.2) found.push_back(a.id + " over " + b.id);
    }
  }
  return found;
}

struct Piece {
  bool horizontal = false;
  double at = 0, from = 0, to = 0;
};

std::vector<Piece> pieces_of(const std::string& line) {
  std::istringstream in(line);
  std::vector<Piece> pieces;
  double x = 0, y = 0, last_x = 0, last_y = 0;
  char comma = 0;
  for (bool first = true; in >> x >> comma >> y; first = false) {
    if (!first && (x == last_x) != (y == last_y)) {
      const bool horizontal = y == last_y;
      pieces.push_back({horizontal, horizontal ? y : x, horizontal ? std::min(x, last_x) : std::min(y, last_y),
                        horizontal ? std::max(x, last_x) : std::max(y, last_y)});
    }
    last_x = x;
    last_y = y;
  }
  return pieces;
}

std::vector<std::vector<Piece>> pcie_of(const std::string& picture) {
  static const std::regex wire("<polyline fill=\"none\" points=\"([^\"]*)\" stroke=\"#545d68\"");
  std::vector<std::vector<Piece>> found;
  for (std::sregex_iterator it(picture.begin(), picture.end(), wire), end; it != end; ++it)
    found.push_back(pieces_of((*it)[1]));
  return found;
}

const char* const kShipped[] = {"default.yaml",       "small.yaml",         "one_cube.yaml",
                                "latency_model.yaml", "six_sip_torus.yaml", "big.yaml"};

TEST(floorplans, of_the_shipped_machines_cover_nothing) {
  for (const char* file : kShipped) {
    const Graph g = compile_file(std::string(KERNBENCH_TOPOLOGIES "/") + file, catalog);
    for (const View view : {View::tray, View::sip, View::cube, View::pe}) {
      const std::vector<Rect> boxes = boxes_of(svg(g, view));
      EXPECT_GE(boxes.size(), view == View::tray ? 3u : 8u) << file;
      EXPECT_EQ(overlaps(boxes), std::vector<std::string>()) << file;
    }
  }
}

// The endpoints' boxes cover the starts of wires. Outside the boxes no two wires use the same line.
TEST(floorplans, of_trays_give_every_pcie_link_a_lane_of_its_own) {
  for (const auto& [file, links] : {std::make_pair("default.yaml", 2u), std::make_pair("six_sip_torus.yaml", 15u),
                                    std::make_pair("big.yaml", 16u)}) {
    const std::string picture = svg(compile_file(std::string(KERNBENCH_TOPOLOGIES "/") + file, catalog), View::tray);
    const std::vector<std::vector<Piece>> wires = pcie_of(picture);
    EXPECT_EQ(wires.size(), links) << file;
    std::vector<Rect> ends = boxes_of(picture);
    const auto hidden = [&](const Piece& p, double from, double to) {
      return std::any_of(ends.begin(), ends.end(), [&](const Rect& r) {
        const bool end = r.id.find(".io") != std::string::npos || r.id.find("switch") != std::string::npos;
        const double low = p.horizontal ? r.x : r.y, high = p.horizontal ? r.x + r.w : r.y + r.h;
        const double across = p.horizontal ? r.y : r.x, thick = p.horizontal ? r.h : r.w;
        return end && p.at >= across && p.at <= across + thick && from >= low - 0.2 && to <= high + 0.2;
      });
    };
    for (size_t i = 0; i < wires.size(); ++i) {
      for (size_t k = i + 1; k < wires.size(); ++k) {
        for (const Piece& a : wires[i]) {
          for (const Piece& b : wires[k]) {
            if (a.horizontal != b.horizontal || std::abs(a.at - b.at) > 1) continue;
            const double from = std::max(a.from, b.from), to = std::min(a.to, b.to);
            EXPECT_TRUE(to - from < 0.2 || hidden(a, from, to))
                << file << ": wires " << i << " and " << k << " share " << (a.horizontal ? "y " : "x ") << a.at;
          }
        }
      }
    }
  }
}

// r0c0 and r0c5 of the default cube are 5 x 17/6 mm apart.
TEST(floorplans, are_to_scale) {
  const std::string picture = svg(compile_file(KERNBENCH_TOPOLOGIES "/default.yaml", catalog), View::cube);
  double left = 0, right = 0;
  for (const Rect& r : boxes_of(picture)) {
    if (r.id == "sip0.cube0.r0c0") left = r.x;
    if (r.id == "sip0.cube0.r0c5") right = r.x;
  }
  static const std::regex ruler("<line x1=\"([0-9.]+)\"[^>]* x2=\"([0-9.]+)\"[^>]*/>\n<text[^>]*>([0-9]+) mm</text>");
  std::smatch m;
  ASSERT_TRUE(std::regex_search(picture, m, ruler));
  const double pixels_per_mm = (std::stod(m[2]) - std::stod(m[1])) / std::stod(m[3]);
  EXPECT_NEAR((right - left) / pixels_per_mm, 5 * 17.0 / 6, 0.02);
}

}  // namespace
}  // namespace kernbench::topology::floorplans_show_everything_once
