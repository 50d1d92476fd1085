// SPDX-License-Identifier: Apache-2.0
#include "kernbench/phase2/energy/account.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>

namespace kernbench::energy {
namespace {

/// The second factor of a count, beside the constant, so that the product is a whole number of rontojoules.
int64_t scale_of(Unit unit, int64_t nm) {
  switch (unit) {
    case Unit::pj:
    case Unit::pj_bit:
      return 1'000'000;  // 1e-9 pJ
    case Unit::pj_bit_mm:
      return nm;  // 1e-9 pJ/mm times 1e-6 mm
    case Unit::watt:
      return 1'000;  // 1e-9 W times 1 fs
    case Unit::watt_mm2:
      return nm;  // 1e-9 W/mm2 times 1 fs times 1e-3 mm2
    default:
      return 0;  // no energy
  }
}

Band times(const Constant& c, uint64_t count, int64_t scale) {
  const Rontojoules n = product(Rontojoules{count}, Rontojoules{scale});
  return {product(n, c.low), product(n, c.value), product(n, c.high)};
}

std::vector<Summary::Row> rows_of(std::map<std::string, Summary::Row>& by_name) {
  std::vector<Summary::Row> rows;
  for (auto& [name, row] : by_name) {
    row.name = name;
    rows.push_back(std::move(row));
  }
  std::stable_sort(rows.begin(), rows.end(),
                   [](const auto& a, const auto& b) { return a.energy.value > b.energy.value; });
  return rows;
}

void add(Summary::Row& row, uint64_t count, const Band& energy) {
  row.count += count;
  row.energy += energy;
}

}  // namespace

const Constant* Account::find(const std::string& constant) const {
  const auto it = std::lower_bound(constants.begin(), constants.end(), constant,
                                   [](const Constant& c, const std::string& name) { return c.name < name; });
  return it != constants.end() && it->name == constant ? &*it : nullptr;
}

Band energy_of(const Constant& c, uint64_t count, int64_t nm) {
  return times(c, count, scale_of(c.unit, nm));
}

Band energy_of(const Account& account, const Action& a) {
  const Constant* c = account.find(a.constant);
  return c ? energy_of(*c, a.count, a.nm) : Band();
}

Band area_of(const Account& account, const Action& a) {
  const Constant* c = account.find(a.constant);
  const bool in_mm2 = c && (c->unit == Unit::mm2 || c->unit == Unit::mm2_gbs);
  return c ? times(*c, a.count, in_mm2 ? 1'000'000 : 1) : Band();
}

Band rest_of(const Constant* rest, const Band& blocks) {
  if (!rest) return {};
  const auto part = [](Rontojoules area, int64_t share) {
    return product(area, Rontojoules{static_cast<uint64_t>(share)}) / Rontojoules{kParts};
  };
  return {part(blocks.low, rest->low), part(blocks.value, rest->value), part(blocks.high, rest->high)};
}

std::string_view class_of(std::string_view constant) {
  return constant.substr(0, constant.find('.'));
}

Summary summarize(const Account& account) {
  Summary s;
  std::map<std::string, Summary::Row> classes, constants, missing, areas;
  for (const Action& a : account.actions) {
    if (a.constant.empty()) continue;
    const Constant* c = account.find(a.constant);
    if (!c) {
      add(missing[a.constant], a.count, {});
      continue;
    }
    const Band e = energy_of(*c, a.count, a.nm);
    s.total += e;
    s.by_quality[static_cast<size_t>(c->quality)] += e;
    add(classes[std::string(class_of(c->name))], 0, e);
    add(constants[c->name], a.count, e);
  }
  for (const Action& a : account.area) {
    if (!account.find(a.constant)) {
      s.no_area.push_back(a.component);
      continue;
    }
    const Band area = area_of(account, a);
    s.area += area;
    add(areas[a.component], a.count, area);
  }
  if (const Band rest = rest_of(account.find("area.rest"), s.area); rest.value > 0) {
    add(areas["*.rest"], 0, rest);
    s.area += rest;
  }
  s.by_class = rows_of(classes);
  s.by_constant = rows_of(constants);
  s.not_counted = rows_of(missing);
  s.by_area = rows_of(areas);
  return s;
}

std::string activity_csv(const Account& account) {
  std::string out = "component,action,count\n";
  for (const Action& a : account.actions) out += a.component + "," + a.action + "," + std::to_string(a.count) + "\n";
  return out;
}

// ---- cost of manufacture

namespace {

constexpr double kPi = 3.14159265358979323846;

/// Selects the low, nominal or high value of every part of a price.
struct End {
  int64_t Constant::*constant;
  Rontojoules Band::*area;
};
constexpr End kLow = {&Constant::low, &Band::low}, kValue = {&Constant::value, &Band::value},
              kHigh = {&Constant::high, &Band::high};

struct Prices {
  double wafer = 0, wafer_mm = 0, defects = 0, clustering = 0, package = 0, hbm = 0;
  double package_yield = 1;
};

std::optional<Prices> prices_of(const Account& a, const End& end, const End& other_end) {
  bool all = true;
  const auto of = [&](const char* name, const End& at) {
    const Constant* c = a.find(name);
    all = all && c;
    return c ? Constant::number((*c).*at.constant) : 0;
  };
  // A higher package yield costs less, so it takes the other end.
  const Prices p = {of("cost.wafer", end),
                    of("cost.wafer_mm", kValue),
                    of("cost.defects", end),
                    of("cost.clustering", end),
                    of("cost.package", end),
                    of("cost.hbm", end),
                    of("cost.package_yield", other_end)};
  return all && p.package_yield > 0 && p.clustering > 0 ? std::optional(p) : std::nullopt;
}

/// The price of a good die: its share of a wafer's price, by the negative binomial yield. Infinite if none fits on a
/// wafer.
double die_usd(const Prices& p, double area) {
  const double r = p.wafer_mm / 2;
  const double a_wafer = std::floor(kPi * r * r / area - kPi * p.wafer_mm / std::sqrt(2 * area));
  const double yield = std::pow(1 + area / 100 * p.defects / p.clustering, -p.clustering);
  return a_wafer >= 1 ? p.wafer / a_wafer / yield : INFINITY;
}

struct Sums {
  double dies = 0, package = 0, hbm = 0;
};

std::optional<Sums> sums_of(const Account& a, const End& end, const End& other_end) {
  const std::optional<Prices> p = prices_of(a, end, other_end);
  if (!p) return std::nullopt;
  Sums s;
  double area = 0;
  for (const Die& d : a.dies) {
    const double each = mm2(d.area.*end.area);
    if (each <= 0) continue;
    s.dies += static_cast<double>(d.count) * die_usd(*p, each);
    area += static_cast<double>(d.count) * each;
  }
  s.hbm = static_cast<double>(a.hbm_bytes) / 1e9 * p->hbm;
  const double built = area * p->package;
  // Assembly loses a part of the packages with everything in them.
  s.package = built + (s.dies + s.hbm + built) * (1 / p->package_yield - 1);
  return std::isfinite(s.dies) ? std::optional(s) : std::nullopt;
}

}  // namespace

std::optional<Cost> cost_of(const Account& a) {
  const auto low = sums_of(a, kLow, kHigh), value = sums_of(a, kValue, kValue), high = sums_of(a, kHigh, kLow);
  if (a.dies.empty() || !low || !value || !high) return std::nullopt;
  return Cost{{low->dies, value->dies, high->dies},
              {low->package, value->package, high->package},
              {low->hbm, value->hbm, high->hbm}};
}

double shoreline_mm(const Account& a, const Die& d) {
  return a.bounds.shoreline_mm > 0 ? a.bounds.shoreline_mm : 4 * std::sqrt(mm2(d.area.value));
}

std::vector<std::string> out_of_bounds(const Account& a) {
  std::vector<std::string> told;
  const auto name = [](const Die& d) { return d.name.empty() ? "The die" : d.name; };
  const auto others = [](const Die& d) {
    return d.count > 1 ? fmt::format("; so would {} other{}", d.count - 1, d.count > 2 ? "s" : "") : "";
  };
  for (const Die& d : a.dies) {
    if (a.bounds.die_mm2 <= 0 || mm2(d.area.value) <= a.bounds.die_mm2) continue;
    told.push_back(fmt::format("{} would be {:.4g} mm2 ({:.4g} to {:.4g}), over the {:.4g} of die_mm2{}.", name(d),
                               mm2(d.area.value), mm2(d.area.low), mm2(d.area.high), a.bounds.die_mm2, others(d)));
  }
  for (const Die& d : a.dies) {
    const double there = shoreline_mm(a, d);
    if (mm(d.edge.value) <= there) continue;
    told.push_back(
        fmt::format("{} would need {:.4g} mm ({:.4g} to {:.4g}) of edge for its PHYs, over the {:.4g} {}{}.", name(d),
                    mm(d.edge.value), mm(d.edge.low), mm(d.edge.high), there,
                    a.bounds.shoreline_mm > 0 ? "of shoreline_mm" : fmt::format("around {:.4g} mm2", mm2(d.area.value)),
                    others(d)));
  }
  const Headline h = headline(a);
  const auto packages = static_cast<double>(a.packages > 0 ? a.packages : 1);
  if (a.bounds.tdp_w > 0 && std::max(h.average_w, h.peak_w) > packages * a.bounds.tdp_w)
    told.push_back(fmt::format(
        "A package takes {:.4g} W on average and {:.4g} W over {:g} ns, over the {:.4g} of tdp_w.",
        h.average_w / packages, h.peak_w / packages, static_cast<double>(a.window_fs) * 1e-6, a.bounds.tdp_w));
  return told;
}

}  // namespace kernbench::energy
