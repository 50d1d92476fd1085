// SPDX-License-Identifier: Apache-2.0
#include "kernbench/platform/topology/read/energy_reader.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <map>
#include <optional>
#include <set>

#include "kernbench/phase2/op/dtype.h"
#include "kernbench/phase2/op/math_op.h"
#include "kernbench/phase2/text/text.h"
#include "kernbench/platform/topology/read/yaml_file.h"
#include "kernbench/platform/topology/read/yaml_reader.h"

namespace kernbench::topology {
namespace {

using energy::Constant;
using energy::Unit;

constexpr DType kDTypes[] = {DType::f32, DType::f16, DType::bf16,   DType::i8,     DType::i16,
                             DType::i32, DType::u8,  DType::f8e4m3, DType::f8e5m2, DType::u16,
                             DType::u32, DType::i64, DType::i4,     DType::e2m1};
constexpr size_t kMostSrams = 100;

std::vector<std::string> quality_names() {
  std::vector<std::string> names;
  for (const energy::Quality q : energy::kQualities) names.emplace_back(name_of(q));
  return names;
}

int64_t parts_of(double number) {
  return std::llround(number * static_cast<double>(energy::kParts));
}

/// A constant needs all five keys: a number without a source is rejected.
std::optional<Constant> read_constant(YamlNode node, const std::string& path, std::string name, Unit unit,
                                      FaultList& faults) {
  YamlMap map(node, path, faults);
  if (!map.valid()) return std::nullopt;
  const std::string unit_name(name_of(unit));
  const NumberRule rule = NumberRule::not_negative(unit_name.c_str(), energy::kMostOfUnit);
  const auto value = map.require_number("value", rule);
  map.require("unit", unit_name);
  const auto found_unit = map.choice("unit", {unit_name});
  const auto source = map.require_string("source", "a text that says where the number comes from");
  map.require("quality", joined(quality_names()));
  const auto quality = map.choice("quality", quality_names());
  map.require("range", "[low, high]");
  const auto range = map.pair("range", rule);
  map.finish();
  if (!value || !found_unit || !source || !quality || !range) return std::nullopt;
  if (source->find_first_not_of(" \t\n") == std::string::npos) {
    faults.add(map.line_of_key("source"), map.field("source"),
               "found blanks; legal: a text that says where the number comes from");
    return std::nullopt;
  }
  if (range->first > *value || range->second < *value) {
    faults.add(map.line_of_key("range"), map.field("range"),
               fmt::format("found [{}, {}], which does not hold the value {}; legal: [low, high] around it",
                           number_text(range->first), number_text(range->second), number_text(*value)));
    return std::nullopt;
  }
  Constant c;
  c.name = std::move(name);
  c.unit = unit;
  c.low = parts_of(range->first);
  c.value = parts_of(*value);
  c.high = parts_of(range->second);
  c.quality = static_cast<energy::Quality>(*quality);
  c.source = *source;
  return c;
}

/// The constant under a key, if present.
void read_into(energy::EnergyTable& table, YamlMap& map, const std::string& key, const std::string& name, Unit unit) {
  const YamlNode node = map.take(key);
  if (!node.is_defined()) return;
  if (auto c = read_constant(node, map.field(key), name, unit, map.faults())) table.constants[name] = std::move(*c);
}

/// A mapping of keys to constants named `prefix.KEY`; without a prefix `group.KEY`.
void read_group(energy::EnergyTable& table, YamlMap& section, const std::string& group,
                const std::vector<std::pair<std::string, Unit>>& keys, const std::string& prefix = {}) {
  YamlMap map(section.take(group), section.field(group), section.faults());
  if (!map.valid()) return;
  for (const auto& [key, unit] : keys) read_into(table, map, key, (prefix.empty() ? group : prefix) + "." + key, unit);
  map.finish();
}

/// Constants by structure: bits, multiply-accumulates, lanes, ports and wires, from attributes that declare them; or
/// per block.
void read_areas(energy::EnergyTable& table, YamlMap& section, const std::vector<std::string>& dtypes,
                const ImplCatalog& catalog) {
  YamlMap map(section.take("area"), section.field("area"), section.faults());
  if (!map.valid()) return;
  std::vector<std::pair<std::string, Unit>> macs;
  for (const std::string& t : dtypes) macs.emplace_back(t, Unit::um2);
  read_group(table, map, "mac", macs, "area.mac");
  std::map<std::string, Unit> units = {{"sram", Unit::um2_bit},     {"cache", Unit::um2_bit},    {"lane", Unit::um2},
                                       {"sram_port", Unit::um2},    {"crosspoint", Unit::um2},   {"buffer", Unit::um2},
                                       {"ucie_phy", Unit::mm2_gbs}, {"pcie_phy", Unit::mm2_gbs}, {"hbm_phy", Unit::mm2},
                                       {"rest", Unit::none}};
  for (const ImplSpec* spec : catalog.all()) {
    for (const AttrSpec& a : spec->attributes) {
      if (a.area && a.area->constant != "mac") units.emplace(a.area->constant, Unit::um2);
    }
  }
  for (const std::string& kind : catalog.kinds().names()) units.emplace(kind, Unit::mm2);
  for (const auto& [key, unit] : units) read_into(table, map, key, "area." + key, unit);
  map.finish();
}

void read_bounds(energy::EnergyTable& table, YamlMap& section) {
  YamlMap map(section.take("bounds"), section.field("bounds"), section.faults());
  if (!map.valid()) return;
  table.bounds.tdp_w = map.number("tdp_w", NumberRule::positive("W", energy::kMostOfUnit)).value_or(0);
  table.bounds.die_mm2 = map.number("die_mm2", NumberRule::positive("mm2", energy::kMostOfUnit)).value_or(0);
  table.bounds.shoreline_mm = map.number("shoreline_mm", NumberRule::positive("mm", energy::kMostOfUnit)).value_or(0);
  if (table.bounds.shoreline_mm > 0 && !table.knows_shoreline())
    map.faults().add(map.line_of_key("shoreline_mm"), map.field("shoreline_mm"),
                     "expected shoreline.ucie_phy, .pcie_phy and .hbm_phy beside it: what PHYs take of an edge");
  map.finish();
}

/// `{size_kb, access}` or `{size_kb, read, write}`.
std::optional<energy::SramPoint> read_sram(YamlNode node, const std::string& path, FaultList& faults) {
  YamlMap map(node, path, faults);
  if (!map.valid()) return std::nullopt;
  const auto kb = map.require_number("size_kb", NumberRule::positive("KiB", 1e9));
  const auto constant = [&](const char* key) {
    return read_constant(map.take(key), map.field(key), std::string("sram.") + key, Unit::pj_bit, faults);
  };
  std::optional<Constant> read, write;
  if (map.has("read") || map.has("write")) {
    map.require("read", "a constant, as of write");
    map.require("write", "a constant, as of read");
    read = constant("read");
    write = constant("write");
  } else {
    map.require("access", "a constant, or read and write");
    read = write = constant("access");
  }
  map.finish();
  if (!kb || !read || !write) return std::nullopt;
  return energy::SramPoint{static_cast<uint64_t>(std::llround(*kb * 1024)), *read, *write};
}

void read_srams(energy::EnergyTable& table, YamlMap& section) {
  const YamlNode list = section.take("sram");
  if (!list.is_defined()) return;
  if (!list.is_list() || list.size() > kMostSrams) {
    section.faults().add(list.line(), section.field("sram"),
                         fmt::format("found {}; legal: a list of at most {} sizes", describe(list), kMostSrams));
    return;
  }
  for (size_t i = 0; i < list.size(); ++i) {
    const std::string path = fmt::format("{}[{}]", section.field("sram"), i);
    auto point = read_sram(list[i], path, section.faults());
    if (!point) continue;
    const bool again = std::any_of(table.srams.begin(), table.srams.end(),
                                   [&](const energy::SramPoint& p) { return p.bytes == point->bytes; });
    if (again) section.faults().add(list[i].line(), path + ".size_kb", "found a size for the second time; legal: once");
    table.srams.push_back(std::move(*point));
  }
  std::sort(table.srams.begin(), table.srams.end(), [](const auto& a, const auto& b) { return a.bytes < b.bytes; });
}

std::shared_ptr<const energy::EnergyTable> read_section(YamlMap& section, const std::string& default_name,
                                                        const ImplCatalog& catalog) {
  auto table = std::make_shared<energy::EnergyTable>();
  table->name = section.string("name").value_or(default_name);
  std::vector<std::pair<std::string, Unit>> macs, ops, powers = {{"die", Unit::watt_mm2}};
  std::vector<std::string> dtypes;
  for (const DType t : kDTypes) {
    macs.emplace_back(name_of(t), Unit::pj);
    dtypes.emplace_back(name_of(t));
  }
  for (const MathOp& op : math_ops()) ops.emplace_back(op.name, Unit::pj);
  for (const EnergyClass c : {EnergyClass::simple, EnergyClass::multiply}) ops.emplace_back(name_of(c), Unit::pj);
  for (const std::string& kind : catalog.kinds().names()) powers.emplace_back(kind, Unit::watt);
  read_group(*table, section, "mac", macs);
  read_group(*table, section, "math", ops);
  table->add_ops_by_class();
  read_srams(*table, section);
  read_into(*table, section, "wire", "wire", Unit::pj_bit_mm);
  std::set<std::string> per_bit = {"router", "ucie", "pcie"};
  for (const auto& [name, kind] : catalog.kinds().all()) per_bit.insert({kind.facts.passing, kind.facts.phy});
  per_bit.erase("");
  for (const std::string& each : per_bit) read_into(*table, section, each, each, Unit::pj_bit);
  read_group(*table, section, "hbm",
             {{"access", Unit::pj_bit},
              {"open_row", Unit::pj_bit},
              {"activate", Unit::pj},
              {"stack_gbs", Unit::gbs},
              {"stack_gb", Unit::gb}});
  read_group(*table, section, "static", powers);
  read_areas(*table, section, dtypes, catalog);
  read_group(*table, section, "shoreline",
             {{"ucie_phy", Unit::mm_gbs}, {"pcie_phy", Unit::mm_gbs}, {"hbm_phy", Unit::mm}});
  read_group(*table, section, "cost",
             {{"wafer", Unit::usd},
              {"wafer_mm", Unit::mm},
              {"defects", Unit::per_cm2},
              {"clustering", Unit::none},
              {"package", Unit::usd_mm2},
              {"package_yield", Unit::none},
              {"hbm", Unit::usd_gb}});
  read_bounds(*table, section);
  section.finish();
  return table;
}

}  // namespace

std::shared_ptr<const energy::EnergyTable> read_energy_file(const std::string& path, const ImplCatalog& catalog) {
  FaultList faults(path);
  const YamlDocument document = parse_document(read_yaml_file(path, faults), faults);
  faults.throw_if_any();
  YamlMap section(document.root, "", faults);
  auto table = read_section(section, std::filesystem::path(path).filename().string(), catalog);
  faults.throw_if_any();
  return table;
}

std::shared_ptr<const energy::EnergyTable> read_energy(YamlMap& top, const ImplCatalog& catalog) {
  const YamlNode node = top.take("energy");
  if (!node.is_defined()) return nullptr;
  const std::filesystem::path own(top.faults().file());
  if (!node.is_scalar()) {
    YamlMap section(node, "energy", top.faults());
    return section.valid() ? read_section(section, own.filename().string(), catalog) : nullptr;
  }
  const auto file = read_string(node, "energy", top.faults());
  if (!file) return nullptr;
  return read_energy_file((own.parent_path() / *file).string(), catalog);
}

}  // namespace kernbench::topology
