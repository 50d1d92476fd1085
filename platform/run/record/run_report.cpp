// SPDX-License-Identifier: Apache-2.0
// Text and JSON report of a run.
#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>
#include <ostream>

#include "kernbench/phase2/energy/account.h"
#include "kernbench/phase2/text/forms.h"
#include "kernbench/phase2/text/print.h"
#include "kernbench/platform/insight/insight.h"
#include "kernbench/platform/run/record/figures.h"
#include "kernbench/platform/run/record/run_report.h"

namespace kernbench {

std::string bytes_text(uint64_t bytes) {
  const char* units[] = {"B", "KiB", "MiB", "GiB", "TiB"};
  auto v = static_cast<double>(bytes);
  int u = 0;
  while (v >= 1024 && u < 4) {
    v /= 1024;
    ++u;
  }
  return fmt::format("{:.{}f} {}", v, u ? 2 : 0, units[u]);
}

std::string time_text(double ns) {
  if (ns >= 1e6) return fmt::format("{:.3f} ms", ns / 1e6);
  if (ns >= 1e4) return fmt::format("{:.3f} us", ns / 1e3);
  return fmt::format("{:.3f} ns", ns);
}

namespace {

void add_to(EngineReport& sum, const EngineReport& e) {
  sum.busy_ns += e.busy_ns;
  sum.ops += e.ops;
  sum.bytes += e.bytes;
  sum.flops += e.flops;
  sum.idle_ns += e.idle_ns;
  sum.slot_wait_ns += e.slot_wait_ns;
  sum.queue_full_ns += e.queue_full_ns;
  sum.link_wait_ns += e.link_wait_ns;
  sum.memory_wait_ns += e.memory_wait_ns;
  sum.servers += e.servers;
}

/// Reasons of blocked messages: for each the mean of the engines that have it, and the engine with the maximum.
void write_message_stalls(std::ostream& out, const RunReport& r, size_t name_width) {
  struct Row {
    const char* reason;
    size_t engines;
    double sum_ns, most_ns;
    const EngineReport* most;
  };
  std::vector<Row> rows;  // in order of first appearance
  for (const EngineReport& e : r.engines) {
    for (const auto& [reason, ns] : e.message_stalls) {
      const auto is_it = [wanted = std::string_view(reason)](const Row& row) { return row.reason == wanted; };
      auto row = std::find_if(rows.begin(), rows.end(), is_it);
      if (row == rows.end()) row = rows.insert(rows.end(), {reason, 0, 0, 0, nullptr});
      ++row->engines;
      row->sum_ns += ns;
      if (ns <= row->most_ns) continue;
      row->most_ns = ns;
      row->most = &e;
    }
  }
  if (std::none_of(rows.begin(), rows.end(), [](const Row& row) { return row.most; })) return;
  print_to(out, "\n  {:{}}{:>9}{:>8}\n", "messages stood still", name_width, "mean %", "most %");
  for (const Row& row : rows) {
    if (!row.most) continue;
    std::string words = row.reason;
    std::replace(words.begin(), words.end(), '_', ' ');
    print_to(out, "  {:{}}{:>9.1f}{:>8.1f}  {}\n", words, name_width,
             100 * row.sum_ns / (r.end_ns * static_cast<double>(row.engines)), 100 * row.most_ns / r.end_ns,
             row.most->id);
  }
  out << "  % of the run in which at least one call, or segment, of an engine did: docs/queues.md\n";
}

}  // namespace

void write_engines(std::ostream& out, const RunReport& r) {
  std::vector<EngineReport> parts;  // in order of first appearance
  std::map<std::string, size_t> index;
  std::vector<EngineReport> busiest;
  size_t pe = 0;  // engines are sorted by PE
  for (const EngineReport& e : r.engines) {
    while (pe < r.pes.size() && e.id.compare(0, r.pes[pe].id.size() + 1, r.pes[pe].id + ".") != 0) ++pe;
    if (e.ops == 0) continue;
    busiest.push_back(e);
    const std::string part = pe < r.pes.size() ? e.id.substr(r.pes[pe].id.size() + 1) : e.id;
    const auto [it, added] = index.emplace(part, parts.size());
    if (added) parts.emplace_back().id = part;
    add_to(parts[it->second], e);
  }
  if (busiest.empty()) return;
  std::stable_sort(busiest.begin(), busiest.end(), [](auto& a, auto& b) { return a.utilization > b.utilization; });
  if (busiest.size() > 4) busiest.resize(4);
  size_t width = 15;
  for (const EngineReport& e : busiest) width = std::max(width, e.id.size());
  for (const auto& [title, engines] : {std::pair("all PEs", &parts), {"busiest engines", &busiest}}) {
    TextFields t(out, 2, "", {-static_cast<int>(width), 9, 8, 8, 8, 12, 8, 10, 12, 11});
    out << "\n";
    t.rows(*engines, [&, heading = title](const EngineReport& e) {
      const auto share = [&](double ns) {
        const double whole_ns = r.end_ns * e.servers;
        return ns > 0 && whole_ns > 0 ? std::optional(100 * ns / whole_ns) : std::nullopt;
      };
      t("", e.id, {heading})("", share(e.busy_ns), {"busy %", 1})("", share(e.link_wait_ns), {"link", 1});
      t("", share(e.memory_wait_ns), {"memory", 1})("", share(e.slot_wait_ns), {"slot", 1});
      t("", share(e.queue_full_ns), {"queue full", 1})("", share(e.idle_ns), {"idle", 1});
      t("", grouped(e.ops), {"ops"})("", e.bytes ? bytes_text(e.bytes) : "-", {"bytes"});
      t("", e.flops > 0 ? std::optional(e.flops / 1e9) : std::nullopt, {"GFLOP", 4});
    });
  }
  out << "  % of the run; link and memory: waits within busy; slot: waits for the accel_slot; queue full: waits for "
         "room in the next stage\n";
  write_message_stalls(out, r, width);
}

namespace {

/// Launch mode, and the transfers of tensors.
void write_way(std::ostream& out, const RunReport& r) {
  if (r.launch == "host") {
    print_to(
        out,
        "  launch       host: every kernel starts at {:.3f} ns, when the launch has reached the last PE; time ends "
        "{}\n",
        r.start_ns, r.timed_transfer ? "with the read-back" : "when the host has the last completion");
  } else {
    print_to(out, "  launch       {}: every kernel starts at {:.3f} ns, at no cost{}\n", r.launch, r.start_ns,
             r.launch_note.empty() ? "" : " (" + r.launch_note + ")");
  }
  if (r.timed_transfer) {
    print_to(
        out,
        "  transfer     timed: inputs uploaded in {:.3f} ns before the launch, outputs read back in {:.3f} ns after "
        "it\n",
        r.upload_ns, r.download_ns);
  } else {
    out << "  transfer     instant: tensors are placed and read back at no cost\n";
  }
  if (r.addresses == AddressMode::virtual_) {
    print_to(out, "  addresses    virtual: mapped {}\n",
             r.timed_transfer ? fmt::format("by messages in {:.3f} ns before the uploads", r.map_ns) : "at no cost");
  }
}

}  // namespace

void write_rates(std::ostream& out, const RunReport& r) {
  double flops = 0;
  uint64_t read = 0, written = 0;
  for (const EngineReport& e : r.engines) {
    flops += e.flops;
    const auto ends = [&](const char* s) { return e.id.size() > 3 && e.id.compare(e.id.size() - 3, 3, s) == 0; };
    if (ends(".rd")) read += e.bytes;
    if (ends(".wr")) written += e.bytes;
  }
  if (r.end_ns <= 0) return;
  const double share = r.gemm_peak_share();
  print_to(out, "  compute      {:.3f} TFLOP/s ({:.3f} GFLOP){}\n", flops / r.end_ns / 1e3, flops / 1e9,
           share > 0 ? fmt::format(", {:.1f} % of the GEMM peak", 100 * share) : "");
  print_to(out, "  memory       {:.2f} GB/s ({} read, {} written)\n", static_cast<double>(read + written) / r.end_ns,
           bytes_text(read), bytes_text(written));
}

std::string choice_text(const LaunchNotes& notes) {
  std::string text = fmt::format("{} of {} members", notes.algorithm, notes.members);
  const char* between = notes.simulated ? "; simulated alone " : "; by the cost table ";
  for (const auto& [name, ns] : notes.costs_ns) {
    text += fmt::format("{}{} {:.3f} ns", between, name, ns);
    between = ", ";
  }
  return text;
}

namespace {

/// Scalar work of kernels on pe_cpu besides calls; omitted if there is none.
void write_scalar_work(std::ostream& out, const RunReport& r) {
  double sum = 0;
  const RunReport::PeTimes* most = nullptr;
  for (const RunReport::PeTimes& pe : r.pes) {
    sum += pe.scalar_ns;
    if (!most || pe.scalar_ns > most->scalar_ns) most = &pe;
  }
  if (sum == 0) return;
  print_to(out, "  scalar work  of kernels on pe_cpu: {} a PE, most {} ({})\n",
           time_text(sum / static_cast<double>(r.pes.size())), time_text(most->scalar_ns), most->id);
}

}  // namespace

double RunReport::gemm_peak_share() const {
  double peak_ns = 0;
  for (const EngineReport& e : engines) peak_ns += e.peak_ns;
  return pes.empty() || end_ns <= 0 ? 0 : peak_ns / (end_ns * static_cast<double>(pes.size()));
}

double RunReport::whole_ns() const {
  double ns = end_ns;
  for (const Repeated& p : repeated) ns += (p.times - 1) * (p.to_ns - p.from_ns);
  return ns;
}

insight::RunFigures figures_of(const RunReport& r) {
  insight::RunFigures f;
  for (const RunReport::Repeated& p : r.repeated) f.repeated.push_back({p.from_ns, p.to_ns, p.times});
  f.begin_ns = r.begin_ns;
  f.sim_ns = r.end_ns;
  std::map<std::string, size_t> pes;
  for (const RunReport::PeTimes& pe : r.pes) {
    pes.emplace(pe.id, f.pes.size());
    f.pes.push_back({pe.id, pe.end_ns, false});
  }
  for (const EngineReport& e : r.engines) {
    for (size_t at = e.id.find('.'); at != std::string::npos; at = e.id.find('.', at + 1)) {
      const auto pe = pes.find(e.id.substr(0, at));
      if (pe == pes.end()) continue;
      insight::RunFigures::Pe& of = f.pes[pe->second];
      of.works = of.works || e.ops > 0;
      of.flops += e.flops;
      if (e.id.compare(at, std::string::npos, ".pe_dma.rd") == 0 ||
          e.id.compare(at, std::string::npos, ".pe_dma.wr") == 0)
        of.dma_bytes += e.bytes;
    }
    f.flops += e.flops;
    if (e.elementwise) f.math_ns += e.busy_ns;
    if (e.peak_ns <= 0) continue;
    f.gemm_flops += e.flops;
    f.gemm_peak_ns += e.peak_ns;
  }
  return f;
}

/// Durations of Triton programs, and the use of PEs until the first one became idle.
void write_programs(std::ostream& out, const RunReport& r) {
  double least = r.programs[0].end_ns - r.programs[0].start_ns, most = least, sum = 0;
  std::map<std::string, double> ends;
  for (const auto& p : r.programs) {
    const double ns = p.end_ns - p.start_ns;
    least = std::min(least, ns);
    most = std::max(most, ns);
    sum += ns;
    ends[p.pe] = std::max(ends[p.pe], p.end_ns);
  }
  double first = ends.begin()->second, last = first;
  for (const auto& [pe, ns] : ends) {
    first = std::min(first, ns);
    last = std::max(last, ns);
  }
  print_to(out, "  programs     {} in {} {}, {} each ({} to {}), tail {}\n", r.programs.size(), r.waves,
           r.waves == 1 ? "wave" : "waves", time_text(sum / static_cast<double>(r.programs.size())), time_text(least),
           time_text(most), time_text(last - first));
}

void write_findings(std::ostream& out, const RunReport& r) {
  if (r.energy) energy::write_energy_text(out, *r.energy);
  if (r.insight) insight::write_insight_text(out, *r.insight);
  write_engines(out, r);
  if (r.verified) out << "\n" << to_text(r.tensors);
  if (!r.races_unknown.empty()) {
    out << "\nraces: not known: " << r.races_unknown << "\n";
  } else if (r.races_checked) {
    out << "\n" << (r.races.empty() ? "no races\n" : races_text(r.races, r.pe_names));
  }
  print_to(out, "\n  wall {:.2f} s (simulation {:.2f}, replay {:.2f}), {} events\n", r.wall_s, r.phase1_s, r.phase2_s,
           grouped(r.events));
}

const char* verdict_text(const RunReport& r) {
  if (!r.verified) return "";
  const auto outputs = passed(r.tensors);
  return !outputs ? ", nothing to verify" : *outputs ? ", verified" : ", VERIFICATION FAILED";
}

void write_run_text(std::ostream& out, const RunReport& r) {
  print_to(out, "{} on {}, {} {}: {}{}\n\n", r.kernel, r.topology, r.pes.size(), r.pes.size() == 1 ? "PE" : "PEs",
           time_text(r.end_ns), verdict_text(r));
  print_to(out, "  time         {:.3f} ns\n", r.end_ns);
  write_way(out, r);
  write_rates(out, r);
  out << "  parameters  ";
  for (const auto& [name, value] : r.params) out << ' ' << name << '=' << value;
  out << "\n";
  if (!r.launch_notes.algorithm.empty()) print_to(out, "  algorithm    {}\n", choice_text(r.launch_notes));
  if (!r.pes.empty()) {
    const auto sooner = [](const auto& a, const auto& b) { return a.end_ns < b.end_ns; };
    const auto first = std::min_element(r.pes.begin(), r.pes.end(), sooner);
    const auto last = std::max_element(r.pes.begin(), r.pes.end(), sooner);
    print_to(out, "  PEs          first done at {} ({}), last at {} ({})\n", time_text(first->end_ns), first->id,
             time_text(last->end_ns), last->id);
  }
  if (!r.programs.empty()) write_programs(out, r);

  write_scalar_work(out, r);
  write_findings(out, r);
}

void describe(Fields& f, EngineReport& e) {
  // A difference of times; rounding may make it slightly negative.
  const auto stall = [](double ns) { return ns < 0 && ns > -1e-6 ? 0 : ns; };
  f("id", e.id)("busy_ns", e.busy_ns)("ops", e.ops)("bytes", e.bytes)("flops", e.flops)("utilization", e.utilization);
  f("servers", e.servers)("stalls", [&] {
    f("idle_ns", stall(e.idle_ns))("slot_ns", stall(e.slot_wait_ns))("queue_full_ns", stall(e.queue_full_ns));
    f("link_ns", stall(e.link_wait_ns))("memory_ns", stall(e.memory_wait_ns));
    for (auto& [reason, ns] : e.message_stalls) f(std::string(reason) + "_ns", stall(ns));
  });
}

void describe(Fields& f, SegmentAccount& a) {
  for (const SegmentPart& p : kSegmentParts) f(p.name, a.*p.ns);
}

void describe(Fields& f, QueueTraffic& q) {
  f("from", q.from)("port", q.port)("to", q.to)("peer_port", q.peer_port)("messages", q.messages);
  f("segments", q.segments)("bytes", q.bytes)("account", q.account);
}

void describe(Fields& f, MemoryReport& r) {
  f("id", r.id);
  for (auto& [name, value] : r.counters) {
    const bool time = name.size() > 3 && name.compare(name.size() - 3, 3, "_ns") == 0;
    time ? f(name, value) : f(name, static_cast<uint64_t>(value));
  }
}

void describe(Fields& f, RunReport::PeTimes& p) {
  f("id", p.id)("start_ns", p.start_ns)("end_ns", p.end_ns)("scalar_ns", p.scalar_ns);
}

void describe(Fields& f, RunReport::ProgramTimes& p) {
  f("id", p.id)("pe", p.pe)("start_ns", p.start_ns)("end_ns", p.end_ns);
}

void describe_choice(Fields& f, const LaunchNotes& notes) {
  if (notes.algorithm.empty()) return;
  f("algorithm", notes.algorithm)("members", notes.members)("costs_ns", notes.costs_ns);
  f.given("simulated", notes.simulated);
}

void begin_report(Fields& f, const char* what, const RunReport& r) {
  if (!r.document.version.empty()) f("run", [&] { spec::describe(f, r.document, r.tells_topology); });
  f(what, r.kernel)("params", [&] {
    for (const auto& [name, value] : r.params) f(name, spec::parameter_of(value));
  });
  f("topology", r.topology)("launch", r.launch).given("launch_note", r.launch_note);
  f("transfer", r.timed_transfer ? "timed" : "instant");
}

void describe_figures(Fields& f, const RunReport& r, bool on_page) {
  for (const Figure& figure : figures()) {
    const FigureValue v = figure.of(r);
    if (std::holds_alternative<std::monostate>(v)) continue;
    f(on_page ? title_of(figure.name) : std::string(figure.name), on_page ? shown(figure.name, v) : v);
  }
}

void end_report(Fields& f, const RunReport& r) {
  f("pes", r.pes);
  if (r.waves > 0) f("waves", r.waves)("programs", r.programs);
  f("gemm_peak_share", r.gemm_peak_share())("engines", r.engines).given("queues", r.queues);
  f.given("memories", r.memories)("figures", [&] { describe_figures(f, r); });
  f.given("energy", r.energy).given("insight", r.insight)("events", r.events)("wall_s", r.wall_s);
  if (r.verified) f("verify", [&] { describe_verification(f, r.tensors); });
  if (!r.races_unknown.empty()) {
    f("races", [&] { f("unknown", r.races_unknown); });
  } else if (r.races_checked) {
    describe_races(f, r.races, r.pe_names);
  }
}

void describe(Fields& f, const RunReport& r) {
  begin_report(f, "kernel", r);
  if (r.timed_transfer) f("upload_ns", r.upload_ns)("download_ns", r.download_ns);
  if (r.addresses == AddressMode::virtual_) {
    f("addresses", r.addresses);
    if (r.timed_transfer) f("map_ns", r.map_ns);
  }
  describe_choice(f, r.launch_notes);
  f("start_ns", r.start_ns)("end_ns", r.end_ns)("sim_ns", r.end_ns);
  end_report(f, r);
}

void write_run_json(std::ostream& out, const RunReport& r) {
  write_json(out, r);
}

}  // namespace kernbench
