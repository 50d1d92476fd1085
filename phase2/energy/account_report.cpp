// An account for people and for tools: docs/energy.md has the formula of every figure.
#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "kernbench/phase2/energy/account.h"
#include "kernbench/phase2/text/json_writer.h"
#include "kernbench/phase2/text/print.h"
#include "kernbench/phase2/text/table.h"
#include "kernbench/phase2/text/text.h"

namespace kernbench::energy {
namespace {

struct Scale {
  const char* unit;
  double joules;
};

/// In which the amount is at least 1.
Scale scale_of(Rontojoules amount) {
  constexpr std::array<Scale, 6> kScales = {{{"J", 1}, {"mJ", 1e-3}, {"uJ", 1e-6}, {"nJ", 1e-9}, {"pJ", 1e-12}}};
  for (const Scale& s : kScales) {
    if (s.unit && joules(amount) >= s.joules) return s;
  }
  return {"pJ", 1e-12};
}

double seconds(const Account& a) {
  return static_cast<double>(a.fs) * 1e-15;
}

Ratio watts(const Account& a, const Band& e) {
  const double s = seconds(a);
  if (s <= 0) return {};
  return {joules(e.low) / s, joules(e.value) / s, joules(e.high) / s};
}
/// The less energy, the more of it.
Ratio tflops_per_watt(const Account& a, const Band& e) {
  const auto of = [&](Rontojoules r) { return r > 0 ? a.flops / joules(r) * 1e-12 : 0; };
  return {of(e.high), of(e.value), of(e.low)};
}
Ratio energy_delay(const Account& a, const Band& e) {
  const double s = seconds(a);
  return {joules(e.low) * s, joules(e.value) * s, joules(e.high) * s};
}
double peak_watts(const Account& a) {
  return a.window_fs > 0 ? joules(a.peak) / (static_cast<double>(a.window_fs) * 1e-15) : 0;
}
/// Of what is drawn all the time.
Band of_no_work(const Account& a) {
  Band sum;
  for (const Action& x : a.actions) {
    if (class_of(x.constant) == "static") sum += energy_of(a, x);
  }
  return sum;
}
double share(Rontojoules part, Rontojoules whole) {
  return whole > 0 ? static_cast<double>(part) / static_cast<double>(whole) : 0;
}

/// The constant that makes most of the band; null where none has one.
const Summary::Row* widest(const Summary& s) {
  const auto narrower = [](const auto& a, const auto& b) { return a.energy.width() < b.energy.width(); };
  const auto it = std::max_element(s.by_constant.begin(), s.by_constant.end(), narrower);
  return it != s.by_constant.end() && it->energy.width() > 0 ? &*it : nullptr;
}

/// "4.2 (3.1 to 5.3)".
std::string band_text(const Ratio& r) {
  return fmt::format("{:.4g} ({:.4g} to {:.4g})", r.value, r.low, r.high);
}

/// What is left out: what nobody knows, then what has no constant, and how often it was done.
std::vector<std::string> left_out(const Account& a, const Summary& s) {
  std::vector<std::string> all = a.unknown;
  for (const Summary::Row& r : s.not_counted) all.push_back(fmt::format("{} ({})", r.name, grouped(r.count)));
  return all;
}

void write_classes(std::ostream& out, const Summary& s, const Scale& scale) {
  TextTable table(1, 2);
  table.add({"energy", std::string(scale.unit), "%", "low", "high"});
  const auto add = [&](const std::string& name, const Band& e) {
    const auto in_unit = [&](Rontojoules r) { return fmt::format("{:.4f}", joules(r) / scale.joules); };
    table.add({name, in_unit(e.value), fmt::format("{:.1f}", 100 * share(e.value, s.total.value)), in_unit(e.low),
               in_unit(e.high)});
  };
  for (const Summary::Row& r : s.by_class) add(r.name, r.energy);
  add("sum", s.total);
  out << "\n" << table.text();
}

/// "pe_tcm" of "*.pe_tcm".
std::string kind_of(const std::string& component) {
  return component.substr(component.rfind('.') + 1);
}

void write_area(std::ostream& out, const Account& a, const Summary& s) {
  if (s.by_area.empty()) return;
  const double whole = mm2(s.area.value), tflops = seconds(a) > 0 ? a.flops / seconds(a) * 1e-12 : 0;
  print_to(out, "  area         {:.4g} mm2 ({:.4g} to {:.4g}):", whole, mm2(s.area.low), mm2(s.area.high));
  const char* between = " ";
  for (const Summary::Row& r : s.by_area) {
    print_to(out, "{}{} {:.4g}", between, kind_of(r.name), mm2(r.energy.value));
    between = ", ";
  }
  if (whole > 0)
    print_to(out, "; {:.4g} TFLOP/s/mm2, {:.4g} % of the GEMM peak a mm2", tflops / whole, 100 * a.utilization / whole);
  print_to(out, "\n");
  std::vector<std::string> without;
  for (const std::string& component : s.no_area) without.push_back(kind_of(component));
  if (!without.empty()) print_to(out, "               without that of {}\n", joined(without));
  const char* first = "  dies         ";
  for (const Die& d : a.dies) {
    print_to(out, "{}{}{}: {} mm2", first, d.count > 1 ? fmt::format("{} like ", d.count) : "",
             d.name.empty() ? "one" : d.name, band_text({mm2(d.area.low), mm2(d.area.value), mm2(d.area.high)}));
    if (d.edge.value > 0)
      print_to(out, ", PHYs on {} of {:.4g} mm of edge", band_text({mm(d.edge.low), mm(d.edge.value), mm(d.edge.high)}),
               shoreline_mm(a, d));
    print_to(out, "\n");
    first = "               ";
  }
  if (a.hbm_stacks > 0)
    print_to(out, "{}{} stacks of HBM, {:.4g} GB\n", first, a.hbm_stacks, static_cast<double>(a.hbm_bytes) / 1e9);
  if (const auto cost = cost_of(a))
    print_to(out, "  cost         {} USD: dies {:.4g}, package {:.4g}, HBM {:.4g}\n", band_text(cost->total()),
             cost->dies.value, cost->package.value, cost->hbm.value);
}

}  // namespace

void write_energy_text(std::ostream& out, const Account& a) {
  const Summary s = summarize(a);
  const Scale scale = scale_of(s.total.value);
  const auto in_unit = [&](Rontojoules r) { return joules(r) / scale.joules; };
  print_to(out, "  energy       {} {}, by the constants of {}\n",
           band_text({in_unit(s.total.low), in_unit(s.total.value), in_unit(s.total.high)}), scale.unit, a.table);
  print_to(out, "  power        {} W on average, at most {:.4g} W over {:g} ns\n", band_text(watts(a, s.total)),
           peak_watts(a), static_cast<double>(a.window_fs) * 1e-6);
  if (const Band idle = of_no_work(a); idle.value > 0)
    print_to(out, "               {} W of it without any work\n", band_text(watts(a, idle)));
  print_to(out, "  efficiency   {} TFLOP/s/W; energy times delay {:.4g} J s\n", band_text(tflops_per_watt(a, s.total)),
           energy_delay(a, s.total).value);
  if (!s.by_constant.empty()) {
    const Summary::Row& first = s.by_constant.front();
    print_to(out, "  dominated    by {}, {:.1f} % of the energy", first.name,
             100 * share(first.energy.value, s.total.value));
    if (const Summary::Row* w = widest(s))
      print_to(out, "; its band by {}, {:.1f} % of it", w->name, 100 * share(w->energy.width(), s.total.width()));
    std::vector<std::string> grounds;
    for (const Quality q : kQualities) {
      const Rontojoules part = s.by_quality[static_cast<size_t>(q)].value;
      if (part > 0) grounds.push_back(fmt::format("{} {:.1f} %", name_of(q), 100 * share(part, s.total.value)));
    }
    print_to(out, "\n  rests on     {} of it\n", joined(grounds));
  }
  const std::vector<std::string> missing = left_out(a, s);
  if (!missing.empty()) print_to(out, "  not counted  {}\n", joined(missing));
  write_area(out, a, s);
  for (const std::string& told : out_of_bounds(a)) print_to(out, "  bounds       {}\n", told);
  if (!s.by_class.empty()) write_classes(out, s, scale);
}

namespace {

void write_band(JsonWriter& w, const Band& b, int digits = 27) {
  w.open('{');
  w.key("low").raw(exact_text(b.low, digits));
  w.key("value").raw(exact_text(b.value, digits));
  w.key("high").raw(exact_text(b.high, digits)).close('}');
}
void write_ratio(JsonWriter& w, const Ratio& r) {
  w.open('{').field("low", r.low).field("value", r.value).field("high", r.high).close('}');
}

void write_constant(JsonWriter& w, const Constant& c) {
  w.field("name", c.name).field("unit", name_of(c.unit));
  for (const auto& [key, parts] : {std::pair("low", c.low), {"value", c.value}, {"high", c.high}})
    w.key(key).raw(exact_text(parts, 9));
  w.field("quality", name_of(c.quality)).field("source", c.source);
}

void write_area(JsonWriter& w, const Account& a, const Summary& s) {
  const double whole = mm2(s.area.value), time = seconds(a);
  write_band(w.open('{').key("mm2"), s.area, 15);
  w.key("blocks").open('[');
  const auto write_block = [&](const Action& block, const Constant& c, const Band& area) {
    w.open('{').field("block", block.component).field("count", block.count).field("of", block.action);
    write_band(w.key("mm2"), area, 15);
    write_constant(w.key("constant").open('{'), c);
    w.close('}').close('}');
  };
  Band blocks;
  uint64_t dies = 0;
  for (const Die& d : a.dies) dies += d.count;
  for (const Action& block : a.area) {
    const Constant* c = a.find(block.constant);
    if (!c) continue;
    const Band area = area_of(a, block);
    blocks += area;
    write_block(block, *c, area);
  }
  if (const Constant* rest = a.find("area.rest"))
    write_block({"*.rest", "dies", rest->name, dies, 0}, *rest, rest_of(rest, blocks));
  w.close(']').field("not_counted", s.no_area).key("dies").open('[');
  for (const Die& d : a.dies) {
    write_band(w.open('{').field("die", d.name).field("count", d.count).key("mm2"), d.area, 15);
    write_band(w.key("phy_edge_mm"), d.edge, 9);
    w.field("shoreline_mm", shoreline_mm(a, d)).close('}');
  }
  w.close(']').field("packages", a.packages).field("hbm_stacks", a.hbm_stacks).field("hbm_bytes", a.hbm_bytes);
  w.field("tflops_per_mm2", whole > 0 && time > 0 ? a.flops / time * 1e-12 / whole : 0);
  w.field("utilization_per_mm2", whole > 0 ? a.utilization / whole : 0).close('}');
}

}  // namespace

Headline headline(const Account& a) {
  const Summary s = summarize(a);
  Headline h{std::stod(exact_text(s.total.value)),
             watts(a, s.total).value,
             peak_watts(a),
             watts(a, of_no_work(a)).value,
             tflops_per_watt(a, s.total).value,
             energy_delay(a, s.total).value,
             {},
             {},
             {},
             {},
             {}};
  if (!s.by_area.empty()) {
    h.area_mm2 = mm2(s.area.value);
    for (const Die& die : a.dies) h.die_mm2 = std::max(h.die_mm2.value_or(0), mm2(die.area.value));
    for (const Die& die : a.dies) {
      if (die.edge.value > 0)
        h.shoreline_pct = std::max(h.shoreline_pct.value_or(0), 100 * mm(die.edge.value) / shoreline_mm(a, die));
    }
    if (*h.area_mm2 > 0 && a.fs > 0) h.tflops_per_mm2 = a.flops / seconds(a) * 1e-12 / *h.area_mm2;
  }
  if (const auto cost = cost_of(a)) h.cost = cost->total().value;
  return h;
}

void write_energy_json(JsonWriter& w, const Account& a) {
  const Summary s = summarize(a);
  w.open('{').field("table", a.table);
  write_band(w.key("joules"), s.total);
  write_ratio(w.key("average_w"), watts(a, s.total));
  w.field("peak_w", peak_watts(a)).field("peak_window_ns", static_cast<double>(a.window_fs) * 1e-6);
  write_ratio(w.key("tflops_per_w"), tflops_per_watt(a, s.total));
  write_ratio(w.key("energy_delay_js"), energy_delay(a, s.total));
  w.key("by_class").open('[');
  for (const Summary::Row& r : s.by_class)
    write_band(w.open('{').field("class", r.name).key("joules"), r.energy), w.close('}');
  w.close(']').key("by_constant").open('[');
  for (const Summary::Row& r : s.by_constant) {
    write_constant(w.open('{'), *a.find(r.name));
    write_band(w.field("count", r.count).key("joules"), r.energy);
    w.field("share", share(r.energy.value, s.total.value)).close('}');
  }
  w.close(']').key("by_quality").open('{');
  for (const Quality q : kQualities) write_band(w.key(name_of(q)), s.by_quality[static_cast<size_t>(q)]);
  w.close('}');
  const Summary::Row* wide = widest(s);
  w.key("dominates").open('{').field("energy", s.by_constant.empty() ? "" : s.by_constant.front().name);
  w.field("band", wide ? wide->name : "").close('}');
  w.field("not_counted", left_out(a, s));
  write_ratio(w.key("static_w"), watts(a, of_no_work(a)));
  if (!a.area.empty()) write_area(w.key("area"), a, s);
  if (const auto cost = cost_of(a)) {
    write_ratio(w.key("cost").open('{').field("currency", "USD").key("total"), cost->total());
    write_ratio(w.key("dies"), cost->dies);
    write_ratio(w.key("package"), cost->package);
    write_ratio(w.key("hbm"), cost->hbm);
    w.close('}');
  }
  w.field("out_of_bounds", out_of_bounds(a));
  w.close('}');
}

}  // namespace kernbench::energy
