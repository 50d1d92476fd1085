// SPDX-License-Identifier: Apache-2.0
#include "kernbench/platform/observe/html_report.h"

#include <algorithm>
#include <cmath>
#include <string_view>
#include <unordered_map>

#include "kernbench/phase2/energy/account.h"
#include "kernbench/phase2/text/forms.h"
#include "kernbench/phase2/text/varint.h"
#include "kernbench/platform/elaborate/machine.h"
#include "kernbench/platform/insight/insight.h"
#include "kernbench/platform/insight/scaling.h"
#include "kernbench/platform/run/host_phases.h"
#include "kernbench/platform/run/record/html_page.h"
#include "kernbench/platform/run/run.h"
#include "kernbench/platform/topology/view/plan_json.h"
#include "kernbench/systemc_models/core/component_catalog.h"

namespace kernbench {
namespace page {
extern const std::string_view html, js, retimer;
}

}  // namespace kernbench
namespace kernbench::observe {
namespace {

using insight::TimeBins;
using insight::TimelineRecorder;

std::string base64(const std::string& bytes) {
  constexpr char kDigits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  std::string out;
  out.reserve((bytes.size() + 2) / 3 * 4);
  for (size_t i = 0; i < bytes.size(); i += 3) {
    uint32_t word = 0;
    for (size_t j = 0; j < 3; ++j) word = word << 8 | (i + j < bytes.size() ? static_cast<uint8_t>(bytes[i + j]) : 0u);
    for (size_t j = 0; j < 4; ++j) out += i + j <= bytes.size() ? kDigits[word >> (18 - 6 * j) & 63] : '=';
  }
  return out;
}

void append_signed(std::string& out, int64_t v) {
  append_varint(out, static_cast<uint64_t>(v) << 1 ^ static_cast<uint64_t>(v >> 63));
}

int64_t to_ps(double ns) {
  return std::llround(ns * 1e3);
}

/// A track's slices. Each slice: start relative to the previous end, length (ps); kind, + 8 if the op differs, + 16 if
/// it has a tile; the op; the tile relative to the previous one.
void append_slices(std::string& out, std::vector<TimelineRecorder::Slice> slices) {
  std::stable_sort(slices.begin(), slices.end(), [](const auto& a, const auto& b) { return a.from < b.from; });
  int64_t end = 0, tile = 0;
  uint32_t op = ~0u;
  for (const TimelineRecorder::Slice& s : slices) {
    const int64_t from = to_ps(s.from), to = to_ps(s.to);
    append_signed(out, from - end);
    append_varint(out, static_cast<uint64_t>(to - from));
    end = to;
    append_varint(out, static_cast<uint64_t>(s.kind) + (s.op != op ? 8 : 0) + (s.tile >= 0 ? 16 : 0));
    if (s.op != op) append_varint(out, s.op);
    op = s.op;
    if (s.tile < 0) continue;
    append_signed(out, s.tile - tile);
    tile = s.tile;
  }
}

/// Series quantized to 255 steps of their maximum; equal ones are written once.
class SeriesTable {
 public:
  SeriesTable(const TimeBins& bins, size_t count) : bins_(bins), count_(count) {}
  /// Index and value of the maximum; none if empty.
  std::optional<std::tuple<size_t, double>> place(size_t series) {
    const std::vector<double>& values = bins_.of(series);
    double most = 0;
    for (const double v : values) most = std::max(most, v);
    if (most <= 0) return std::nullopt;
    std::string bytes(count_, '\0');
    for (size_t i = 0; i < std::min(count_, values.size()); ++i)
      bytes[i] = static_cast<char>(std::lround(values[i] / most * 255));
    const auto [it, is_new] = places_.try_emplace(bytes, places_.size());
    if (is_new) all_ += bytes;
    return std::tuple(it->second, most);
  }
  const std::string& all() const { return all_; }

 private:
  const TimeBins& bins_;
  const size_t count_;
  std::unordered_map<std::string, size_t> places_;
  std::string all_;
};

/// A table of distinct texts; each text has a number.
class Words {
 public:
  size_t number(const std::string& word) {
    const auto [it, is_new] = places_.try_emplace(word, list_.size());
    if (is_new) list_.push_back(word);
    return it->second;
  }
  const std::vector<std::string>& list() const { return list_; }

 private:
  std::unordered_map<std::string, size_t> places_;
  std::vector<std::string> list_;
};

void describe_system(Fields& f, const topology::Graph& system) {
  Words kinds, edge_kinds;
  f.list("nodes", system.nodes, [&](const topology::Node& n) { f("", std::tuple(n.id, kinds.number(n.kind))); });
  f("node_kinds", kinds.list()).list("edges", system.edges, [&](const topology::Edge& e) {
    const auto at = static_cast<uint32_t>(&e - system.edges.data());
    f("", std::tuple(e.from, e.to, edge_kinds.number(e.kind), system.effective_bw(at)));
  });
  f("edge_kinds", edge_kinds.list());
}

void describe_bins(Fields& f, const TimelineRecorder& r, uint32_t edges, double sim_ns) {
  const TimeBins& bins = r.bins();
  const auto count = std::max<size_t>(1, static_cast<size_t>(std::ceil(sim_ns / bins.width_ns())));
  SeriesTable table(bins, count);
  using Place = decltype(table.place(0));
  std::vector<std::tuple<uint32_t, Place>> links;
  for (uint32_t e = 0; e < edges; ++e) {
    if (!bins.of(r.link(e)).empty()) links.emplace_back(e, table.place(r.link(e)));
  }
  std::vector<std::tuple<uint32_t, Place, Place, std::vector<Place>>> memories;
  for (const auto& [node, m] : r.memories()) {
    if (bins.of(m.read).empty() && bins.of(m.write).empty()) continue;
    const auto read = table.place(m.read), write = table.place(m.write);
    auto& channels = std::get<3>(memories.emplace_back(node, read, write, std::vector<Place>()));
    for (const size_t c : m.channels) channels.push_back(table.place(c));
  }
  f("width_ns", bins.width_ns())("count", count)("links", links)("memories", memories)("series", base64(table.all()));
}

void describe_slices(Fields& f, const TimelineRecorder& r) {
  std::string bytes;
  f.list("tracks", r.tracks(), [&](const auto& track) {
    const auto& [place, slices] = track;
    const int64_t pe = place.first == TimelineRecorder::kHost ? -1 : static_cast<int64_t>(place.first);
    f("", std::tuple(pe, r.track_name(place.second), slices.size()));
    append_slices(bytes, slices);
  });
  f.list("ops", r.ops(), [&](const TimelineRecorder::Op& op) { f("", std::tuple(op.name, op.line)); });
  f("slices", base64(bytes));
}

}  // namespace

void HtmlReport::host(const std::vector<HostPhase>& phases) {
  for (const HostPhase& p : phases) recorder_.host(p.track, p.name, p.from_ns, p.to_ns);
}

std::string HtmlReport::data(const RunReport& r) const {
  const topology::Graph& system = machine_.graph();
  return to_json([&](Fields& f) {
    f("run", [&] { spec::describe(f, r.document, true); });
    f("name", r.kernel)("topology", r.topology)("sim_ns", r.end_ns)("start_ns", r.start_ns)("launch", r.launch);
    f("transfer", r.timed_transfer ? "timed" : "instant")("events", r.events)("wall_s", r.wall_s);
    f("verified", r.verified)("passed", passed(r.tensors))("params", r.params)("notes", r.notes);
    f("insight", *r.insight)("figures", [&] { describe_figures(f, r, true); }).given("energy", r.energy);
    f("resource_titles", [&] {
      for (size_t i = 0; i < insight::kResources; ++i)
        f(name_of(static_cast<insight::Resource>(i)), title_of(static_cast<insight::Resource>(i)));
    });
    std::vector<std::string_view> scaled;
    for (const insight::ScaledPart& p : insight::scaled_parts()) {
      if (insight::resource_of(p.name)) scaled.push_back(p.name);
    }
    f("scaled_parts", scaled)("causes", base64(causes_))("most_causes", kMostCauses)("engines", r.engines);
    f.list("pes", system.pes, [&](const topology::Pe& pe) { f("", pe.id); });
    describe_system(f, system);
    f("plans", topology::plans_of(system));
    f("bins", [&] { describe_bins(f, recorder_, static_cast<uint32_t>(system.edges.size()), r.end_ns); });
    describe_slices(f, recorder_);
  });
}

namespace {

std::string stages_by_kind() {
  const Kinds& kinds = component_catalog().kinds();
  return to_json(
      [&](Fields& f) {
        for (const std::string& kind : kinds.of_engines())
          f.list(kind, kinds.find(kind)->facts.engine.stages, [&](const EngineStage& s) { f("", s.stage); });
      },
      JsonWriter::Layout::compact, JsonWriter::Reals::shortest);
}

}  // namespace

void HtmlReport::write(const RunReport& r) {
  recorder_.cover(r.end_ns);
  const std::string title = escaped_html(r.kernel + " on " + r.topology);
  const std::string stages = escaped_json(stages_by_kind());
  const std::string json = escaped_json(data(r));
  write_page(page::html,
             {{"title", title},
              {"js", page::js},
              {"retimer", causes_.empty() ? std::string_view() : page::retimer},
              {"own_css", ""},
              {"data", json},
              {"stages_of", stages}},
             [this](std::string_view text) { out_.write(text); });
  out_.keep();
}

}  // namespace kernbench::observe
