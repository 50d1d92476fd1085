// SPDX-License-Identifier: Apache-2.0
#include "kernbench/platform/observe/trace.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>

#include "kernbench/phase2/op/errors.h"
#include "kernbench/platform/elaborate/machine.h"
#include "kernbench/platform/energy/meter.h"
#include "kernbench/platform/observe/counter_window.h"
#include "kernbench/platform/observe/memory_bandwidth.h"
#include "kernbench/platform/observe/trace_writer.h"
#include "kernbench/platform/run/engine_report.h"
#include "kernbench/platform/run/host_phases.h"
#include "kernbench/systemc_models/pe/queue_message.h"

namespace kernbench::observe {

namespace {

constexpr unsigned kKernelTrack = 0, kFeedTrack = 1, kFirstStageTrack = 2;
constexpr unsigned kServersPerStage = 64;  // further servers share the last track
unsigned tracks_per_pe() {
  return kFirstStageTrack + static_cast<unsigned>(stage_count()) * kServersPerStage;
}

constexpr uint64_t kFirstMessageTrack = uint64_t{1} << 30;  // after all others; viewers support 32 bits

TraceTrack track_of(const Pe& pe, unsigned track) {
  return {pe.cube + 1, uint64_t{pe.index} * tracks_per_pe() + track};
}

TraceTrack kernel_track(const Pe& pe) {
  return track_of(pe, kKernelTrack);
}

TraceTrack feed_track(const Pe& pe) {
  return track_of(pe, kFeedTrack);
}

TraceTrack stage_track(const Pe& pe, Stage stage, unsigned server) {
  return track_of(
      pe, kFirstStageTrack + static_cast<unsigned>(stage) * kServersPerStage + std::min(server, kServersPerStage - 1));
}

std::string name_in_cube(const Pe& pe) {
  return pe.id.substr(pe.id.rfind('.') + 1);
}

std::string op_of(const PeCommand& c) {
  return c.desc ? c.desc->name : std::string("command");
}

std::string name_of_item(const PeItem& item) {
  std::string name = item.command ? op_of(*item.command) : std::string("request");
  if (item.token) name += fmt::format(" tile {}", item.tile_id);
  return name;
}

}  // namespace

Trace::Trace(Machine& machine, const std::string& file, const TimeWindow& window)
    : machine_(machine), writer_((window.check("trace"), make_trace_writer(file))), window_(window) {
  if (TraceCounters* counters = writer_->counters()) counters_ = std::make_unique<CounterWindow>(*counters, window_);
  std::set<uint32_t> cubes;
  for (size_t p = 0; p < machine.pes().count(); ++p) {
    if (!machine.pes().complete(p)) continue;
    Pe& pe = machine.pes().pe(p);
    pe.observers.add(*this);
    const size_t dot = pe.id.rfind('.');
    name_tracks(pe, cubes.insert(pe.cube).second ? pe.id.substr(0, dot == std::string::npos ? 0 : dot) : std::string());
  }
  if (counters_) bandwidth_ = std::make_unique<MemoryBandwidth>(machine, *counters_);
}

Trace::~Trace() {
  for (size_t p = 0; p < machine_.pes().count(); ++p) machine_.pes().pe(p).observers.remove(*this);
  if (closed_) return;
  try {
    close();
  } catch (const std::exception&) {
    // The run's own error is already reported; a destructor cannot report another.
  }
}

void Trace::close() {
  closed_ = true;
  if (bandwidth_) bandwidth_->finish();
  if (counters_) counters_->finish();
  writer_->close();
}

void Trace::host(const RunReport& r) {
  show(host_phases(r));
}

void Trace::host(const ProgramReport& p) {
  show(host_phases(p));
}

void Trace::power(const energy::Meter& meter) {
  CounterWindow counters(writer_->power_counters(), window_);
  const uint64_t group = counters.add_group("power");
  constexpr double kWindowNs = static_cast<double>(energy::Meter::kWindowFs) * 1e-6;
  const auto tell = [&](const std::string& name, const energy::PowerSeries& series) {
    const TraceCounters::Counter counter = counters.add_counter(group, name, "W");
    double told = -1;
    const auto window = [&](uint64_t first, uint64_t, energy::Rontojoules each) {
      const double watts = energy::Meter::watts(each);
      if (watts != told) counters.count(counter, meter.begin_ns() + static_cast<double>(first) * kWindowNs, watts);
      told = watts;
    };
    series.for_each(0, meter.power().windows() + 1, window);  // one more, which is 0
  };
  tell("all", meter.power());
  for (const energy::Meter::Power& p : meter.powers()) tell(p.name, p.series);
  counters.finish();
}

void Trace::show(const std::vector<HostPhase>& phases) {
  if (phases.empty()) return;
  const uint64_t first = machine_.pes().count() * uint64_t{tracks_per_pe()};
  std::map<std::string, TraceTrack> tracks;
  writer_->name_process({0, first}, "host");
  for (const HostPhase& p : phases) {
    const auto [it, is_new] = tracks.emplace(p.track, TraceTrack{0, first + tracks.size()});
    if (is_new) writer_->name_track(it->second, p.track);
    slice(it->second, p.name, "host", p.from_ns, p.to_ns);
  }
}

void Trace::name_tracks(const Pe& pe, const std::string& new_cube) {
  if (!new_cube.empty()) writer_->name_process(track_of(pe, 0), new_cube);
  const std::string pe_name = name_in_cube(pe);
  writer_->name_track(kernel_track(pe), pe_name + " kernel");
  writer_->name_track(feed_track(pe), pe_name + " feed");
  for (const Pe::Engine& e : pe.engines) {
    for (const StageStatistics& s : e.role->statistics()) {
      for (unsigned server = 0; server < std::min(s.servers, kServersPerStage); ++server) {
        writer_->name_track(stage_track(pe, s.stage, server),
                            fmt::format("{} {}{}", pe_name, kernbench::name_of(s.stage),
                                        s.servers > 1 ? fmt::format(" {}", server) : ""));
      }
    }
  }
}

bool Trace::begin_slice(TraceTrack track, const std::string& name, const char* category, double from, double to,
                        bool inside) {
  if (!window_.overlaps(from, to)) return false;
  writer_->begin_slice(track, name, category, from, to, inside);
  writer_->argument("start_ns", from);
  writer_->argument("end_ns", to);
  return true;
}

bool Trace::begin_instant(TraceTrack track, const std::string& name, double t) {
  if (!window_.holds(t)) return false;
  writer_->begin_instant(track, name, t);
  return true;
}

void Trace::slice(TraceTrack track, const std::string& name, const char* category, double from, double to) {
  if (begin_slice(track, name, category, from, to)) writer_->end();
}

/// Of a part of a service, which is reported before the service itself.
void Trace::stall_inside(TraceTrack track, const char* name, double from, double to) {
  if (begin_slice(track, name, "stall", from, to, true)) writer_->end();
}

void Trace::write_ids(const PeCommand& c) {
  if (c.op_id) writer_->argument("op_id", c.op_id);
  if (c.desc && c.desc->where.line > 0)
    writer_->argument("source", fmt::format("{}:{}", c.desc->where.file, c.desc->where.line));
}

void Trace::activity(const Pe& pe, Stage stage, unsigned server, Activity activity, const PeItem* item, uint64_t op_id,
                     double from, double to) {
  const TraceTrack track = stage_track(pe, stage, server);
  switch (activity) {
    case Activity::idle:
      slice(track, "idle", "idle", from, to);
      return;
    case Activity::waits_for_slot:
      slice(track, "waiting for slot", "stall", from, to);
      return;
    case Activity::queue_full:
      slice(track, "queue full", "stall", from, to);
      return;
    case Activity::service:
      break;
  }
  if (begin_slice(track, name_of_item(*item), "service", from, to)) {
    if (op_id) writer_->argument("op_id", op_id);
    if (item->token && item->command->op_id) writer_->argument("composite_op_id", item->command->op_id);
    if (item->token && item->stage_count >= 2) {
      const uint64_t composite = item->command->desc ? item->command->desc->seq : 0;
      writer_->flow(item->stage_at == 0  ? FlowStep::begins
                    : item->last_stage() ? FlowStep::ends
                                         : FlowStep::goes_on,
                    "tile", fmt::format("{}.{}.{}", pe.index, composite, item->tile_id));
    }
    writer_->end();
  }
  for (const auto& [name, t] : {std::make_pair("engine_start", from), std::make_pair("engine_complete", to)}) {
    if (!begin_instant(track, name, t)) continue;
    if (op_id) writer_->argument("op_id", op_id);
    if (item->token) writer_->argument("tile_id", uint64_t{item->tile_id});
    writer_->end();
  }
}

void Trace::transaction(const Pe& pe, Stage stage, unsigned server, const PeItem&, double granted, double,
                        double link_wait, double memory_wait) {
  const TraceTrack track = stage_track(pe, stage, server);
  const double link_end = granted + link_wait;
  if (link_wait > 1e-6) stall_inside(track, "waiting for link", granted, link_end);
  if (memory_wait > 1e-6) stall_inside(track, "waiting for memory", link_end, link_end + memory_wait);
}

void Trace::feed(const Pe& pe, FeedActivity activity, double from, double to) {
  const char* name = activity == FeedActivity::idle               ? "idle"
                     : activity == FeedActivity::waits_for_window ? "waiting for TCM window"
                                                                  : "waiting for room";
  slice(feed_track(pe), name, activity == FeedActivity::idle ? "idle" : "stall", from, to);
}

void Trace::kernel_wait(const Pe& pe, const PeCommand& c, double from, double to) {
  if (!begin_slice(kernel_track(pe), "wait " + op_of(c), "kernel", from, to)) return;
  write_ids(c);
  writer_->end();
}

void Trace::kernel_works(const Pe& pe, double from, double to, const SourceLine&) {
  slice(kernel_track(pe), "scalar work", "kernel", from, to);
}

void Trace::queue_changed(const Pe& pe, Stage stage, size_t items, double t) {
  if (!counters_) return;
  const auto [it, is_new] = queues_.try_emplace({pe.index, stage});
  QueueFill& q = it->second;
  if (is_new) {
    q.counter = counters_->add_counter_of(
        pe.cube + 1, fmt::format("{} {} queue", name_in_cube(pe), kernbench::name_of(stage)), "items");
    counters_->count(q.counter, 0, uint64_t{0});
  }
  if (items == q.items) return;
  q.items = items;
  counters_->count(q.counter, t, uint64_t{items});
}

/// Tracks of messages are created and named on first use.
Trace::MessageTrack& Trace::message_track(const Pe& pe, const std::string& name) {
  const auto [it, is_new] = message_tracks_.try_emplace({pe.index, name});
  if (is_new) {
    it->second.number = kFirstMessageTrack + message_tracks_.size();
    writer_->name_track({pe.cube + 1, it->second.number}, name_in_cube(pe) + " " + name);
  }
  return it->second;
}

void Trace::queue_stall(const Pe& pe, uint32_t port, QueueStall why, double from, double to) {
  const QueuePort& p = pe.ipcq->ports()[port];
  if (!window_.overlaps(from, to)) return;  // outside the window no track is created
  MessageTrack& track = message_track(pe, p.name + " " + call_of(why));
  from = std::max(from, track.until_ns);  // of several waits for credits, each starts when the previous one ends
  track.until_ns = to;
  if (!begin_slice({pe.cube + 1, track.number}, name_of(why), "stall", from, to)) return;
  writer_->argument("peer", p.peer_pe);
  writer_->argument("peer_port", p.peer_port_name);
  writer_->end();
}

void Trace::segment_served(const Pe& pe, QueueServer server, const QueueSegment& s, double from, double to) {
  constexpr FlowStep kFlow[] = {FlowStep::begins, {}, FlowStep::goes_on, FlowStep::ends};
  const auto step = static_cast<size_t>(server);
  const bool sender = server == QueueServer::comm;
  if (server == QueueServer::inbound && to <= from) return;  // nothing drains here
  const QueuePort& port = pe.ipcq->ports()[sender ? s.sender_port : s.receiver_port];
  if (!window_.overlaps(from, to)) return;  // outside the window no track is created
  begin_slice({pe.cube + 1, message_track(pe, name_of(server)).number},
              fmt::format("{} message {}", port.name, s.message->number), "message", from, to);
  writer_->argument("port", port.name);
  writer_->argument("peer", port.peer_pe);
  writer_->argument("peer_port", port.peer_port_name);
  writer_->argument("segment", uint64_t{s.index});
  writer_->argument("segments", uint64_t{s.message->segments.size()});
  writer_->argument("bytes", uint64_t{s.nbytes});
  const uint64_t op_id = server == QueueServer::writer   ? s.copy_op_id
                         : server == QueueServer::reader ? s.read_op_id
                                                         : 0;
  if (op_id) writer_->argument("op_id", op_id);
  if (server == QueueServer::reader) {
    writer_->open_group("account");
    for (const SegmentPart& part : kSegmentParts) writer_->argument(part.name, s.account.*part.ns);
    writer_->close_group();
  }
  if (server != QueueServer::inbound) {
    const uint32_t receiver = sender ? port.peer_index : pe.index;
    writer_->flow(kFlow[step], "message",
                  fmt::format("{}.{}.{}.{}.{}", s.launch, receiver, s.receiver_port, s.message->number, s.index));
  }
  writer_->end();
}

void Trace::command_submitted(const Pe& pe, const PeCommand& c, double t) {
  if (!begin_instant(kernel_track(pe), "command_submitted", t)) return;
  write_ids(c);
  writer_->end();
}

void Trace::sub_command_dispatched(const Pe& pe, const PeItem& item, double t) {
  if (!begin_instant(feed_track(pe), "sub_command_dispatched", t)) return;
  if (item.token) writer_->argument("tile_id", uint64_t{item.tile_id});
  writer_->end();
}

void Trace::tile_ready(const Pe& pe, const PeItem& item, double t) {
  if (!begin_instant(feed_track(pe), "tile_ready", t)) return;
  writer_->argument("tile_id", uint64_t{item.tile_id});
  writer_->end();
}

void Trace::command_complete(const Pe& pe, const PeCommand& c, double t) {
  if (!begin_instant(kernel_track(pe), "command_complete", t)) return;
  write_ids(c);
  writer_->end();
}

}  // namespace kernbench::observe
