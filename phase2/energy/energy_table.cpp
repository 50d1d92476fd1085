// SPDX-License-Identifier: Apache-2.0
#include "kernbench/phase2/energy/energy_table.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "kernbench/phase2/op/math_op.h"

namespace kernbench::energy {
namespace {

std::string size_text(uint64_t bytes) {
  const char* units[] = {"B", "KB", "MB", "GB"};
  int u = 0;
  for (; u < 3 && bytes % 1024 == 0 && bytes > 0; bytes /= 1024) ++u;
  return std::to_string(bytes) + units[u];
}

/// A point on a straight line, limited to legal values of a constant.
int64_t on_line(int64_t a, int64_t b, double share) {
  const double v = static_cast<double>(a) + static_cast<double>(b - a) * share;
  return std::llround(std::clamp(v, 0.0, kMostOfUnit * static_cast<double>(kParts)));
}

}  // namespace

std::string sram_constant_name(uint64_t bytes, bool write) {
  return fmt::format("sram.{}.{}", write ? "write" : "read", size_text(bytes));
}

const Constant* EnergyTable::find(const std::string& constant) const {
  const auto it = constants.find(constant);
  return it == constants.end() ? nullptr : &it->second;
}

void EnergyTable::add_ops_by_class() {
  for (const MathOp& op : math_ops()) {
    const std::string of_class = fmt::format("math.{}", name_of(op.energy));
    const Constant* cycle = find(of_class);
    if (!cycle) continue;
    Constant c = *cycle;
    c.name = fmt::format("math.{}", op.name);
    for (int64_t* part : {&c.low, &c.value, &c.high}) *part = on_line(0, *part, op.cycles);
    if (op.cycles != 1) c.source = fmt::format("{} cycles of {}: {}", op.cycles, of_class, cycle->source);
    constants.emplace(c.name, std::move(c));
  }
}

bool EnergyTable::knows_shoreline() const {
  return find("shoreline.ucie_phy") && find("shoreline.pcie_phy") && find("shoreline.hbm_phy");
}

double EnergyTable::number(const std::string& constant) const {
  const Constant* c = find(constant);
  return c ? Constant::number(c->value) : 0;
}

const Constant* EnergyTable::sram(uint64_t bytes, bool write) {
  if (srams.empty()) return nullptr;
  const std::string by_size = sram_constant_name(bytes, write);
  const auto known = sram_by_name_.find(by_size);
  if (known != sram_by_name_.end()) return &known->second;
  const auto of = [&](const SramPoint& p) -> const Constant& { return write ? p.write : p.read; };
  const auto above = std::find_if(srams.begin(), srams.end(), [&](const SramPoint& p) { return p.bytes >= bytes; });
  Constant c;
  if (above == srams.begin() || srams.size() == 1 || (above != srams.end() && above->bytes == bytes)) {
    c = of(above == srams.end() ? srams.back() : *above);
  } else {
    const SramPoint& b = above == srams.end() ? srams.back() : *above;
    const SramPoint& a = *(&b - 1);
    const auto root = [](uint64_t n) { return std::sqrt(static_cast<double>(n)); };
    const double share = (root(bytes) - root(a.bytes)) / (root(b.bytes) - root(a.bytes));
    c = of(a);
    c.low = on_line(of(a).low, of(b).low, share);
    c.value = on_line(of(a).value, of(b).value, share);
    c.high = on_line(of(a).high, of(b).high, share);
    // Beyond the last point the three lines may cross.
    c.low = std::min(c.low, c.value);
    c.high = std::max(c.high, c.value);
    c.quality = Quality::computed;
    c.source = fmt::format("by the square root of the size, from {} ({}) and {} ({})", size_text(a.bytes), of(a).source,
                           size_text(b.bytes), of(b).source);
  }
  c.name = by_size;
  return &sram_by_name_.emplace(by_size, std::move(c)).first->second;
}

}  // namespace kernbench::energy
