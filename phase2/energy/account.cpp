#include "kernbench/phase2/energy/account.h"

#include <algorithm>
#include <map>

namespace kernbench::energy {
namespace {

/// What a count is multiplied by, beside the constant, so that it comes to whole rontojoules.
int64_t scale_of(Unit unit, int64_t nm) {
  switch (unit) {
    case Unit::pj:
    case Unit::pj_bit:
      return 1'000'000;  // 1e-9 pJ
    case Unit::pj_bit_mm:
      return nm;  // 1e-9 pJ/mm times 1e-6 mm
    case Unit::watt:
      return 1'000;  // 1e-9 W times 1 fs
    case Unit::um2_bit:
    case Unit::mm2:
      return 0;  // no energy
  }
  return 0;
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
  return c ? times(*c, a.count, c->unit == Unit::mm2 ? 1'000'000 : 1) : Band();
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

}  // namespace kernbench::energy
