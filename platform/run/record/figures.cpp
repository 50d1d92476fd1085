// SPDX-License-Identifier: Apache-2.0
#include "kernbench/platform/run/record/figures.h"

#include <algorithm>

#include "kernbench/phase2/energy/account.h"
#include "kernbench/platform/insight/insight.h"
#include "kernbench/platform/run/record/run_record.h"

namespace kernbench {
namespace {

using Value = FigureValue;
using insight::Insight;
using insight::Resource;

Value whole(uint64_t v) {
  return static_cast<int64_t>(v);
}

double flops(const RunReport& r) {
  double sum = 0;
  for (const EngineReport& e : r.engines) sum += e.flops;
  return sum;
}

/// Sum over all engines whose id has this ending.
uint64_t bytes(const RunReport& r, std::string_view end) {
  uint64_t sum = 0;
  for (const EngineReport& e : r.engines) {
    if (e.id.size() >= end.size() && e.id.compare(e.id.size() - end.size(), end.size(), end) == 0) sum += e.bytes;
  }
  return sum;
}

/// Sum of an insight's list over a class of resources; none without an insight.
template <std::vector<Insight::Row> Insight::*List, Resource Of>
Value bytes_of(const RunReport& r) {
  if (!r.insight) return {};
  uint64_t sum = 0;
  for (const Insight::Row& row : (*r.insight).*List) {
    if (row.resource == Of) sum += row.bytes;
  }
  return whole(sum);
}

/// Peak use of the fullest HBM (0) or TCM (1) in percent; none if unused.
template <int Tcm>
Value fullest_pct(const RunReport& r) {
  if (!r.insight) return {};
  const auto& all = r.insight->capacity;
  const auto it = std::find_if(all.begin(), all.end(), [](const auto& c) { return c.space == (Tcm ? "tcm" : "hbm"); });
  return it == all.end() ? Value() : Value(100 * it->share());
}

template <double Insight::*Which, int Factor = 1>
Value of_insight(const RunReport& r) {
  return r.insight ? Value(Factor * ((*r.insight).*Which)) : Value();
}

template <std::optional<double> energy::Headline::*Which>
Value of_silicon(const RunReport& r) {
  const auto v = r.energy ? energy::headline(*r.energy).*Which : std::nullopt;
  return v ? Value(*v) : Value();
}

/// Uses the parameter `tokens` of a kernel or program.
Value tokens_per_j(const RunReport& r) {
  const auto tokens = std::find_if(r.params.begin(), r.params.end(), [](const auto& p) { return p.first == "tokens"; });
  const double joules = r.energy ? energy::headline(*r.energy).joules : 0;
  return tokens != r.params.end() && joules > 0 ? Value(std::stod(tokens->second) / joules) : Value();
}

template <double energy::Headline::*Which>
Value of_energy(const RunReport& r) {
  return r.energy ? Value(energy::headline(*r.energy).*Which) : Value();
}

/// For `kernbench model`.
template <auto Which>
Value of_model(const RunReport& r) {
  if (!r.model) return {};
  const std::optional<double> v = (*r.model).*Which;
  return v ? Value(*v) : Value();
}

std::string joined(const std::vector<Resource>& all) {
  std::string text;
  for (const Resource r : all) text += (text.empty() ? "" : "+") + std::string(name_of(r));
  return text;
}

}  // namespace

const std::vector<Figure>& figures() {
  using R = const RunReport&;
  using energy::Headline;
  static const std::vector<Figure> all = {
      {"sim_ns", "simulated time, ns", [](R r) { return Value(r.end_ns); }, Figure::kOfSomePes},
      {"whole_ns", "sim_ns with the layers that --repeat does not simulate, ns; needs kernbench model",
       [](R r) { return r.repeated.empty() ? Value() : Value(r.whole_ns()); }, Figure::kOfSomePes},
      {"verified", "whether the outputs passed; needs --verify",
       [](R r) {
         const auto outputs = passed(r.tensors);
         return r.verified && outputs ? Value(*outputs) : Value();
       },
       Figure::kNoNumber},
      {"tflops", "throughput of all engines over the run, TFLOP/s",
       [](R r) { return r.end_ns > 0 ? Value(flops(r) / r.end_ns / 1e3) : Value(); }, Figure::kOfSomePes},
      {"gflop", "work of all engines, GFLOP", [](R r) { return Value(flops(r) / 1e9); }},
      {"gemm_peak_pct", "share of the GEMM peak, percent", [](R r) { return Value(100 * r.gemm_peak_share()); }},
      {"gbs", "bandwidth of the PEs' DMA engines over the run, GB/s",
       [](R r) {
         return r.end_ns > 0 ? Value(static_cast<double>(bytes(r, ".rd") + bytes(r, ".wr")) / r.end_ns) : Value();
       }},
      {"bytes_read", "bytes of the PEs' DMA engines", [](R r) { return whole(bytes(r, ".rd")); }},
      {"bytes_written", "bytes of the PEs' DMA engines", [](R r) { return whole(bytes(r, ".wr")); }},
      {"tcm_bytes", "bytes of FETCH and STORE in the PEs' TCM", [](R r) { return whole(bytes(r, ".pe_fetch_store")); }},
      {"events", "events of the simulation", [](R r) { return whole(r.events); }},
      {"energy_j", "energy, J; needs --energy or an energy section", of_energy<&Headline::joules>},
      {"average_w", "average power, W; needs --energy or an energy section", of_energy<&Headline::average_w>},
      {"peak_w", "peak power, W; needs --energy or an energy section", of_energy<&Headline::peak_w>},
      {"static_w", "power without any work, W; needs --energy or an energy section", of_energy<&Headline::static_w>,
       Figure::kOfSomePes},
      {"area_mm2", "area of the parts that the table has constants for, mm2; needs such a table",
       of_silicon<&Headline::area_mm2>, Figure::kOfSomePes},
      {"die_mm2", "area of the largest die, mm2; needs an energy table", of_silicon<&Headline::die_mm2>,
       Figure::kOfSomePes},
      {"shoreline_pct", "share of the edge taken by PHYs, of the worst die, percent; needs an energy table",
       of_silicon<&Headline::shoreline_pct>, Figure::kOfSomePes},
      {"tflops_per_mm2", "TFLOP/s per mm2; needs an energy table", of_silicon<&Headline::tflops_per_mm2>,
       Figure::kOfSomePes},
      {"cost", "price of the machine, USD; needs cost in the energy table", of_silicon<&Headline::cost>,
       Figure::kOfSomePes},
      {"tokens_per_j", "tokens per J, from the parameter tokens of the kernel or program; needs an energy table",
       tokens_per_j},
      {"tflops_per_w", "TFLOP/s per W; needs an energy table", of_energy<&Headline::tflops_per_w>},
      {"energy_delay_js", "energy times time, J s; needs an energy table", of_energy<&Headline::energy_delay_js>},
      {"model_ns",
       "time of a model's phases, ns, with the layers that --repeat does not simulate; needs kernbench model",
       of_model<&ModelFigures::model_ns>},
      {"ttft_ns",
       "time to the first token: a model's first prefill, ns, or the mean of requests; needs kernbench model",
       of_model<&ModelFigures::ttft_ns>},
      {"tpot_ns",
       "time per output token: a step of a model's first decode, ns, or the mean of requests; needs kernbench model",
       of_model<&ModelFigures::tpot_ns>},
      {"tokens_s", "tokens a second, of a model with one phase; needs kernbench model",
       of_model<&ModelFigures::tokens_s>},
      {"mfu",
       "model FLOP utilization: time of the products at the GEMM peak, as a share of the time; needs kernbench model",
       of_model<&ModelFigures::mfu>, Figure::kShare},
      {"hbm_share",
       "time of the required bytes, each once, at the HBM peak, as a share of the time; needs kernbench model",
       of_model<&ModelFigures::hbm_share>, Figure::kShare},
      {"joules_token", "energy of a token, J, of a model with one phase; needs kernbench model and --energy",
       of_model<&ModelFigures::joules_token>},
      {"bound", "the bottleneck of the run",
       [](R r) { return r.insight ? Value(std::string(name_of(r.insight->bound))) : Value(); },
       Figure::kExplained | Figure::kNoNumber},
      {"bound_by", "bottlenecks that bind the run together, joined by +",
       [](R r) { return r.insight ? Value(joined(r.insight->bound_by)) : Value(); },
       Figure::kExplained | Figure::kNoNumber},
      {"math_busy_pct", "busy share of the math engines, percent", of_insight<&Insight::math_busy, 100>,
       Figure::kExplained},
      {"hbm_peak_pct", "share of the HBM peak, percent", of_insight<&Insight::hbm_peak, 100>, Figure::kExplained},
      {"hbm_full_pct", "highest occupancy of any HBM, percent", fullest_pct<0>, Figure::kExplained},
      {"tcm_full_pct", "highest occupancy of any TCM, percent", fullest_pct<1>, Figure::kExplained},
      {"link_peak_pct", "utilization of the busiest link, percent",
       [](R r) {
         if (!r.insight) return Value();
         return Value(r.insight->links.empty() ? 0.0 : 100 * r.insight->links.front().share);
       },
       Figure::kExplained},
      {"hbm_bytes", "bytes served by HBM", of_insight<&Insight::hbm_bytes>, Figure::kExplained},
      {"sram_bytes", "bytes served by shared SRAM", bytes_of<&Insight::memories, Resource::sram>, Figure::kExplained},
      {"mesh_bytes", "bytes over mesh links, summed over the links", bytes_of<&Insight::links, Resource::mesh>,
       Figure::kExplained},
      {"ucie_bytes", "bytes over UCIe links, summed over the links", bytes_of<&Insight::links, Resource::ucie>,
       Figure::kExplained},
      {"pcie_bytes", "bytes over PCIe and IO chiplet links, summed over the links",
       bytes_of<&Insight::links, Resource::pcie>, Figure::kExplained},
      {"link_bytes", "bytes over other links, summed over the links", bytes_of<&Insight::links, Resource::link>,
       Figure::kExplained},
      {"flop_per_byte", "FLOP per byte of HBM", of_insight<&Insight::flop_per_byte>, Figure::kExplained},
      {"roofline_tflops", "roofline limit, TFLOP/s", of_insight<&Insight::roofline_tflops>, Figure::kExplained},
  };
  return all;
}

static bool is_share(std::string_view name) {
  const auto& all = figures();
  return std::any_of(all.begin(), all.end(), [&](const Figure& f) { return f.name == name && f.is(Figure::kShare); });
}

std::string title_of(std::string_view name) {
  return std::string(name) + (is_share(name) ? " %" : "");
}

FigureValue shown(std::string_view name, const FigureValue& v) {
  const auto* share = std::get_if<double>(&v);
  return share && is_share(name) ? FigureValue(100 * *share) : v;
}

}  // namespace kernbench
