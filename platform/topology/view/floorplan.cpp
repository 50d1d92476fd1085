// SPDX-License-Identifier: Apache-2.0
#include "kernbench/platform/topology/view/floorplan.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>

#include "kernbench/platform/topology/graph/faults.h"
#include "kernbench/platform/topology/graph/naming.h"

namespace kernbench::topology::floorplan {

void Extent::take(const Position& p, double by) {
  left = std::min(left, p.x_mm - by);
  right = std::max(right, p.x_mm + by);
  top = std::min(top, p.y_mm - by);
  bottom = std::max(bottom, p.y_mm + by);
}

Box Extent::box(double pad) const {
  Box b;
  b.centre = {(left + right) / 2, (top + bottom) / 2};
  b.w = right - left + 2 * pad;
  b.h = bottom - top + 2 * pad;
  return b;
}

std::string last_word(const std::string& id) {
  return id.substr(id.rfind('.') + 1);
}

bool is_connection(const std::string& id) {
  return last_word(id).compare(0, 4, "conn") == 0;
}

bool is_port(const Node& n) {
  return n.kind == "ucie" && !is_connection(n.id);
}

std::string port_of(const Node& n) {
  return is_connection(n.id) ? n.id.substr(0, n.id.rfind('.')) : n.id;
}

std::string part_of(const Node& n) {
  const naming::Owner o = naming::owner_of(n.id);
  if (o.cube >= 0) return naming::cube(static_cast<uint32_t>(o.sip), static_cast<uint32_t>(o.cube));
  if (o.io >= 0) return naming::io_chiplet(static_cast<uint32_t>(o.sip), static_cast<uint32_t>(o.io));
  return "";
}

std::string sip_of(const std::string& part) {
  return part.substr(0, part.find('.'));
}

bool is_io(const std::string& part) {
  return part.find(".io") != std::string::npos;
}

std::vector<std::pair<std::string, Extent>> parts_of(const Graph& g, const std::string& prefix) {
  std::vector<std::pair<std::string, Extent>> parts;
  std::map<std::string, size_t> index;
  for (const Node& n : g.nodes) {
    const std::string part = part_of(n);
    if (part.empty() || !n.position || part.compare(0, prefix.size(), prefix) != 0) continue;
    if (is_port(n) && !is_io(part)) continue;
    const auto [it, fresh] = index.emplace(part, parts.size());
    if (fresh) parts.emplace_back(part, Extent{});
    parts[it->second].second.take(*n.position);
  }
  return parts;
}

std::string size_text(double bytes) {
  const auto in = [&](double unit, const char* name) { return number_text(std::round(bytes / unit * 10) / 10) + name; };
  if (bytes >= 1099511627776.0) return in(1099511627776.0, " TiB");
  return bytes >= 1073741824.0 ? in(1073741824.0, " GiB") : in(1048576.0, " MiB");
}

std::string count_text(size_t n, const char* what) {
  return fmt::format("{} {}{}", n, what, n == 1 ? "" : "s");
}

std::vector<std::string> contents_of(const Graph& g, const std::string& prefix) {
  size_t pes = 0;
  std::map<std::string, double> bytes;  // hbm and sram come first
  for (const Pe& p : g.pes) pes += p.id.compare(0, prefix.size(), prefix) == 0;
  for (const Memory& m : g.memories) {
    if (g.nodes[m.node].id.compare(0, prefix.size(), prefix) == 0) bytes[m.space] += static_cast<double>(m.size);
  }
  std::vector<std::string> lines;
  if (pes > 0) lines.push_back(count_text(pes, "PE"));
  for (const auto& [space, name] : {std::pair("hbm", "HBM"), {"sram", "SRAM"}}) {
    if (bytes[space] > 0) lines.push_back(size_text(bytes[space]) + " " + name);
    bytes.erase(space);
  }
  for (const auto& [space, n] : bytes) lines.push_back(size_text(n) + " " + space);
  return lines;
}

size_t Boxes::find(const std::string& id) const {
  const auto it = index_.find(id);
  return it == index_.end() ? kOmitted : it->second;
}

size_t Boxes::add(Box b) {
  index_.emplace(b.id, d_.boxes.size());
  d_.boxes.push_back(std::move(b));
  return d_.boxes.size() - 1;
}

Box make_box(Box geometry, std::string id, std::string kind, std::string title, std::vector<std::string> details) {
  geometry.id = std::move(id);
  geometry.kind = std::move(kind);
  geometry.title = std::move(title);
  geometry.details = std::move(details);
  return geometry;
}

double scale_for(const Diagram& d, double pixels) {
  Extent all;
  for (const Box& b : d.boxes) {
    all.take({b.centre.x_mm - b.w / 2, b.centre.y_mm - b.h / 2});
    all.take({b.centre.x_mm + b.w / 2, b.centre.y_mm + b.h / 2});
  }
  return all.empty() ? 1 : pixels / std::max({all.right - all.left, all.bottom - all.top, 1e-3});
}

}  // namespace kernbench::topology::floorplan
