#include "kernbench/platform/observe/html_report.h"

#include <algorithm>
#include <cmath>
#include <string_view>
#include <unordered_map>

#include "kernbench/phase2/energy/account.h"
#include "kernbench/phase2/text/json_writer.h"
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

/// A track's slices. Each: from the previous one's end, length (ps); kind + 8 if it is another op + 16 if it has a
/// tile; the op; the tile less the previous one's.
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

/// Series in 255 steps of their own greatest value, each written once.
class SeriesTable {
 public:
  SeriesTable(const TimeBins& bins, size_t count) : bins_(bins), count_(count) {}
  /// [place, greatest], or null where there is nothing.
  void write(JsonWriter& w, size_t series) {
    const std::vector<double>& values = bins_.of(series);
    double most = 0;
    for (const double v : values) most = std::max(most, v);
    if (most <= 0) {
      w.null();
      return;
    }
    std::string bytes(count_, '\0');
    for (size_t i = 0; i < std::min(count_, values.size()); ++i)
      bytes[i] = static_cast<char>(std::lround(values[i] / most * 255));
    const auto [it, is_new] = places_.try_emplace(bytes, places_.size());
    if (is_new) all_ += bytes;
    w.open('[').value(it->second).value(most).close(']');
  }
  const std::string& all() const { return all_; }

 private:
  const TimeBins& bins_;
  const size_t count_;
  std::unordered_map<std::string, size_t> places_;
  std::string all_;
};

/// What they are, once, and of each its number.
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

void write_system(JsonWriter& w, const topology::Graph& system) {
  Words kinds;
  w.key("nodes").open('[');
  for (const topology::Node& n : system.nodes) {
    w.open('[').value(n.id).value(kinds.number(n.kind)).close(']');
  }
  w.close(']').field("node_kinds", kinds.list());
  Words edge_kinds;
  w.key("edges").open('[');
  for (size_t e = 0; e < system.edges.size(); ++e) {
    const topology::Edge& edge = system.edges[e];
    w.open('[').value(edge.from).value(edge.to).value(edge_kinds.number(edge.kind));
    w.value(system.effective_bw(static_cast<uint32_t>(e))).close(']');
  }
  w.close(']').field("edge_kinds", edge_kinds.list());
}

void write_bins(JsonWriter& w, const TimelineRecorder& r, size_t edges, double sim_ns) {
  const TimeBins& bins = r.bins();
  const auto count = std::max<size_t>(1, static_cast<size_t>(std::ceil(sim_ns / bins.width_ns())));
  SeriesTable table(bins, count);
  w.key("bins").open('{').field("width_ns", bins.width_ns()).field("count", count);
  w.key("links").open('[');
  for (uint32_t e = 0; e < edges; ++e) {
    if (bins.of(r.link(e)).empty()) continue;
    w.open('[').value(e);
    table.write(w, r.link(e));
    w.close(']');
  }
  w.close(']').key("memories").open('[');
  for (const auto& [node, m] : r.memories()) {
    if (bins.of(m.read).empty() && bins.of(m.write).empty()) continue;
    w.open('[').value(node);
    table.write(w, m.read);
    table.write(w, m.write);
    w.open('[');
    for (const size_t c : m.channels) table.write(w, c);
    w.close(']').close(']');
  }
  w.close(']').field("series", base64(table.all())).close('}');
}

void write_slices(JsonWriter& w, const TimelineRecorder& r) {
  std::string bytes;
  w.key("tracks").open('[');
  for (const auto& [place, slices] : r.tracks()) {
    w.open('[');
    place.first == TimelineRecorder::kHost ? w.value(-1) : w.value(place.first);
    w.value(r.track_name(place.second)).value(slices.size()).close(']');
    append_slices(bytes, slices);
  }
  w.close(']').key("ops").open('[');
  for (const TimelineRecorder::Op& op : r.ops()) w.open('[').value(op.name).value(op.line).close(']');
  w.close(']').field("slices", base64(bytes));
}

}  // namespace

void HtmlReport::host(const std::vector<HostPhase>& phases) {
  for (const HostPhase& p : phases) recorder_.host(p.track, p.name, p.from_ns, p.to_ns);
}

std::string HtmlReport::data(const RunReport& r) const {
  std::string text;
  JsonWriter w(text, JsonWriter::Layout::compact, JsonWriter::Reals::decimal);
  const topology::Graph& system = machine_.graph();
  spec::write(w.open('{').key("run"), r.document, true);
  w.field("name", r.kernel).field("topology", r.topology).field("sim_ns", r.end_ns);
  w.field("start_ns", r.start_ns).field("launch", r.launch).field("transfer", r.timed_transfer ? "timed" : "instant");
  w.field("events", r.events)
      .field("wall_s", r.wall_s)
      .field("verified", r.verified)
      .field("passed", passed(r.tensors));
  w.key("params").open('{');
  for (const auto& [name, value] : r.params) w.field(name, value);
  w.close('}').field("notes", r.notes);
  insight::write_insight_json(w.key("insight"), *r.insight);
  write_figures(w.key("figures"), r);
  if (r.energy) energy::write_energy_json(w.key("energy"), *r.energy);
  w.key("resource_titles").open('{');
  for (size_t i = 0; i < insight::kResources; ++i)
    w.field(std::string(name_of(static_cast<insight::Resource>(i))), title_of(static_cast<insight::Resource>(i)));
  w.close('}').key("scaled_parts").open('[');
  for (const insight::ScaledPart& p : insight::scaled_parts()) {
    if (insight::resource_of(p.name)) w.value(p.name);
  }
  w.close(']').field("causes", base64(causes_)).field("most_causes", kMostCauses);
  w.key("engines").open('[');
  for (const EngineReport& e : r.engines) write_engine_json(w, e);
  w.close(']').key("pes").open('[');
  for (const topology::Pe& pe : system.pes) w.value(pe.id);
  w.close(']');
  write_system(w, system);
  topology::write_plans(w.key("plans"), system);
  write_bins(w, recorder_, system.edges.size(), r.end_ns);
  write_slices(w, recorder_);
  w.close('}');
  return text;
}

namespace {

std::string stages_by_kind() {
  const Kinds& kinds = component_catalog().kinds();
  std::string text;
  JsonWriter w(text);
  w.open('{');
  for (const std::string& kind : kinds.of_engines()) {
    w.key(kind).open('[');
    for (const EngineStage& s : kinds.find(kind)->facts.engine.stages) w.value(name_of(s.stage));
    w.close(']');
  }
  w.close('}');
  return text;
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

}  // namespace kernbench
