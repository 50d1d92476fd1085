// SPDX-License-Identifier: Apache-2.0
// An account as text for people and as fields for tools. docs/energy.md has the formula of every number.
#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "kernbench/phase2/energy/account.h"
#include "kernbench/phase2/text/fields.h"
#include "kernbench/phase2/text/print.h"
#include "kernbench/phase2/text/table.h"
#include "kernbench/phase2/text/text.h"

namespace kernbench::energy {
namespace {

struct Scale {
  const char* unit;
  double joules;
};

/// The unit in which the amount is at least 1.
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
/// Less energy gives a higher ratio, so the ends swap.
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
/// The energy of static power.
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

/// The constant with the largest part of the band; null if none has a part.
const Summary::Row* widest(const Summary& s) {
  const auto narrower = [](const auto& a, const auto& b) { return a.energy.width() < b.energy.width(); };
  const auto it = std::max_element(s.by_constant.begin(), s.by_constant.end(), narrower);
  return it != s.by_constant.end() && it->energy.width() > 0 ? &*it : nullptr;
}

/// "4.2 (3.1 to 5.3)".
std::string band_text(const Ratio& r) {
  return fmt::format("{:.4g} ({:.4g} to {:.4g})", r.value, r.low, r.high);
}

/// What the account omits: unknown parts, then actions without a constant with their counts.
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
    print_to(out, "{}{} stacks of HBM, {:.4g} GiB\n", first, a.hbm_stacks,
             static_cast<double>(a.hbm_bytes) / (1 << 30));
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

/// The exact values of a band.
std::vector<std::pair<const char*, RawJson>> exact(const Band& b, int digits = 27) {
  return {{"low", {exact_text(b.low, digits)}},
          {"value", {exact_text(b.value, digits)}},
          {"high", {exact_text(b.high, digits)}}};
}

}  // namespace

static void describe(Fields& f, const Ratio& r) {
  f("low", r.low)("value", r.value)("high", r.high);
}

static void describe(Fields& f, const Constant& c) {
  f("name", c.name)("unit", c.unit);
  for (const auto& [key, parts] : {std::pair("low", c.low), {"value", c.value}, {"high", c.high}})
    f(key, RawJson{exact_text(parts, 9)});
  f("quality", c.quality)("source", c.source);
}

namespace {

void describe_area(Fields& f, const Account& a, const Summary& s) {
  struct Block {
    Action of;
    const Constant* constant;
    Band area;
  };
  std::vector<Block> blocks;
  Band sum;
  for (const Action& block : a.area) {
    const Constant* c = a.find(block.constant);
    if (c) sum += blocks.emplace_back(Block{block, c, area_of(a, block)}).area;
  }
  uint64_t dies = 0;
  for (const Die& d : a.dies) dies += d.count;
  if (const Constant* rest = a.find("area.rest"))
    blocks.push_back({{"*.rest", "dies", rest->name, dies, 0}, rest, rest_of(rest, sum)});
  f("mm2", exact(s.area, 15)).each("blocks", blocks, [&](const Block& b) {
    f("block", b.of.component)("count", b.of.count)("of", b.of.action)("mm2", exact(b.area, 15));
    f("constant", *b.constant);
  });
  f("not_counted", s.no_area).each("dies", a.dies, [&](const Die& d) {
    f("die", d.name)("count", d.count)("mm2", exact(d.area, 15))("phy_edge_mm", exact(d.edge, 9));
    f("shoreline_mm", shoreline_mm(a, d));
  });
  const double whole = mm2(s.area.value), time = seconds(a);
  f("packages", a.packages)("hbm_stacks", a.hbm_stacks)("hbm_bytes", a.hbm_bytes);
  f("tflops_per_mm2", whole > 0 && time > 0 ? a.flops / time * 1e-12 / whole : 0);
  f("utilization_per_mm2", whole > 0 ? a.utilization / whole : 0);
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

void describe(Fields& f, const Account& a) {
  const Summary s = summarize(a);
  f("table", a.table)("joules", exact(s.total))("average_w", watts(a, s.total))("peak_w", peak_watts(a));
  f("peak_window_ns", static_cast<double>(a.window_fs) * 1e-6)("tflops_per_w", tflops_per_watt(a, s.total));
  f("energy_delay_js", energy_delay(a, s.total)).each("by_class", s.by_class, [&](const Summary::Row& r) {
    f("class", r.name)("joules", exact(r.energy));
  });
  f.each("by_constant", s.by_constant, [&](const Summary::Row& r) {
    describe(f, *a.find(r.name));
    f("count", r.count)("joules", exact(r.energy))("share", share(r.energy.value, s.total.value));
  });
  f("by_quality", [&] {
    for (const Quality q : kQualities) f(name_of(q), exact(s.by_quality[static_cast<size_t>(q)]));
  });
  const Summary::Row* wide = widest(s);
  f("dominates",
    [&] { f("energy", s.by_constant.empty() ? "" : s.by_constant.front().name)("band", wide ? wide->name : ""); });
  f("not_counted", left_out(a, s))("static_w", watts(a, of_no_work(a)));
  if (!a.area.empty()) f("area", [&] { describe_area(f, a, s); });
  if (const auto cost = cost_of(a)) {
    f("cost", [&] {
      f("currency", "USD")("total", cost->total())("dies", cost->dies)("package", cost->package)("hbm", cost->hbm);
    });
  }
  f("out_of_bounds", out_of_bounds(a));
}

}  // namespace kernbench::energy
