// SPDX-License-Identifier: Apache-2.0
// An account in an op log: writing it, and reading it as untrusted input.
#include <nlohmann/json.hpp>

#include "kernbench/phase2/energy/account.h"
#include "kernbench/phase2/text/json_reader.h"
#include "kernbench/phase2/text/json_writer.h"

namespace kernbench::energy {
namespace {

using Json = nlohmann::json;

constexpr int64_t kMostParts = static_cast<int64_t>(kMostOfUnit) * kParts;

template <class Enum>
Enum named(std::optional<Enum> found, const std::string& text) {
  if (!found) throw JsonFault("found " + in_quotes(text) + ", which is no such name");
  return *found;
}

int64_t part(const Json& j) {
  const auto v = json_value<int64_t>(j);
  if (v < 0 || v > kMostParts) throw JsonFault("found " + shown(j) + ", expected a number of a constant");
  return v;
}

Constant constant(const Json& j) {
  Constant c;
  c.name = json_field<std::string>(j, "name");
  const auto unit = json_field<std::string>(j, "unit");
  c.unit = named(parse_unit(unit), unit);
  c.low = json_field(j, "low", part);
  c.value = json_field(j, "value", part);
  c.high = json_field(j, "high", part);
  const auto quality = json_field<std::string>(j, "quality");
  c.quality = named(parse_quality(quality), quality);
  c.source = json_field<std::string>(j, "source");
  return c;
}

Action action(const Json& j) {
  if (!j.is_array() || j.size() != 5) throw JsonFault("found " + shown(j) + ", expected a list of five");
  Action a;
  a.component = json_value<std::string>(j[0]);
  a.action = json_value<std::string>(j[1]);
  a.constant = json_value<std::string>(j[2]);
  a.count = json_value<uint64_t>(j[3]);
  a.nm = json_value<int64_t>(j[4]);
  if (a.nm < 0) throw JsonFault("found a length of " + shown(j[4]) + " nm, expected 0 or more");
  return a;
}

Die die(const Json& j) {
  // Five in logs of versions before edges existed.
  if (!j.is_array() || (j.size() != 5 && j.size() != 8))
    throw JsonFault("found " + shown(j) + ", expected a list of eight");
  const auto band = [&](size_t at) {
    const auto whole = [&](size_t i) { return parse_whole(json_value<std::string>(j[i])); };
    return at < j.size() ? Band{whole(at), whole(at + 1), whole(at + 2)} : Band();
  };
  return {json_value<std::string>(j[0]), json_value<uint64_t>(j[1]), band(2), band(5)};
}

std::vector<Action> actions(const Json& j) {
  return json_items(j, action);
}

std::vector<std::string> texts(const Json& j) {
  return json_items(j, json_value<std::string, Json>);
}

}  // namespace

void write_actions(JsonWriter& w, const std::vector<Action>& all) {
  w.open('[');
  for (const Action& a : all)
    w.open('[').value(a.component).value(a.action).value(a.constant).value(a.count).value(a.nm).close(']');
  w.close(']');
}

void write_account(JsonWriter& w, const Account& a) {
  w.open('{').field("table", a.table).field("fs", a.fs).field("flops", a.flops).field("utilization", a.utilization);
  w.field("window_fs", a.window_fs).field("peak", exact_text(a.peak, 0)).key("constants").open('[');
  for (const Constant& c : a.constants) {
    w.open('{').field("name", c.name).field("unit", name_of(c.unit)).field("low", c.low).field("value", c.value);
    w.field("high", c.high).field("quality", name_of(c.quality)).field("source", c.source).close('}');
  }
  w.close(']').field("unknown", a.unknown);
  write_actions(w.key("area"), a.area);
  w.key("dies").open('[');
  for (const Die& d : a.dies) {
    w.open('[').value(d.name).value(d.count);
    for (const Band& band : {d.area, d.edge}) {
      for (const Rontojoules end : {band.low, band.value, band.high}) w.value(exact_text(end, 0));
    }
    w.close(']');
  }
  w.close(']').field("packages", a.packages).field("hbm_bytes", a.hbm_bytes).field("hbm_stacks", a.hbm_stacks);
  w.field("tdp_w", a.bounds.tdp_w).field("die_mm2", a.bounds.die_mm2);
  w.field("shoreline_mm", a.bounds.shoreline_mm).close('}');
}

Account parse_account(std::string_view text) {
  const Json j = parse_json<Json>(text);
  Account a;
  a.table = json_field<std::string>(j, "table");
  a.fs = json_field<uint64_t>(j, "fs");
  a.flops = json_field<double>(j, "flops");
  a.utilization = json_field<double>(j, "utilization");
  a.window_fs = json_field<uint64_t>(j, "window_fs");
  a.peak = json_field(j, "peak", [](const Json& p) { return parse_whole(json_value<std::string>(p)); });
  a.constants = json_field(j, "constants", [](const Json& all) { return json_items(all, constant); });
  for (size_t i = 1; i < a.constants.size(); ++i) {
    if (a.constants[i].name <= a.constants[i - 1].name) throw JsonFault("constants: not in order of their names");
  }
  a.unknown = json_field(j, "unknown", texts);
  a.area = json_field(j, "area", actions);
  // In logs of versions with dies.
  if (j.contains("dies")) a.dies = json_field(j, "dies", [](const Json& all) { return json_items(all, die); });
  a.packages = json_field_or<uint64_t>(j, "packages", 0);
  a.hbm_bytes = json_field_or<uint64_t>(j, "hbm_bytes", 0);
  a.hbm_stacks = json_field_or<uint64_t>(j, "hbm_stacks", 0);
  a.bounds = {json_field_or<double>(j, "tdp_w", 0), json_field_or<double>(j, "die_mm2", 0),
              json_field_or<double>(j, "shoreline_mm", 0)};
  return a;
}

std::vector<Action> parse_actions(std::string_view json) {
  return actions(parse_json<Json>(json));
}

}  // namespace kernbench::energy
