#include "kernbench/platform/observe/trace.h"

#include <algorithm>
#include <set>

#include "kernbench/phase2/log/oplog_json.h"
#include "kernbench/phase2/op/errors.h"
#include "kernbench/platform/platform.h"
#include "kernbench/platform/tools/run.h"

namespace kernbench {

namespace {

constexpr unsigned kKernelTrack = 0, kFeedTrack = 1, kFirstStageTrack = 2;
constexpr unsigned kServersPerStage = 64;  // more share the last track
constexpr unsigned kTracksPerPe = kFirstStageTrack + kStages * kServersPerStage;

unsigned stage_track(Stage stage, unsigned server) {
  return kFirstStageTrack + static_cast<unsigned>(stage) * kServersPerStage + std::min(server, kServersPerStage - 1);
}

std::string op_of(const PeCommand& c) {
  return c.desc ? c.desc->name : std::string("command");
}

std::string name_of_item(const PeItem& item) {
  std::string name = item.command ? op_of(*item.command) : std::string("request");
  if (item.token) name += " tile " + std::to_string(item.tile_id);
  return name;
}

std::string id_args(const PeCommand& c) {
  std::string args;
  if (c.op_id) args = "\"op_id\": " + std::to_string(c.op_id);
  if (c.desc && c.desc->where.line > 0) {
    args += args.empty() ? "\"source\": " : ", \"source\": ";
    append_string(args, std::string(c.desc->where.file) + ":" + std::to_string(c.desc->where.line));
  }
  return args;
}

}  // namespace

ChromeTrace::ChromeTrace(Platform& platform, const std::string& file) : platform_(platform), file_(file), out_(file) {
  if (!out_) throw InputError("--trace: " + file + " cannot be written");
  text_ = "[";
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
  out_ << text_;
}

void ChromeTrace::host(const RunReport& r) {
  if (r.launch != "host") return;
  const uint64_t track = platform_.pes().count() * uint64_t{kTracksPerPe};
  for (const char* what : {"process_name", "thread_name"}) {
    begin("M", 0, track, what, 0);
    text_ += ", \"args\": {\"name\": \"host\"}";
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
      complete_slice("host", from, to, "");
    }
    from = std::max(from, to);
  }
}

void ChromeTrace::close() {
  out_ << text_ << "\n]\n";
  text_.clear();
  out_.close();
  if (!out_) throw RunError("--trace: " + file_ + " could not be written to its end");
}

void ChromeTrace::name_tracks(const Pe& pe, const std::string& new_cube) {
  const auto name = [&](const char* what, unsigned track, const std::string& value) {
    begin("M", pe, track, what, 0);
    text_ += ", \"args\": {\"name\": ";
    append_string(text_, value);
    text_ += "}";
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
             pe_name + " " + std::string(kernbench::name_of(s.stage)) +
                 (s.servers > 1 ? " " + std::to_string(server) : std::string()));
      }
    }
  }
}

void ChromeTrace::begin(const char* phase, const Pe& pe, unsigned track, const std::string& name, double t) {
  begin(phase, pe.cube + 1, uint64_t{pe.index} * kTracksPerPe + track, name, t);
}

void ChromeTrace::begin(const char* phase, uint32_t process, uint64_t track, const std::string& name, double t) {
  text_ += first_ ? "\n{\"ph\": \"" : ",\n{\"ph\": \"";
  first_ = false;
  text_ += phase;
  text_ += "\", \"pid\": " + std::to_string(process) + ", \"tid\": " + std::to_string(track) + ", \"name\": ";
  append_string(text_, name);
  if (*phase != 'M') {
    text_ += ", \"ts\": ";
    append_number(text_, t / 1e3);
  }
}

void ChromeTrace::end() {
  text_ += "}";
  if (text_.size() < (1 << 18)) return;
  out_ << text_;
  text_.clear();
}

void ChromeTrace::slice(const Pe& pe, unsigned track, const std::string& name, const char* category, double from,
                        double to, const std::string& args) {
  begin("X", pe, track, name, from);
  complete_slice(category, from, to, args);
}

void ChromeTrace::complete_slice(const char* category, double from, double to, const std::string& args) {
  text_ += ", \"dur\": ";
  append_number(text_, (to - from) / 1e3);
  text_ += std::string(", \"cat\": \"") + category + "\", \"args\": {\"start_ns\": ";
  append_number(text_, from);
  text_ += ", \"end_ns\": ";
  append_number(text_, to);
  if (!args.empty()) text_ += ", " + args;
  text_ += "}";
  end();
}

void ChromeTrace::instant(const Pe& pe, unsigned track, const char* name, double t, const std::string& args) {
  begin("i", pe, track, name, t);
  text_ += ", \"s\": \"t\", \"cat\": \"event\", \"args\": {" + args + "}";
  end();
}

void ChromeTrace::activity(const Pe& pe, Stage stage, unsigned server, Activity activity, const PeItem* item,
                           uint64_t op_id, double from, double to) {
  const unsigned track = stage_track(stage, server);
  switch (activity) {
    case Activity::idle:
      slice(pe, track, "idle", "idle", from, to, "");
      return;
    case Activity::waits_for_slot:
      slice(pe, track, "waiting for slot", "stall", from, to, "");
      return;
    case Activity::queue_full:
      slice(pe, track, "queue full", "stall", from, to, "");
      return;
    case Activity::service:
      break;
  }
  std::string args;
  if (op_id) args = "\"op_id\": " + std::to_string(op_id);
  if (item->token && item->command->op_id)
    args += std::string(args.empty() ? "" : ", ") + "\"composite_op_id\": " + std::to_string(item->command->op_id);
  slice(pe, track, name_of_item(*item), "service", from, to, args);
  if (!item->token || item->stage_count < 2) return;
  // Flow: starts at the tile's first stage, ends at its last.
  begin(item->stage_at == 0 ? "s" : item->last_stage() ? "f" : "t", pe, track, "tile", from);
  const uint64_t composite = item->command->desc ? item->command->desc->seq : 0;
  text_ += ", \"cat\": \"tile\", \"bp\": \"e\", \"id\": \"" + std::to_string(pe.index) + "." +
           std::to_string(composite) + "." + std::to_string(item->tile_id) + "\"";
  end();
}

void ChromeTrace::transaction(const Pe& pe, Stage stage, unsigned server, const PeItem&, double granted, double,
                              double link_wait, double memory_wait) {
  const unsigned track = stage_track(stage, server);
  if (link_wait > 1e-6) slice(pe, track, "waiting for link", "stall", granted, granted + link_wait, "");
  if (memory_wait > 1e-6)
    slice(pe, track, "waiting for memory", "stall", granted + link_wait, granted + link_wait + memory_wait, "");
}

void ChromeTrace::feed(const Pe& pe, FeedActivity activity, double from, double to) {
  const char* name = activity == FeedActivity::idle               ? "idle"
                     : activity == FeedActivity::waits_for_window ? "waiting for TCM window"
                                                                  : "waiting for room";
  slice(pe, kFeedTrack, name, activity == FeedActivity::idle ? "idle" : "stall", from, to, "");
}

void ChromeTrace::kernel_wait(const Pe& pe, const PeCommand& c, double from, double to) {
  slice(pe, kKernelTrack, "wait " + op_of(c), "kernel", from, to, id_args(c));
}

void ChromeTrace::command_submitted(const Pe& pe, const PeCommand& c, double t) {
  instant(pe, kKernelTrack, "command_submitted", t, id_args(c));
}

void ChromeTrace::sub_command_dispatched(const Pe& pe, const PeItem& item, double t) {
  instant(pe, kFeedTrack, "sub_command_dispatched", t,
          item.token ? "\"tile_id\": " + std::to_string(item.tile_id) : std::string());
}

void ChromeTrace::tile_ready(const Pe& pe, const PeItem& item, double t) {
  instant(pe, kFeedTrack, "tile_ready", t, "\"tile_id\": " + std::to_string(item.tile_id));
}

void ChromeTrace::command_complete(const Pe& pe, const PeCommand& c, double t) {
  instant(pe, kKernelTrack, "command_complete", t, id_args(c));
}

}  // namespace kernbench
