#include "kernbench/platform/sweep/metrics.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <numeric>

#include "kernbench/phase2/op/errors.h"
#include "kernbench/phase2/text/json_reader.h"

namespace kernbench::sweep {
namespace {

using Json = nlohmann::json;

/// What stands in the report as it is, times a factor.
struct Copied {
  const char* name;
  const char* place;  ///< a JSON pointer
  double factor = 1;
};
constexpr Copied kCopied[] = {
    {"sim_ns", "/sim_ns"},
    {"verified", "/verify/passed"},
    {"events", "/events"},
    {"gemm_peak_pct", "/gemm_peak_share", 100},
    {"energy_j", "/energy/joules/value"},
    {"average_w", "/energy/average_w/value"},
    {"peak_w", "/energy/peak_w"},
    {"tflops_per_w", "/energy/tflops_per_w/value"},
    {"energy_delay_js", "/energy/energy_delay_js/value"},
    {"bound", "/insight/bound"},
    {"math_busy_pct", "/insight/peaks/math_busy", 100},
    {"hbm_peak_pct", "/insight/peaks/hbm", 100},
    {"link_peak_pct", "/insight/peaks/link", 100},
    {"hbm_bytes", "/insight/roofline/hbm_bytes"},
    {"flop_per_byte", "/insight/roofline/flop_per_byte"},
    {"roofline_tflops", "/insight/roofline/tflops_most"},
};

/// The bytes of each memory or link of a kind, added up.
struct Added {
  const char* name;
  const char* list;  ///< of the insight
  const char* resource;
};
constexpr Added kAdded[] = {
    {"sram_bytes", "memories", "sram"}, {"mesh_bytes", "links", "mesh"}, {"ucie_bytes", "links", "ucie"},
    {"pcie_bytes", "links", "pcie"},    {"link_bytes", "links", "link"},
};

bool ends_with(std::string_view text, std::string_view end) {
  return text.size() >= end.size() && text.substr(text.size() - end.size()) == end;
}

/// As an objective sees it: less is better.
std::optional<double> cost(const Cell& c, const Objective& o) {
  const auto v = number_of(c);
  return v && o.most ? -*v : v;
}

}  // namespace

const std::vector<Metric>& metrics() {
  using Of = Metric::Of;
  static const std::vector<Metric> all = {
      {"sim_ns", "simulated time, ns"},
      {"verified", "whether the outputs passed; needs --verify"},
      {"tflops", "TFLOP/s of all engines over the run"},
      {"gflop", "work of all engines, GFLOP"},
      {"gemm_peak_pct", "per cent of the GEMM peak"},
      {"gbs", "bytes that PEs' DMA engines read and wrote, GB/s over the run"},
      {"bytes_read", "by DMA engines"},
      {"bytes_written", "by DMA engines"},
      {"tcm_bytes", "that PEs fetched from their TCM and stored there"},
      {"events", "of the simulation"},
      {"energy_j", "energy, J, of a system that has an energy table, as the next four"},
      {"average_w", "average power, W"},
      {"peak_w", "peak power, W"},
      {"tflops_per_w", "TFLOP/s per W"},
      {"energy_delay_js", "energy times time, J s"},
      {"bound", "what binds the run", Of::explained_run},
      {"bound_by", "what binds it together, joined by +", Of::explained_run},
      {"math_busy_pct", "per cent of the time of the math engines", Of::explained_run},
      {"hbm_peak_pct", "per cent of the HBM peak", Of::explained_run},
      {"link_peak_pct", "of the busiest link, per cent of its peak", Of::explained_run},
      {"hbm_bytes", "that HBM served", Of::explained_run},
      {"sram_bytes", "that shared SRAM served", Of::explained_run},
      {"mesh_bytes", "over links of cubes' meshes, those of each link added up", Of::explained_run},
      {"ucie_bytes", "over UCIe links, added up the same way", Of::explained_run},
      {"pcie_bytes", "over PCIe and inside IO chiplets, the same", Of::explained_run},
      {"link_bytes", "over links of any other kind, the same", Of::explained_run},
      {"flop_per_byte", "FLOP per byte of HBM", Of::explained_run},
      {"roofline_tflops", "most that the roofline allows, TFLOP/s", Of::explained_run},
      {"wall_s", "time of the simulation on this machine, s: another one every time", Of::point},
      {"error", "the first line on stderr of what failed", Of::point},
      {"command", "what repeats the point", Of::point},
      {"key", "the point's name in a store", Of::point},
  };
  return all;
}

const Metric& metric(std::string_view name, const std::string& option) {
  std::vector<std::string_view> names;
  for (const Metric& m : metrics()) {
    if (m.name == name) return m;
    names.push_back(m.name);
  }
  throw InputError(fmt::format("{}: found {}; legal: {}", option, in_quotes(name), fmt::join(names, ", ")));
}

Json metrics_of(const Json& report) {
  Json found = Json::object();
  for (const Copied& c : kCopied) {
    const Json::json_pointer place(c.place);
    if (!report.contains(place) || report.at(place).is_null()) continue;
    const Json& v = report.at(place);
    found[c.name] = c.factor == 1 ? v : Json(c.factor * json_value<double>(v));
  }
  double flops = 0;
  uint64_t read = 0, written = 0, tcm = 0;
  for (const Json& e : report.at("engines")) {
    const auto id = json_field<std::string>(e, "id");
    flops += json_field<double>(e, "flops");
    if (ends_with(id, ".rd")) read += json_field<uint64_t>(e, "bytes");
    if (ends_with(id, ".wr")) written += json_field<uint64_t>(e, "bytes");
    if (ends_with(id, ".pe_fetch_store")) tcm += json_field<uint64_t>(e, "bytes");
  }
  const auto sim_ns = json_field<double>(report, "sim_ns");
  found["gflop"] = flops / 1e9;
  found["bytes_read"] = read;
  found["bytes_written"] = written;
  found["tcm_bytes"] = tcm;
  if (sim_ns > 0) {
    found["tflops"] = flops / sim_ns / 1e3;
    found["gbs"] = static_cast<double>(read + written) / sim_ns;
  }
  if (report.contains("insight")) {
    for (const Added& a : kAdded) {
      uint64_t bytes = 0;
      for (const Json& part : report["insight"].at(a.list)) {
        if (json_field<std::string>(part, "resource") == a.resource) bytes += json_field<uint64_t>(part, "bytes");
      }
      found[a.name] = bytes;
    }
    std::string all;
    for (const Json& part : report["insight"].at("bound_by"))
      all += (all.empty() ? "" : "+") + json_value<std::string>(part);
    found["bound_by"] = all;
  }
  return found;
}

Cell cell_of(const Json& v) {
  if (v.is_null()) return {};
  if (v.is_boolean()) return v.get<bool>();
  if (v.is_number_integer()) return v.get<int64_t>();
  if (v.is_number()) return v.get<double>();
  return v.get<std::string>();
}

Cell number_or_text(const std::string& text) {
  const char* end = text.data() + text.size();
  int64_t whole = 0;
  double real = 0;
  if (const auto r = std::from_chars(text.data(), end, whole); r.ec == std::errc() && r.ptr == end) return whole;
  if (const auto r = std::from_chars(text.data(), end, real); r.ec == std::errc() && r.ptr == end) return real;
  return text;
}

std::optional<double> number_of(const Cell& c) {
  if (const auto* d = std::get_if<double>(&c)) return *d;
  if (const auto* i = std::get_if<int64_t>(&c)) return static_cast<double>(*i);
  return std::nullopt;
}

std::vector<Objective> parse_objectives(const std::string& text, const std::string& option) {
  std::vector<Objective> all;
  for (size_t from = 0; from <= text.size();) {
    const size_t comma = std::min(text.find(',', from), text.size());
    std::string name = text.substr(from, comma - from);
    from = comma + 1;
    const std::string way = name.substr(0, 4);
    if (way == "min:" || way == "max:") name = name.substr(4);
    metric(name, option);
    if (std::any_of(all.begin(), all.end(), [&](const Objective& o) { return o.metric == name; }))
      throw InputError(option + ": found " + in_quotes(name) + " twice");
    all.push_back({name, way == "max:"});
  }
  return all;
}

std::vector<size_t> pareto_front(const std::vector<std::vector<Cell>>& points, const std::vector<Objective>& by) {
  struct Candidate {
    std::vector<double> costs;
    size_t index;
  };
  std::vector<Candidate> candidates;
  for (size_t i = 0; i < points.size(); ++i) {
    Candidate c{{}, i};
    for (size_t k = 0; k < by.size(); ++k) {
      if (const auto v = cost(points[i][k], by[k])) c.costs.push_back(*v);
    }
    if (c.costs.size() == by.size()) candidates.push_back(std::move(c));
  }
  std::stable_sort(candidates.begin(), candidates.end(),
                   [](const auto& a, const auto& b) { return a.costs < b.costs; });
  // Who beats a point comes before it, and one on the front beats it too: whatever is beaten by one that is beaten
  // itself.
  std::vector<Candidate> front;
  for (Candidate& c : candidates) {
    const auto beats = [&](const Candidate& f) {
      return f.costs != c.costs && std::equal(f.costs.begin(), f.costs.end(), c.costs.begin(), std::less_equal<>());
    };
    if (std::none_of(front.begin(), front.end(), beats)) front.push_back(std::move(c));
  }
  std::vector<size_t> indices;
  for (const Candidate& f : front) indices.push_back(f.index);
  return indices;
}

std::vector<size_t> sorted_by(const std::vector<Cell>& points, const Objective& by) {
  std::vector<size_t> order(points.size());
  std::iota(order.begin(), order.end(), size_t{0});
  std::stable_sort(order.begin(), order.end(), [&](size_t a, size_t b) {
    const auto x = cost(points[a], by), y = cost(points[b], by);
    return x && y ? *x < *y : x.has_value() && !y.has_value();
  });
  return order;
}

}  // namespace kernbench::sweep
