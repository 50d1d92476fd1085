// A run's report for people and for tools.
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <map>
#include <nlohmann/json.hpp>
#include <ostream>

#include "kernbench/platform/tools/run.h"

namespace kernbench {

namespace {

std::string fixed(double v, int digits) {
  char text[64];
  std::snprintf(text, sizeof text, "%.*f", digits, v);
  return text;
}

/// "12,345,678".
std::string grouped(uint64_t v) {
  std::string s = std::to_string(v);
  for (int i = static_cast<int>(s.size()) - 3; i > 0; i -= 3) s.insert(static_cast<size_t>(i), ",");
  return s;
}

std::string bytes_text(double v) {
  const char* units[] = {"B", "KB", "MB", "GB", "TB"};
  int u = 0;
  while (v >= 1024 && u < 4) {
    v /= 1024;
    ++u;
  }
  return fixed(v, u ? 2 : 0) + " " + units[u];
}

std::string time_text(double ns) {
  if (ns >= 1e6) return fixed(ns / 1e6, 3) + " ms";
  if (ns >= 1e4) return fixed(ns / 1e3, 3) + " us";
  return fixed(ns, 3) + " ns";
}

std::string pad(const std::string& s, size_t w, bool right = true) {
  const std::string fill(w > s.size() ? w - s.size() : 0, ' ');
  return right ? fill + s : s + fill;
}

}  // namespace

namespace {

/// Shares of the run's time in percent, for one engine or the mean of many.
void write_engine_line(std::ostream& out, const EngineReport& e, size_t name_width, double whole_ns) {
  const auto share = [&](double ns, size_t width) {
    return pad(ns > 0 && whole_ns > 0 ? fixed(100 * ns / whole_ns, 1) : "-", width);
  };
  out << "  " << pad(e.id, name_width, false) << share(e.busy_ns, 9) << share(e.link_wait_ns, 8)
      << share(e.memory_wait_ns, 8) << share(e.slot_wait_ns, 8) << share(e.queue_full_ns, 12) << share(e.idle_ns, 8)
      << pad(grouped(e.ops), 10) << pad(e.bytes ? bytes_text(static_cast<double>(e.bytes)) : "-", 12)
      << pad(e.flops > 0 ? fixed(e.flops / 1e9, 4) : "-", 11) << "\n";
}

/// Where the time went: all PEs' engines by their part, then the busiest single ones.
void write_engines(std::ostream& out, const RunReport& r) {
  std::vector<EngineReport> parts;  // in order of first appearance
  std::map<std::string, size_t> index;
  std::vector<const EngineReport*> busiest;
  size_t pe = 0;  // engines come PE by PE
  for (const EngineReport& e : r.engines) {
    while (pe < r.pes.size() && e.id.compare(0, r.pes[pe].id.size() + 1, r.pes[pe].id + ".") != 0) ++pe;
    if (e.ops == 0) continue;
    busiest.push_back(&e);
    const std::string part = pe < r.pes.size() ? e.id.substr(r.pes[pe].id.size() + 1) : e.id;
    const auto [it, added] = index.emplace(part, parts.size());
    if (added) {
      parts.emplace_back();
      parts.back().id = part;
    }
    EngineReport& sum = parts[it->second];
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
  if (busiest.empty()) return;
  std::stable_sort(busiest.begin(), busiest.end(), [](auto* a, auto* b) { return a->utilization > b->utilization; });
  if (busiest.size() > 4) busiest.resize(4);
  size_t w = 15;
  for (const auto* e : busiest) w = std::max(w, e->id.size());
  const auto heading = [&](const std::string& title) {
    out << "\n  " << pad(title, w, false) << pad("busy %", 9) << pad("link", 8) << pad("memory", 8) << pad("slot", 8)
        << pad("queue full", 12) << pad("idle", 8) << pad("ops", 10) << pad("bytes", 12) << pad("GFLOP", 11) << "\n";
  };
  heading("all PEs");
  for (const EngineReport& e : parts) write_engine_line(out, e, w, r.end_ns * e.servers);
  heading("busiest engines");
  for (const EngineReport* e : busiest) write_engine_line(out, *e, w, r.end_ns * e->servers);
  out << "  % of the run; link and memory: waits inside busy; slot: for the accel_slot; queue full: the next stage has "
         "no "
         "room\n";
}

}  // namespace

void write_run_text(std::ostream& out, const RunReport& r) {
  double flops = 0;
  uint64_t read = 0, written = 0;
  for (const EngineReport& e : r.engines) {
    flops += e.flops;
    const auto ends = [&](const char* s) { return e.id.size() > 3 && e.id.compare(e.id.size() - 3, 3, s) == 0; };
    if (ends(".rd")) read += e.bytes;
    if (ends(".wr")) written += e.bytes;
  }
  out << r.kernel << " on " << r.topology << ", " << r.pes.size() << (r.pes.size() == 1 ? " PE: " : " PEs: ")
      << time_text(r.end_ns);
  if (r.verified) out << (r.passed ? ", verified" : ", VERIFICATION FAILED");
  out << "\n\n";
  out << "  time         " << fixed(r.end_ns, 3) << " ns\n";
  out << "  launch       ";
  if (r.launch == "host") {
    out << "host: every kernel starts at " << fixed(r.start_ns, 3)
        << " ns, when the launch has reached the last PE; time ends "
        << (r.timed_transfer ? "with the read-back\n" : "when the host has the last completion\n");
  } else {
    out << r.launch << ": every kernel starts at " << fixed(r.start_ns, 3) << " ns, at no cost"
        << (r.launch_note.empty() ? "" : " (" + r.launch_note + ")") << "\n";
  }
  out << "  transfer     ";
  if (r.timed_transfer) {
    out << "timed: inputs uploaded in " << fixed(r.upload_ns, 3) << " ns before the launch, outputs read back in "
        << fixed(r.download_ns, 3) << " ns after it\n";
  } else {
    out << "instant: tensors are placed and read back at no cost\n";
  }
  if (r.addresses == AddressMode::virtual_) {
    out << "  addresses    virtual: mapped "
        << (r.timed_transfer ? "by messages in " + fixed(r.map_ns, 3) + " ns before the uploads\n" : "at no cost\n");
  }
  if (r.end_ns > 0) {
    out << "  compute      " << fixed(flops / r.end_ns / 1e3, 3) << " TFLOP/s (" << fixed(flops / 1e9, 3)
        << " GFLOP)\n";
    out << "  memory       " << fixed(static_cast<double>(read + written) / r.end_ns, 2) << " GB/s ("
        << bytes_text(static_cast<double>(read)) << " read, " << bytes_text(static_cast<double>(written))
        << " written)\n";
  }
  out << "  parameters  ";
  for (const auto& [name, value] : r.params) out << ' ' << name << '=' << value;
  out << "\n";
  if (!r.pes.empty()) {
    const auto last =
        std::max_element(r.pes.begin(), r.pes.end(), [](const auto& a, const auto& b) { return a.end_ns < b.end_ns; });
    const auto first =
        std::min_element(r.pes.begin(), r.pes.end(), [](const auto& a, const auto& b) { return a.end_ns < b.end_ns; });
    out << "  PEs          first done at " << time_text(first->end_ns) << " (" << first->id << "), last at "
        << time_text(last->end_ns) << " (" << last->id << ")\n";
  }

  write_engines(out, r);
  if (r.verified) out << "\n" << to_text(r.tensors);
  if (r.races_checked) out << "\n" << (r.races.empty() ? "no races\n" : races_text(r.races, r.pe_names));
  out << "\n  wall " << fixed(r.wall_s, 2) << " s (simulation " << fixed(r.phase1_s, 2) << ", replay "
      << fixed(r.phase2_s, 2) << "), " << grouped(r.events) << " events\n";
}

void write_run_json(std::ostream& out, const RunReport& r) {
  using nlohmann::ordered_json;
  ordered_json j;
  j["kernel"] = r.kernel;
  j["params"] = ordered_json::object();
  for (const auto& [name, value] : r.params) {
    const auto v = ordered_json::parse(value, nullptr, false);  // numbers and truth values as such, the rest as text
    j["params"][name] = v.is_number() || v.is_boolean() ? v : ordered_json(value);
  }
  j["topology"] = r.topology;
  j["launch"] = r.launch;
  if (!r.launch_note.empty()) j["launch_note"] = r.launch_note;
  j["transfer"] = r.timed_transfer ? "timed" : "instant";
  if (r.timed_transfer) {
    j["upload_ns"] = r.upload_ns;
    j["download_ns"] = r.download_ns;
  }
  if (r.addresses == AddressMode::virtual_) {
    j["addresses"] = name_of(r.addresses);
    if (r.timed_transfer) j["map_ns"] = r.map_ns;
  }
  j["start_ns"] = r.start_ns;
  j["end_ns"] = r.end_ns;
  j["sim_ns"] = r.end_ns;
  j["pes"] = ordered_json::array();
  for (const auto& p : r.pes) j["pes"].push_back({{"id", p.id}, {"start_ns", p.start_ns}, {"end_ns", p.end_ns}});
  j["engines"] = ordered_json::array();
  for (const auto& e : r.engines) {
    j["engines"].push_back({{"id", e.id},
                            {"busy_ns", e.busy_ns},
                            {"ops", e.ops},
                            {"bytes", e.bytes},
                            {"flops", e.flops},
                            {"utilization", e.utilization},
                            {"servers", e.servers},
                            {"stalls",
                             {{"idle_ns", e.idle_ns},
                              {"slot_ns", e.slot_wait_ns},
                              {"queue_full_ns", e.queue_full_ns},
                              {"link_ns", e.link_wait_ns},
                              {"memory_ns", e.memory_wait_ns}}}});
  }
  j["events"] = r.events;
  j["wall_s"] = r.wall_s;
  if (r.verified) {
    ordered_json tensors = ordered_json::array();
    for (const TensorReport& t : r.tensors) {
      ordered_json shape = ordered_json::array();
      for (int64_t d : t.shape) shape.push_back(d);
      tensors.push_back({{"name", t.name},
                         {"dtype", name_of(t.dtype)},
                         {"shape", shape},
                         {"passed", t.passed},
                         {"max_abs_err", t.max_abs_err},
                         {"max_rel_err", t.max_rel_err},
                         {"mismatches", t.mismatches}});
      if (!t.passed) tensors.back()["reason"] = t.reason;
    }
    j["verify"] = {{"passed", r.passed}, {"tensors", tensors}};
  }
  if (r.races_checked) j["races"] = ordered_json::parse(races_json(r.races, r.pe_names));
  out << j.dump(1) << "\n";
}

}  // namespace kernbench
