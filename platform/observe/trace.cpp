#include "kernbench/platform/observe/trace.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>

#include "kernbench/phase2/op/errors.h"
#include "kernbench/phase2/text/json_writer.h"
#include "kernbench/platform/platform.h"
#include "kernbench/platform/tools/engine_report.h"
#include "kernbench/platform/tools/host_program.h"
#include "kernbench/platform/tools/run.h"
#include "kernbench/systemc_models/pe/queue_message.h"

namespace kernbench {

namespace {

constexpr size_t kFlushBytes = 1 << 16;
constexpr unsigned kKernelTrack = 0, kFeedTrack = 1, kFirstStageTrack = 2;
constexpr unsigned kServersPerStage = 64;  // more share the last track
constexpr unsigned kTracksPerPe = kFirstStageTrack + kStages * kServersPerStage;

constexpr uint64_t kFirstMessageTrack = uint64_t{1} << 30;  // behind all others, and viewers know 32 bits

unsigned stage_track(Stage stage, unsigned server) {
  return kFirstStageTrack + static_cast<unsigned>(stage) * kServersPerStage + std::min(server, kServersPerStage - 1);
}

std::string op_of(const PeCommand& c) {
  return c.desc ? c.desc->name : std::string("command");
}

std::string name_of_item(const PeItem& item) {
  std::string name = item.command ? op_of(*item.command) : std::string("request");
  if (item.token) name += fmt::format(" tile {}", item.tile_id);
  return name;
}

void write_ids(JsonWriter& w, const PeCommand& c) {
  if (c.op_id) w.field("op_id", c.op_id);
  if (c.desc && c.desc->where.line > 0) w.field("source", fmt::format("{}:{}", c.desc->where.file, c.desc->where.line));
}

}  // namespace

ChromeTrace::ChromeTrace(Platform& platform, const std::string& file)
    : platform_(platform), out_(file), json_(std::make_unique<JsonWriter>(text_, JsonWriter::Layout::spaced)) {
  json_->open('[');
  whole_events_ = text_.size();
  std::set<uint32_t> cubes;
  for (size_t p = 0; p < platform.pes().count(); ++p) {
    if (!platform.pes().complete(p)) continue;
    Pe& pe = platform.pes().pe(p);
    pe.observers.add(*this);
    const size_t dot = pe.id.rfind('.');
    name_tracks(pe, cubes.insert(pe.cube).second ? pe.id.substr(0, dot == std::string::npos ? 0 : dot) : std::string());
  }
}

ChromeTrace::~ChromeTrace() {
  for (size_t p = 0; p < platform_.pes().count(); ++p) platform_.pes().pe(p).observers.remove(*this);
  if (closed_) return;
  try {
    text_.resize(whole_events_);
    text_ += "\n]\n";
    flush();
    out_.keep();
  } catch (const std::exception&) {
    // What made the run fail is told; a destructor cannot tell more.
  }
}

void ChromeTrace::host(const RunReport& r) {
  if (r.launch != "host") return;
  const uint64_t track = platform_.pes().count() * uint64_t{kTracksPerPe};
  for (const char* what : {"process_name", "thread_name"}) {
    begin("M", 0, track, what, 0);
    json_->key("args").open('{').field("name", "host").close('}');
    end();
  }
  double kernels_end = r.start_ns;
  for (const RunReport::PeTimes& pe : r.pes) kernels_end = std::max(kernels_end, pe.end_ns);
  const double launched = r.end_ns - r.download_ns;
  double from = 0;
  for (const auto& [name, to] : {std::make_pair("upload", r.upload_ns), std::make_pair("launch", r.start_ns),
                                 std::make_pair("kernels", kernels_end), std::make_pair("completion", launched),
                                 std::make_pair("read back", r.end_ns)}) {
    if (to > from) {
      begin("X", 0, track, name, from);
      begin_args("host", from, to);
      end_args();
    }
    from = std::max(from, to);
  }
}

void ChromeTrace::host(const ProgramReport& p) {
  const uint64_t first = platform_.pes().count() * uint64_t{kTracksPerPe};
  std::map<host::Stream, uint64_t> tracks;
  const auto name = [&](const char* what, uint64_t track, const std::string& called) {
    begin("M", 0, track, what, 0);
    json_->key("args").open('{').field("name", called).close('}');
    end();
  };
  name("process_name", first, "host");
  for (const host::Operation& op : p.ops) {
    for (size_t i = 0; i < op.streams.size(); ++i) {
      if (op.end_ns[i] <= op.begin_ns) continue;
      const auto [it, is_new] = tracks.emplace(op.streams[i], first + tracks.size());
      if (is_new) name("thread_name", it->second, op.streams[i].to_string());
      begin("X", 0, it->second, host::name_of(op.kind) + (op.name.empty() ? "" : " " + op.name), op.begin_ns);
      begin_args("host", op.begin_ns, op.end_ns[i]);
      end_args();
    }
  }
}

void ChromeTrace::close() {
  closed_ = true;
  json_->new_line(0).close(']');
  text_ += '\n';
  flush();
  out_.keep();
}

void ChromeTrace::name_tracks(const Pe& pe, const std::string& new_cube) {
  const auto name = [&](const char* what, unsigned track, const std::string& value) {
    begin("M", pe, track, what, 0);
    json_->key("args").open('{').field("name", value).close('}');
    end();
  };
  if (!new_cube.empty()) name("process_name", 0, new_cube);
  const std::string pe_name = pe.id.substr(pe.id.rfind('.') + 1);
  name("thread_name", kKernelTrack, pe_name + " kernel");
  name("thread_name", kFeedTrack, pe_name + " feed");
  for (const Pe::Engine& e : pe.engines) {
    for (const StageStatistics& s : e.role->statistics()) {
      for (unsigned server = 0; server < std::min(s.servers, kServersPerStage); ++server) {
        name("thread_name", stage_track(s.stage, server),
             fmt::format("{} {}{}", pe_name, kernbench::name_of(s.stage),
                         s.servers > 1 ? fmt::format(" {}", server) : ""));
      }
    }
  }
}

void ChromeTrace::begin(const char* phase, const Pe& pe, unsigned track, const std::string& name, double t) {
  begin(phase, pe.cube + 1, uint64_t{pe.index} * kTracksPerPe + track, name, t);
}

void ChromeTrace::begin(const char* phase, uint32_t process, uint64_t track, const std::string& name, double t) {
  json_->new_line(0).open('{').field("ph", phase).field("pid", process).field("tid", track).field("name", name);
  if (*phase != 'M') json_->field("ts", t / 1e3);
}

void ChromeTrace::end() {
  json_->close('}');
  whole_events_ = text_.size();
  if (text_.size() >= kFlushBytes) flush();
}

void ChromeTrace::flush() {
  out_.write(text_);
  text_.clear();
  whole_events_ = 0;
}

void ChromeTrace::begin_args(const char* category, double from, double to) {
  json_->field("dur", (to - from) / 1e3).field("cat", category);
  json_->key("args").open('{').field("start_ns", from).field("end_ns", to);
}

void ChromeTrace::end_args() {
  json_->close('}');
  end();
}

void ChromeTrace::begin_slice(const Pe& pe, unsigned track, const std::string& name, const char* category, double from,
                              double to) {
  begin("X", pe, track, name, from);
  begin_args(category, from, to);
}

void ChromeTrace::slice(const Pe& pe, unsigned track, const std::string& name, const char* category, double from,
                        double to) {
  begin_slice(pe, track, name, category, from, to);
  end_args();
}

void ChromeTrace::begin_instant(const Pe& pe, unsigned track, const char* name, double t) {
  begin("i", pe, track, name, t);
  json_->field("s", "t").field("cat", "event").key("args").open('{');
}

void ChromeTrace::activity(const Pe& pe, Stage stage, unsigned server, Activity activity, const PeItem* item,
                           uint64_t op_id, double from, double to) {
  const unsigned track = stage_track(stage, server);
  switch (activity) {
    case Activity::idle:
      slice(pe, track, "idle", "idle", from, to);
      return;
    case Activity::waits_for_slot:
      slice(pe, track, "waiting for slot", "stall", from, to);
      return;
    case Activity::queue_full:
      slice(pe, track, "queue full", "stall", from, to);
      return;
    case Activity::service:
      break;
  }
  begin_slice(pe, track, name_of_item(*item), "service", from, to);
  if (op_id) json_->field("op_id", op_id);
  if (item->token && item->command->op_id) json_->field("composite_op_id", item->command->op_id);
  end_args();
  if (!item->token || item->stage_count < 2) return;
  // Flow: starts at the tile's first stage, ends at its last.
  begin(item->stage_at == 0 ? "s" : item->last_stage() ? "f" : "t", pe, track, "tile", from);
  const uint64_t composite = item->command->desc ? item->command->desc->seq : 0;
  json_->field("cat", "tile").field("bp", "e");
  json_->field("id", fmt::format("{}.{}.{}", pe.index, composite, item->tile_id));
  end();
}

void ChromeTrace::transaction(const Pe& pe, Stage stage, unsigned server, const PeItem&, double granted, double,
                              double link_wait, double memory_wait) {
  const unsigned track = stage_track(stage, server);
  if (link_wait > 1e-6) slice(pe, track, "waiting for link", "stall", granted, granted + link_wait);
  if (memory_wait > 1e-6)
    slice(pe, track, "waiting for memory", "stall", granted + link_wait, granted + link_wait + memory_wait);
}

void ChromeTrace::feed(const Pe& pe, FeedActivity activity, double from, double to) {
  const char* name = activity == FeedActivity::idle               ? "idle"
                     : activity == FeedActivity::waits_for_window ? "waiting for TCM window"
                                                                  : "waiting for room";
  slice(pe, kFeedTrack, name, activity == FeedActivity::idle ? "idle" : "stall", from, to);
}

void ChromeTrace::kernel_wait(const Pe& pe, const PeCommand& c, double from, double to) {
  begin_slice(pe, kKernelTrack, "wait " + op_of(c), "kernel", from, to);
  write_ids(*json_, c);
  end_args();
}

void ChromeTrace::kernel_works(const Pe& pe, double from, double to) {
  slice(pe, kKernelTrack, "scalar work", "kernel", from, to);
}

/// Of messages: made, and named, when it is first used.
ChromeTrace::MessageTrack& ChromeTrace::message_track(const Pe& pe, const std::string& name) {
  const auto [it, is_new] = message_tracks_.try_emplace({pe.index, name});
  if (is_new) {
    it->second.number = kFirstMessageTrack + message_tracks_.size();
    begin("M", pe.cube + 1, it->second.number, "thread_name", 0);
    json_->key("args").open('{').field("name", pe.id.substr(pe.id.rfind('.') + 1) + " " + name).close('}');
    end();
  }
  return it->second;
}

void ChromeTrace::queue_stall(const Pe& pe, uint32_t port, QueueStall why, double from, double to) {
  constexpr const char* kTracks[] = {" send", " recv", " credit"};
  constexpr const char* kNames[] = {"waiting for slot", "waiting for message", "waiting for credit"};
  const auto reason = static_cast<size_t>(why);
  const QueuePort& p = pe.ipcq->ports()[port];
  MessageTrack& track = message_track(pe, p.name + kTracks[reason]);
  from = std::max(from, track.until_ns);  // of several that wait for credits, each from the end of the one before
  track.until_ns = to;
  begin("X", pe.cube + 1, track.number, kNames[reason], from);
  begin_args("stall", from, to);
  json_->field("peer", p.peer_pe).field("peer_port", p.peer_port_name);
  end_args();
}

void ChromeTrace::segment_served(const Pe& pe, QueueServer server, const QueueSegment& s, double from, double to) {
  constexpr const char* kTracks[] = {"COMM", "INBOUND", "SLOT_WRITE", "SLOT_READ"};
  constexpr const char* kFlow[] = {"s", "", "t", "f"};
  const auto step = static_cast<size_t>(server);
  const bool sender = server == QueueServer::comm;
  if (server == QueueServer::inbound && to <= from) return;  // nothing drains here
  const QueuePort& port = pe.ipcq->ports()[sender ? s.sender_port : s.receiver_port];
  const uint64_t track = message_track(pe, kTracks[step]).number;
  begin("X", pe.cube + 1, track, fmt::format("{} message {}", port.name, s.message->number), from);
  begin_args("message", from, to);
  json_->field("port", port.name).field("peer", port.peer_pe).field("peer_port", port.peer_port_name);
  json_->field("segment", s.index).field("segments", s.message->segments.size()).field("bytes", s.nbytes);
  const uint64_t op_id = server == QueueServer::writer   ? s.copy_op_id
                         : server == QueueServer::reader ? s.read_op_id
                                                         : 0;
  if (op_id) json_->field("op_id", op_id);
  if (server == QueueServer::reader) write_account_json(json_->key("account"), s.account);
  end_args();
  if (server == QueueServer::inbound) return;
  begin(kFlow[step], pe.cube + 1, track, "message", from);
  json_->field("cat", "message").field("bp", "e");
  const uint32_t receiver = sender ? port.peer_index : pe.index;
  json_->field("id", fmt::format("{}.{}.{}.{}.{}", s.launch, receiver, s.receiver_port, s.message->number, s.index));
  end();
}

void ChromeTrace::command_submitted(const Pe& pe, const PeCommand& c, double t) {
  begin_instant(pe, kKernelTrack, "command_submitted", t);
  write_ids(*json_, c);
  end_args();
}

void ChromeTrace::sub_command_dispatched(const Pe& pe, const PeItem& item, double t) {
  begin_instant(pe, kFeedTrack, "sub_command_dispatched", t);
  if (item.token) json_->field("tile_id", item.tile_id);
  end_args();
}

void ChromeTrace::tile_ready(const Pe& pe, const PeItem& item, double t) {
  begin_instant(pe, kFeedTrack, "tile_ready", t);
  json_->field("tile_id", item.tile_id);
  end_args();
}

void ChromeTrace::command_complete(const Pe& pe, const PeCommand& c, double t) {
  begin_instant(pe, kKernelTrack, "command_complete", t);
  write_ids(*json_, c);
  end_args();
}

}  // namespace kernbench
