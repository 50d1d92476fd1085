// SPDX-License-Identifier: Apache-2.0
#include "kernbench/platform/observe/waveform.h"

#include <fmt/format.h>

#include <fnmatch.h>

#include <algorithm>
#include <cctype>
#include <cmath>

#include "kernbench/phase2/op/errors.h"
#include "kernbench/phase2/op/femtoseconds.h"
#include "kernbench/platform/elaborate/fabric_watch.h"
#include "kernbench/platform/energy/meter.h"
#include "kernbench/platform/observe/time_window.h"
#include "kernbench/platform/observe/trace_file_signals.h"
#include "kernbench/platform/platform.h"
#include "kernbench/systemc_models/core/component_catalog.h"
#include "kernbench/systemc_models/fabric/memory_target.h"

namespace kernbench::observe {

namespace {

constexpr double kWindowNs = 100;  // window of the links' utilisation

/// Codes of all states, as in the translate file: first those of a server, then the feed loop, then a kernel.
constexpr uint64_t kFirstFeedState = 4, kFirstKernelState = 6;

uint64_t code_of(Activity a) {
  return static_cast<uint64_t>(a);
}
uint64_t code_of(FeedActivity a) {
  return a == FeedActivity::idle ? 0 : kFirstFeedState - 1 + static_cast<uint64_t>(a);
}
uint64_t code_of(KernelActivity a) {
  return a == KernelActivity::idle ? 0 : kFirstKernelState - 1 + static_cast<uint64_t>(a);
}

bool matches(const std::string& id, const std::string& pattern) {
  for (size_t end = id.size(); end != std::string::npos && end > 0; end = id.rfind('.', end - 1)) {
    if (fnmatch(pattern.c_str(), id.substr(0, end).c_str(), 0) == 0) return true;
  }
  return false;
}

/// A port's name as a level's name: VCD separates names with blanks.
std::string level_of(std::string port) {
  std::replace_if(
      port.begin(), port.end(), [](unsigned char c) { return !std::isgraph(c); }, '_');
  return port;
}

}  // namespace

Waveform::Waveform(Platform& platform, const WaveformOptions& o)
    : platform_(platform),
      sink_(std::make_unique<VcdWriter>(o.file, o.from_ns <= 0)),
      vcd_(static_cast<VcdWriter*>(sink_.get())),
      view_(o.file),
      meter_(o.meter) {
  TimeWindow{o.from_ns, o.to_ns}.check("vcd");
  if (meter_) power_ = vcd_->add_real(platform.name(), "power");
  attach(o.scopes);
  if (o.from_ns > 0) vcd_->record(from_fs_ = femtoseconds(o.from_ns), true);
  if (std::isfinite(o.to_ns)) vcd_->record(to_fs_ = femtoseconds(o.to_ns), false);
  try {
    view_->write(0, 0);
  } catch (...) {
    vcd_->forget();  // nothing has happened
    throw;
  }
}

Waveform::Waveform(Platform& platform, sc_core::sc_trace_file& file, const std::vector<std::string>& scopes)
    : platform_(platform),
      sink_(std::make_unique<TraceFileSignals>(file, platform.timeline())),
      vcd_(nullptr),
      meter_(nullptr) {
  attach(scopes);
}

void Waveform::attach(const std::vector<std::string>& scopes) {
  const topology::Graph& graph = platform_.graph();
  chosen_.assign(graph.nodes.size(), scopes.empty());
  pes_.resize(platform_.pes().count());
  nodes_.resize(graph.nodes.size());
  links_.resize(graph.edges.size());
  for (const std::string& pattern : scopes) {
    bool found = false;
    for (size_t n = 0; n < chosen_.size(); ++n) {
      if (!matches(graph.nodes[n].id, pattern)) continue;
      chosen_[n] = found = true;
    }
    if (!found) throw InputError("--vcd-scope: found '" + pattern + "', which no node of the topology matches");
  }
  // PE by PE, then the fabric: the order of the first view.
  for (size_t p = 0; p < pes_.size(); ++p) add_engines(p);
  for (uint32_t n = 0; n < chosen_.size(); ++n) {
    if (chosen_[n]) add_signals(n);
  }
  sink_->begin();
}

Waveform::~Waveform() {
  if (user_) user_->finish();
  for (size_t p = 0; p < pes_.size(); ++p) platform_.pes().pe(p).observers.remove(*this);
  unwatch_fabric(platform_.machine(), *this);
}

std::string Waveform::scope_of(uint32_t node) const {
  return std::string(platform_.name()) + "." + platform_.graph().nodes[node].id;
}

Waveform::Variable Waveform::add(const std::string& scope, const char* name, unsigned bits, TraceKind kind,
                                 uint64_t initial) {
  if (view_) view_->add(scope, name, bits, kind);
  return sink_->add(scope, name, bits, initial);
}

void Waveform::add_engines(size_t p) {
  PeSignals& signals = pes_[p];
  for (const auto& [kind, node] : platform_.graph().pes[p].blocks) {
    if (!chosen_[node]) continue;
    const std::string scope = scope_of(node);
    if (kind == "pe_cpu") {
      signals.traced = signals.runs = true;
      signals.kernel_state = add(scope, "state", 3, TraceKind::state);
      signals.kernel_busy = add(scope, "busy", 1, TraceKind::bit);
    } else if (kind == "pe_scheduler") {
      signals.traced = signals.feeds = true;
      signals.feed_state = add(scope, "state", 3, TraceKind::state);
      signals.tiles = add(scope, "tiles_in_flight", 16, TraceKind::amount);
    } else if (kind == "pe_ipcq") {
      signals.traced = true;  // its signals are created with its ports
    }
  }
  for (const auto& [block, engine, index] : platform_.pes().pe(p).engines) {
    if (!chosen_[index]) continue;
    signals.traced = true;
    const auto statistics = engine->statistics();
    for (const StageStatistics& s : statistics) {
      Unit& unit = signals.units[static_cast<int>(s.stage)];
      std::string scope = scope_of(index);
      const EngineStage& facts = component_catalog().kinds().stage(s.stage);
      if (statistics.size() > 1) scope += "." + facts.short_name;
      for (unsigned i = 0; i < s.servers; ++i) {
        const std::string at = s.servers > 1 ? fmt::format("{}.server{}", scope, i) : scope;
        Server server;
        server.state = add(at, "state", 3, TraceKind::state);
        server.busy = add(at, "busy", 1, TraceKind::bit);
        server.tile_id = add(at, "tile_id", 32, TraceKind::id, SignalSink::kNone);
        server.op_id = add(at, "op_id", 64, TraceKind::id, SignalSink::kNone);
        unit.servers.push_back(server);
      }
      unit.queue_depth = add(scope, "queue_depth", 16, TraceKind::amount);
      if (facts.work == StageWork::reads || facts.work == StageWork::writes) {
        NodeSignals& node = nodes_[index];
        node.initiates = true;
        node.bytes_in_flight[facts.work == StageWork::writes] = add(scope, "bytes_in_flight", 32, TraceKind::amount);
      }
    }
  }
  if (signals.traced) platform_.pes().pe(p).observers.add(*this);
}

void Waveform::add_signals(uint32_t n) {
  Component& component = platform_.component(n);
  NodeSignals& signals = nodes_[n];
  const std::string scope = scope_of(n);
  if (platform_.request_port(n) && !signals.initiates) {
    signals.initiates = true;
    signals.bytes_in_flight[0] = signals.bytes_in_flight[1] = add(scope, "initiated_bytes", 32, TraceKind::amount);
  }
  if (const auto* memory = dynamic_cast<MemoryTarget*>(&component)) {
    Traffic& t = signals.memory;
    t.traced = true;
    t.busy = add(scope, "busy", 1, TraceKind::bit);
    t.queue_depth = add(scope, "queue_depth", 16, TraceKind::amount);
    t.bytes = add(scope, "bytes_in_flight", 32, TraceKind::amount);
    const size_t channels = memory->channels();
    for (size_t i = 0; channels > 1 && i < channels; ++i)
      signals.channels.push_back(add(scope + ".channel" + std::to_string(i), "busy", 1, TraceKind::bit));
  }
  if (component.fabric_node()) component.fabric_node()->observers().add(*this);
  if (platform_.system().mode().links_serve()) add_links(n);  // otherwise nothing waits for links
}

void Waveform::add_links(uint32_t n) {
  const topology::Graph& graph = platform_.graph();
  std::vector<Link*> links;
  for (const uint32_t e : graph.out_edges[n]) {
    if (Link* link = platform_.machine().blocks().link(e)) links.push_back(link);
  }
  if (links.empty()) return;
  const std::string scope = scope_of(n);
  Traffic& t = nodes_[n].links;
  if (!nodes_[n].memory.traced && !nodes_[n].initiates) {  // a forwarding block: its links show its activity
    t.traced = true;
    t.busy = add(scope, "busy", 1, TraceKind::bit);
    t.queue_depth = add(scope, "queue_depth", 16, TraceKind::amount);
    t.bytes = add(scope, "bytes_in_flight", 32, TraceKind::amount);
  }
  for (Link* link : links) {
    // The other end without the levels that both share: "to_r0c1", "to_cube1_ucie-W".
    const std::string &from = graph.nodes[n].id, &to = graph.nodes[graph.edges[link->edge].to].id;
    size_t shared = 0;
    for (size_t i = 0; i < std::min(from.size(), to.size()) && from[i] == to[i]; ++i) {
      if (from[i] == '.') shared = i + 1;
    }
    std::string name = "to_" + to.substr(shared);
    std::replace(name.begin(), name.end(), '.', '_');
    LinkSignals& s = links_[link->edge];
    s.from = n;
    s.busy = add(scope + "." + name, "busy", 1, TraceKind::bit);
    s.occupancy = add(scope + "." + name, "occupancy", 16, TraceKind::amount);
    s.utilisation = add(scope + "." + name, "utilisation", 7, TraceKind::amount);
    link->observers.add(*this);
  }
}

void Waveform::close_windows(double now) {
  while (!active_links_.empty() && static_cast<double>(window_ + 1) * kWindowNs <= now) {
    const uint64_t end = femtoseconds(static_cast<double>(++window_) * kWindowNs);
    size_t kept = 0;
    for (LinkSignals* link : active_links_) {
      double busy = 0;
      if (!link->busy_windows.empty()) {
        busy = link->busy_windows.front();
        link->busy_windows.pop_front();
      }
      sink_->set(link->utilisation, end, static_cast<uint64_t>(std::lround(100 * busy / kWindowNs)));
      link->active = busy > 0 || !link->busy_windows.empty();  // one window more, which is 0
      if (link->active) active_links_[kept++] = link;
    }
    active_links_.resize(kept);
  }
  if (active_links_.empty()) window_ = static_cast<uint64_t>(now / kWindowNs);
}

/// Not ahead of the kernel's time: a user's objects change beside the timeline.
double Waveform::now_ns() const {
  return std::max(platform_.timeline().now_ns(), sc_core::sc_time_stamp().to_seconds() * 1e9);
}

void Waveform::present() {
  const double now = platform_.timeline().now_ns();
  close_windows(now);
  if (!meter_) return sink_->advance(femtoseconds(now));
  // A window's power is known when all activities that began in it are over. Until then later changes wait.
  const uint64_t known = meter_->known_windows();
  show_power(known);
  sink_->advance(femtoseconds(meter_->begin_ns()) + known * energy::Meter::kWindowFs);
}

/// Shows windows up to that one.
void Waveform::show_power(uint64_t windows) {
  meter_->power().for_each(power_windows_, windows, [&](uint64_t first, uint64_t, energy::Rontojoules each) {
    sink_->set(power_, femtoseconds(meter_->begin_ns()) + first * energy::Meter::kWindowFs,
               VcdWriter::real_bits(energy::Meter::watts(each)));
  });
  power_windows_ = std::max(power_windows_, windows);
}

void Waveform::start() {
  present();
  if (vcd_) vcd_->record(femtoseconds(now_ns()), true);
}

void Waveform::stop() {
  present();
  if (vcd_) vcd_->record(femtoseconds(now_ns()), false);
}

sc_core::sc_trace_file* Waveform::trace_file() {
  if (meter_) throw InputError("a waveform with power takes no objects of the user: their changes cannot wait");
  if (vcd_ && !user_) user_ = std::make_unique<UserSignals>(*vcd_, [this] { present(); });
  return user_.get();
}

void Waveform::trace(std::function<uint64_t()> value, const std::string& name, int bits) {
  if (trace_file()) user_->add(std::move(value), name, bits);
}

void Waveform::close() {
  if (user_) user_->finish();
  present();
  if (meter_) show_power(meter_->power().windows() + 1);  // one more, which is 0
  const uint64_t end = std::max(femtoseconds(now_ns()), sink_->last_told_fs());
  close_windows(static_cast<double>(end) * 1e-6);
  sink_->close(end);
  if (view_) view_->write(from_fs_, std::min(end, to_fs_));
}

void Waveform::server_changed(const Pe& pe, Stage stage, unsigned server, Activity activity, const PeItem* item,
                              uint64_t op_id, double t) {
  const Unit& unit = pes_[pe.index].units[static_cast<int>(stage)];
  if (unit.servers.empty()) return;
  present();
  const Server& s = unit.servers[server];
  sink_->set(s.state, femtoseconds(t), code_of(activity));
  sink_->set(s.busy, femtoseconds(t), activity == Activity::service);
  sink_->set(s.tile_id, femtoseconds(t), item && item->token ? item->tile_id : SignalSink::kNone);
  sink_->set(s.op_id, femtoseconds(t), item && op_id ? op_id : SignalSink::kNone);
}

void Waveform::queue_changed(const Pe& pe, Stage stage, size_t items, double t) {
  const Unit& unit = pes_[pe.index].units[static_cast<int>(stage)];
  if (unit.servers.empty()) return;
  present();
  sink_->set(unit.queue_depth, femtoseconds(t), items);
}

void Waveform::feed_changed(const Pe& pe, FeedActivity activity, double t) {
  if (!pes_[pe.index].feeds) return;
  present();
  sink_->set(pes_[pe.index].feed_state, femtoseconds(t), code_of(activity));
}

void Waveform::tiles_changed(const Pe& pe, int64_t tiles, double t) {
  if (!pes_[pe.index].feeds) return;
  present();
  sink_->set(pes_[pe.index].tiles, femtoseconds(t), static_cast<uint64_t>(tiles));
}

void Waveform::kernel_changed(const Pe& pe, KernelActivity activity, double t) {
  if (!pes_[pe.index].runs) return;
  present();
  sink_->set(pes_[pe.index].kernel_state, femtoseconds(t), code_of(activity));
  sink_->set(pes_[pe.index].kernel_busy, femtoseconds(t), activity == KernelActivity::runs);
}

void Waveform::ports_opened(const Pe& pe, double) {
  PeSignals& signals = pes_[pe.index];
  const auto& blocks = platform_.graph().pes[pe.index].blocks;
  const auto add_server = [&](const char* kind, const char* name, QueueServer server) {
    const uint32_t node = blocks.at(kind);
    std::optional<Variable>& busy = signals.segment_busy[static_cast<size_t>(server)];
    if (chosen_[node] && !busy) busy = add(scope_of(node) + "." + name, "busy", 1, TraceKind::bit);
  };
  present();
  add_server("pe_dma", "comm", QueueServer::comm);
  if (platform_.system().mode().data_follow_header()) add_server("pe_ipcq", "in", QueueServer::inbound);
  add_server("pe_ipcq", "wr", QueueServer::writer);
  add_server("pe_ipcq", "rd", QueueServer::reader);
  signals.ports.clear();
  if (!chosen_[blocks.at("pe_ipcq")]) return;
  for (const QueuePort& p : pe.ipcq->ports()) {
    const auto [it, is_new] = signals.ports_by_name.try_emplace(p.name);
    if (is_new) {
      const std::string scope = scope_of(blocks.at("pe_ipcq")) + "." + level_of(p.name);
      it->second.fill = add(scope, "fill", 17, TraceKind::amount);
      it->second.free_slots = add(scope, "free_slots", 17, TraceKind::amount);
      it->second.no_slot = add(scope, "waits_for_slot", 1, TraceKind::bit);
      it->second.no_message = add(scope, "waits_for_message", 1, TraceKind::bit);
    }
    signals.ports.push_back(it->second);
  }
}

void Waveform::port_changed(const Pe& pe, uint32_t port, const QueuePortState& state, double t) {
  const PeSignals& signals = pes_[pe.index];
  if (port >= signals.ports.size()) return;
  present();
  const Port& p = signals.ports[port];
  sink_->set(p.fill, femtoseconds(t), state.fill);
  sink_->set(p.free_slots, femtoseconds(t), state.free_slots);
  sink_->set(p.no_slot, femtoseconds(t), state.no_slot);
  sink_->set(p.no_message, femtoseconds(t), state.no_message);
}

void Waveform::segment_taken(const Pe& pe, QueueServer server, const QueueSegment&, double t) {
  change_busy(pe, server, t, 1);
}

void Waveform::segment_served(const Pe& pe, QueueServer server, const QueueSegment&, double, double to) {
  change_busy(pe, server, to, -1);
}

void Waveform::change_busy(const Pe& pe, QueueServer server, double t, int by) {
  const std::optional<Variable>& busy = pes_[pe.index].segment_busy[static_cast<size_t>(server)];
  if (!busy) return;
  present();
  sink_->change(*busy, femtoseconds(t), by);
}

void Waveform::link_crossed(const FabricTransaction&, const Link& link, const LinkCrossing& c) {
  const double ready = c.ready_ns, from = c.start_ns, to = c.end_ns;
  present();
  LinkSignals& s = links_[link.edge];
  sink_->change(s.occupancy, femtoseconds(ready), 1);
  sink_->change(s.busy, femtoseconds(from), 1);
  sink_->change(s.busy, femtoseconds(to), -1);
  sink_->change(s.occupancy, femtoseconds(to), -1);
  // Rounding must not place the begin before the open window.
  for (double at = std::max(from, static_cast<double>(window_) * kWindowNs); at < to;) {
    const auto window = std::max(window_, static_cast<uint64_t>(at / kWindowNs));
    const double end = std::min(to, static_cast<double>(window + 1) * kWindowNs);
    const size_t index = window - window_;
    if (s.busy_windows.size() <= index) s.busy_windows.resize(index + 1, 0.0);
    s.busy_windows[index] += end - at;
    at = end;
  }
  if (!s.active && !s.busy_windows.empty()) {
    s.active = true;
    active_links_.push_back(&s);
  }
  const Traffic& t = nodes_[s.from].links;
  if (!t.traced) return;
  sink_->change(t.queue_depth, femtoseconds(ready), 1);
  sink_->change(t.queue_depth, femtoseconds(from), -1);
  sink_->change(t.busy, femtoseconds(from), 1);
  sink_->change(t.busy, femtoseconds(to), -1);
  const auto whole = static_cast<int64_t>(c.bytes);
  sink_->change(t.bytes, femtoseconds(ready), whole);
  sink_->change(t.bytes, femtoseconds(to), -whole);
}

void Waveform::memory_request(const MemoryTarget& memory, const FabricTransaction& x, MemoryStep step, double t) {
  const Traffic& s = nodes_[memory.index()].memory;
  if (!s.traced) return;
  present();
  const auto bytes = static_cast<int64_t>(x.nbytes);
  switch (step) {
    case MemoryStep::arrived:
      sink_->change(s.queue_depth, femtoseconds(t), 1);
      sink_->change(s.bytes, femtoseconds(t), bytes);
      break;
    case MemoryStep::started:
      sink_->change(s.queue_depth, femtoseconds(t), -1);
      sink_->change(s.busy, femtoseconds(t), 1);
      break;
    case MemoryStep::finished:
      sink_->change(s.busy, femtoseconds(t), -1);
      sink_->change(s.bytes, femtoseconds(t), -bytes);
      break;
  }
}

void Waveform::channel_taken(const MemoryTarget& memory, const FabricTransaction&, size_t channel, double, double from,
                             double to) {
  const NodeSignals& s = nodes_[memory.index()];
  if (channel >= s.channels.size()) return;
  present();
  sink_->change(s.channels[channel], femtoseconds(from), 1);
  sink_->change(s.channels[channel], femtoseconds(to), -1);
}

void Waveform::access_started(const Component& initiator, const FabricTransaction& x, double t) {
  const NodeSignals& s = nodes_[initiator.index()];
  if (!s.initiates) return;
  present();
  sink_->change(s.bytes_in_flight[x.channel], femtoseconds(t), static_cast<int64_t>(x.nbytes));
}

void Waveform::access_done(const Component& initiator, const FabricTransaction& x, double t) {
  const NodeSignals& s = nodes_[initiator.index()];
  if (!s.initiates) return;
  present();
  sink_->change(s.bytes_in_flight[x.channel], femtoseconds(t), -static_cast<int64_t>(x.nbytes));
}

}  // namespace kernbench::observe
