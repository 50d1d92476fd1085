// SPDX-License-Identifier: Apache-2.0
// Diagrams without a floorplan: the blocks of a PE, and graphs without hierarchy.
#include <algorithm>
#include <map>
#include <stdexcept>

#include "kernbench/platform/topology/graph/faults.h"
#include "kernbench/platform/topology/view/diagram.h"
#include "kernbench/platform/topology/view/floorplan.h"

namespace kernbench::topology {
namespace {

constexpr size_t kLineLength = 42;

/// Of a single value; maps have separate lines.
std::string value_text(const AttrValue& v) {
  if (const auto* d = std::get_if<double>(&v)) return number_text(*d);
  if (const auto* i = std::get_if<int64_t>(&v)) return std::to_string(*i);
  if (const auto* b = std::get_if<bool>(&v)) return *b ? "true" : "false";
  if (const auto* s = std::get_if<std::string>(&v)) return *s;
  return "";
}

/// "div 4", …, "others 1": the most common value of a long map is listed once.
std::vector<std::string> entry_texts(const NumberMap& map) {
  constexpr size_t kLong = 12;
  std::map<double, size_t> counts;
  for (const auto& [name, number] : map) ++counts[number];
  const auto usual =
      std::max_element(counts.begin(), counts.end(), [](const auto& a, const auto& b) { return a.second < b.second; });
  const bool said_once = map.size() > kLong && usual->second > map.size() / 2;
  std::vector<std::string> texts;
  for (const auto& [name, number] : map) {
    if (!said_once || number != usual->first) texts.push_back(name + " " + number_text(number));
  }
  if (said_once) texts.push_back("others " + number_text(usual->first));
  return texts;
}

std::vector<std::string> attribute_lines(const Node& n) {
  std::vector<std::string> lines;
  for (const auto& [key, value] : n.attrs.items()) {
    if (!std::holds_alternative<NumberMap>(value)) lines.push_back(key + " " + value_text(value));
  }
  for (const auto& [key, value] : n.attrs.items()) {  // maps come last, because they are long
    const auto* map = std::get_if<NumberMap>(&value);
    if (!map) continue;
    std::string line = key + ":";
    for (const std::string& text : entry_texts(*map)) {
      const std::string item = " " + text;
      if (line.size() + item.size() > kLineLength) {
        lines.push_back(line);
        line.clear();
      }
      line += item;
    }
    lines.push_back(line);
  }
  return lines;
}

/// Columns and rows: commands come from above, data from the left.
const std::map<std::string, Position>& places_in_a_pe() {
  static const std::map<std::string, Position> places = {
      {"m_cpu", {0, 0}},  {"pe_cpu", {1, 0}},         {"pe_ipcq", {1, 1}}, {"pe_scheduler", {2, 1}},
      {"pe_dma", {1, 2}}, {"pe_fetch_store", {2, 2}}, {"pe_gemm", {3, 1}}, {"pe_math", {3, 2}},
      {"pe_mmu", {1, 3}}, {"pe_tcm", {2, 3}},
  };
  return places;
}

}  // namespace

Diagram draw_pe(const Graph& g, const std::string& id) {
  Diagram d;
  d.title = g.name + ": " + id;
  d.subtitle = "blocks with their attributes; commands come from above, data from the left";
  d.font_px = 15;
  d.pixels_per_unit = 1;
  const double cell_w = 330, cell_h = 215;
  std::vector<size_t> box_of(g.nodes.size(), kOmitted);
  const std::string prefix = id + ".";
  const auto add = [&](uint32_t n, Position cell, double w, double h) {
    Box b;
    b.id = g.nodes[n].id;
    b.kind = g.nodes[n].kind;
    b.title = floorplan::last_word(b.id);
    b.details = attribute_lines(g.nodes[n]);
    b.centre = {cell.x_mm * cell_w, cell.y_mm * cell_h};
    b.w = w;
    b.h = h;
    box_of[n] = d.boxes.size();
    d.boxes.push_back(std::move(b));
  };
  double others = 0;
  std::vector<uint32_t> blocks;
  for (uint32_t n = 0; n < g.nodes.size(); ++n) {
    if (g.nodes[n].id.compare(0, prefix.size(), prefix) != 0 ||
        g.nodes[n].id.find('.', prefix.size()) != std::string::npos)
      continue;
    const auto it = places_in_a_pe().find(g.nodes[n].kind);
    add(n, it != places_in_a_pe().end() ? it->second : Position{others++, 4}, 215, 150);
    blocks.push_back(n);
  }
  if (blocks.empty())
    throw std::invalid_argument("no '" + id + "' in " + g.name + "; legal: a PE such as sip0.cube0.pe0");
  // The PE's connections: to the fabric, and to the sender of its commands.
  Position outside{0, 2};
  for (const uint32_t n : blocks) {
    for (const uint32_t e : g.out_edges[n]) {
      const uint32_t to = g.edges[e].to;
      if (box_of[to] != kOmitted) continue;
      const bool commands = g.nodes[to].kind == "m_cpu";
      add(to, commands ? places_in_a_pe().at("m_cpu") : outside, 130, 56);
      d.boxes.back().details.clear();
      if (!commands) outside.y_mm += 0.4;
    }
  }
  add_wires(g, box_of, d);
  return d;
}

/// Columns by hops from the initiators; rows ordered by neighbours in the previous column.
Diagram draw_flat(const Graph& g) {
  Diagram d;
  d.title = g.name;
  d.pixels_per_unit = 1;
  std::vector<int> column(g.nodes.size(), -1);
  std::vector<uint32_t> queue;
  for (uint32_t n = 0; n < g.nodes.size(); ++n) {
    if (!g.nodes[n].initiator || g.nodes[n].transit) continue;
    column[n] = 0;
    queue.push_back(n);
  }
  if (queue.empty() && !g.nodes.empty()) {
    column[0] = 0;
    queue.push_back(0);
  }
  for (size_t i = 0; i < queue.size(); ++i) {
    for (const uint32_t e : g.out_edges[queue[i]]) {
      const uint32_t to = g.edges[e].to;
      if (column[to] >= 0) continue;
      column[to] = column[queue[i]] + 1;
      queue.push_back(to);
    }
  }
  int last = 0;
  for (const int c : column) last = std::max(last, c);
  std::map<int, std::vector<uint32_t>> columns;
  for (uint32_t n = 0; n < g.nodes.size(); ++n) columns[column[n] < 0 ? last + 1 : column[n]].push_back(n);

  std::vector<double> row(g.nodes.size(), 0);
  std::vector<std::vector<uint32_t>> before(g.nodes.size());
  for (const Edge& e : g.edges)
    if (column[e.from] >= 0 && column[e.from] + 1 == column[e.to]) before[e.to].push_back(e.from);
  const size_t longest = std::max_element(columns.begin(), columns.end(), [](const auto& a, const auto& b) {
                           return a.second.size() < b.second.size();
                         })->second.size();
  std::vector<size_t> box_of(g.nodes.size(), kOmitted);
  for (auto& [c, nodes] : columns) {
    const auto centre_of = [&](uint32_t n) {
      double sum = 0;
      for (const uint32_t b : before[n]) sum += row[b];
      return before[n].empty() ? 0.0 : sum / static_cast<double>(before[n].size());
    };
    std::stable_sort(nodes.begin(), nodes.end(), [&](uint32_t a, uint32_t b) { return centre_of(a) < centre_of(b); });
    const double step = static_cast<double>(longest) / static_cast<double>(nodes.size());
    for (size_t i = 0; i < nodes.size(); ++i) {
      const uint32_t n = nodes[i];
      row[n] = (static_cast<double>(i) + 0.5) * step;
      Box b;
      b.id = g.nodes[n].id;
      b.kind = g.nodes[n].kind;
      b.title = b.id;
      b.details = {b.kind};
      // Neighbours in one column would hide each other's straight wires.
      b.centre = {c * 250.0 + (i % 2 ? 45.0 : 0.0), row[n] * 62};
      b.w = 150;
      b.h = 38;
      box_of[n] = d.boxes.size();
      d.boxes.push_back(std::move(b));
    }
  }
  add_wires(g, box_of, d);
  return d;
}

}  // namespace kernbench::topology
