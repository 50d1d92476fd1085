// SPDX-License-Identifier: Apache-2.0
#include "kernbench/platform/observe/json_trace_writer.h"

namespace kernbench::observe {

JsonTraceWriter::JsonTraceWriter(const std::string& file)
    : TraceWriter(file), json_(text_, JsonWriter::Layout::spaced) {
  json_.open('[');
  whole();
}

void JsonTraceWriter::name_process(TraceTrack track, std::string_view process) {
  name("process_name", track, process);
}

void JsonTraceWriter::name_track(TraceTrack track, std::string_view thread) {
  name("thread_name", track, thread);
}

void JsonTraceWriter::name(const char* what, TraceTrack track, std::string_view called) {
  begin("M", track, what);
  json_.key("args").open('{').field("name", called).close('}').close('}');
  whole();
}

void JsonTraceWriter::begin(const char* phase, TraceTrack track, std::string_view name) {
  json_.new_line(0).open('{').field("ph", phase).field("pid", track.process).field("tid", track.thread);
  json_.field("name", name);
}

void JsonTraceWriter::begin(const char* phase, TraceTrack track, std::string_view name, double t) {
  begin(phase, track, name);
  json_.field("ts", t / 1e3);
}

void JsonTraceWriter::begin_slice(TraceTrack track, std::string_view name, std::string_view category, double from,
                                  double to, bool) {
  track_ = track;
  from_ = from;
  begin("X", track, name, from);
  json_.field("dur", (to - from) / 1e3).field("cat", category);
  json_.key("args").open('{');
}

void JsonTraceWriter::begin_instant(TraceTrack track, std::string_view name, double t) {
  begin("i", track, name, t);
  json_.field("s", "t").field("cat", "event").key("args").open('{');
}

void JsonTraceWriter::argument(const char* name, uint64_t value) {
  json_.field(name, value);
}
void JsonTraceWriter::argument(const char* name, double value) {
  json_.field(name, value);
}
void JsonTraceWriter::argument(const char* name, std::string_view value) {
  json_.field(name, value);
}

void JsonTraceWriter::open_group(const char* name) {
  json_.key(name).open('{');
}
void JsonTraceWriter::close_group() {
  json_.close('}');
}

void JsonTraceWriter::flow(FlowStep step, const char* kind, const std::string& id) {
  flow_ = {step, kind, id};
}

void JsonTraceWriter::end() {
  json_.close('}').close('}');
  whole();
  if (!flow_) return;
  constexpr const char* kPhases[] = {"s", "t", "f"};
  begin(kPhases[static_cast<size_t>(flow_->step)], track_, flow_->kind, from_);
  json_.field("cat", flow_->kind).field("bp", "e").field("id", flow_->id).close('}');
  flow_.reset();
  whole();
}

uint64_t JsonTraceWriter::add_group(std::string_view called) {
  const uint32_t process = kFirstGroup + groups_++;
  name_process({process, process}, called);
  return process;
}

JsonTraceWriter::Counter JsonTraceWriter::add_counter(uint64_t group, std::string_view name, std::string_view unit) {
  return add_counter_of(static_cast<uint32_t>(group), name, unit);
}

JsonTraceWriter::Counter JsonTraceWriter::add_counter_of(uint32_t process, std::string_view name,
                                                         std::string_view unit) {
  counters_.push_back({{process, process}, std::string(name), std::string(unit)});
  return counters_.size();
}

void JsonTraceWriter::count(Counter counter, double t, double value) {
  const CounterTrack& c = counters_[counter - 1];
  begin("C", c.track, c.name, t);
  json_.key("args").open('{').field(c.unit, value).close('}').close('}');
  whole();
}

void JsonTraceWriter::finish() {
  text_ += "\n]\n";
}

}  // namespace kernbench::observe
