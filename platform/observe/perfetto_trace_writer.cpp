// SPDX-License-Identifier: Apache-2.0
#include "kernbench/platform/observe/perfetto_trace_writer.h"

#include <algorithm>

#include "kernbench/phase2/op/femtoseconds.h"
#include "kernbench/platform/observe/protobuf.h"

namespace kernbench::observe {

using protobuf::append_bytes;
using protobuf::append_double;
using protobuf::append_fixed64;
using protobuf::append_uint;

namespace {

// Numbers of fields and enumerators, by message.
namespace trace {
constexpr uint32_t packet = 1;
}
namespace trace_packet {
constexpr uint32_t timestamp = 8, trusted_packet_sequence_id = 10, track_event = 11, interned_data = 12;
constexpr uint32_t sequence_flags = 13, track_descriptor = 60;
constexpr uint64_t incremental_state_cleared = 1, needs_incremental_state = 2;
}  // namespace trace_packet
namespace track_descriptor {
constexpr uint32_t uuid = 1, name = 2, process = 3, thread = 4, parent_uuid = 5, counter = 8;
}
namespace process_descriptor {
constexpr uint32_t pid = 1, process_name = 6;
}
namespace thread_descriptor {
constexpr uint32_t pid = 1, tid = 2, thread_name = 5;
}
namespace counter_descriptor {
constexpr uint32_t unit_name = 6, y_axis_share_key = 7;
}
namespace track_event {
constexpr uint32_t category_iids = 3, debug_annotations = 4, type = 9, name_iid = 10, track_uuid = 11;
constexpr uint32_t counter_value = 30, double_counter_value = 44, flow_ids = 47, terminating_flow_ids = 48;
constexpr uint64_t slice_begin = 1, slice_end = 2, instant = 3, counter = 4;
}  // namespace track_event
namespace debug_annotation {
constexpr uint32_t name_iid = 1, uint_value = 3, double_value = 5, string_value = 6, dict_entries = 11;
}
namespace interned {
constexpr uint32_t iid = 1, name = 2;
}

constexpr uint64_t kSequence = 1;
/// Viewers treat process 0 and thread 0 as the system's idle ones.
constexpr uint64_t kFirstId = 1;

/// The format numbers flows: FNV-1a, 64 bits.
uint64_t flow_number(std::string_view kind, std::string_view id) {
  uint64_t h = 0xcbf29ce484222325;
  for (const std::string_view part : {kind, std::string_view(" "), id}) {
    for (const char c : part) h = (h ^ static_cast<unsigned char>(c)) * 0x100000001b3;
  }
  return h;
}

}  // namespace

void PerfettoTraceWriter::write_packet(std::string_view content) {
  std::string packet;
  append_uint(packet, trace_packet::trusted_packet_sequence_id, kSequence);
  append_uint(packet, trace_packet::sequence_flags,
              trace_packet::needs_incremental_state | (begun_ ? 0 : trace_packet::incremental_state_cleared));
  if (!new_texts_.empty()) append_bytes(packet, trace_packet::interned_data, new_texts_);
  packet += content;
  append_bytes(text_, trace::packet, packet);
  begun_ = true;
  new_texts_.clear();
}

void PerfettoTraceWriter::write_descriptor(std::string_view descriptor) {
  std::string content;
  append_bytes(content, trace_packet::track_descriptor, descriptor);
  write_packet(content);
  whole();
}

void PerfettoTraceWriter::write_event(uint64_t fs, std::string_view event) {
  std::string content;
  append_uint(content, trace_packet::timestamp, fs);
  append_bytes(content, trace_packet::track_event, event);
  write_packet(content);
}

void PerfettoTraceWriter::name_process(TraceTrack track, std::string_view name) {
  describe_process(track.process, name);
}

uint64_t PerfettoTraceWriter::describe_process(uint32_t number, std::string_view name) {
  std::string process, d;
  append_uint(process, process_descriptor::pid, kFirstId + number);
  if (!name.empty()) append_bytes(process, process_descriptor::process_name, name);
  append_uint(d, track_descriptor::uuid, ++last_uuid_);
  append_bytes(d, track_descriptor::process, process);
  write_descriptor(d);
  return processes_[number] = last_uuid_;
}

void PerfettoTraceWriter::name_track(TraceTrack track, std::string_view name) {
  std::string thread, d;
  append_uint(thread, thread_descriptor::pid, kFirstId + track.process);
  append_uint(thread, thread_descriptor::tid, kFirstId + track.thread);
  if (!name.empty()) append_bytes(thread, thread_descriptor::thread_name, name);
  append_uint(d, track_descriptor::uuid, tracks_[track.thread].uuid = ++last_uuid_);
  append_bytes(d, track_descriptor::thread, thread);
  write_descriptor(d);
}

PerfettoTraceWriter::Track& PerfettoTraceWriter::track_of(TraceTrack t) {
  if (tracks_.find(t.thread) == tracks_.end()) name_track(t, {});
  return tracks_.at(t.thread);
}

uint64_t PerfettoTraceWriter::add_group(std::string_view name) {
  std::string d;
  append_uint(d, track_descriptor::uuid, ++last_uuid_);
  append_bytes(d, track_descriptor::name, name);
  write_descriptor(d);
  return last_uuid_;
}

PerfettoTraceWriter::Counter PerfettoTraceWriter::add_counter(uint64_t group, std::string_view name,
                                                              std::string_view unit) {
  std::string counter, d;
  append_bytes(counter, counter_descriptor::unit_name, unit);
  append_bytes(counter, counter_descriptor::y_axis_share_key, unit);
  append_uint(d, track_descriptor::uuid, ++last_uuid_);
  append_uint(d, track_descriptor::parent_uuid, group);
  append_bytes(d, track_descriptor::name, name);
  append_bytes(d, track_descriptor::counter, counter);
  write_descriptor(d);
  return last_uuid_;
}

PerfettoTraceWriter::Counter PerfettoTraceWriter::add_counter_of(uint32_t process, std::string_view name,
                                                                 std::string_view unit) {
  const auto known = processes_.find(process);
  return add_counter(known != processes_.end() ? known->second : describe_process(process, {}), name, unit);
}

void PerfettoTraceWriter::count(Counter counter, double t, uint64_t value) {
  std::string event;
  append_uint(event, track_event::type, track_event::counter);
  append_uint(event, track_event::track_uuid, counter);
  append_uint(event, track_event::counter_value, value);
  write_event(femtoseconds(t), event);
  whole();
}

void PerfettoTraceWriter::count(Counter counter, double t, double value) {
  std::string event;
  append_uint(event, track_event::type, track_event::counter);
  append_uint(event, track_event::track_uuid, counter);
  append_double(event, track_event::double_counter_value, value);
  write_event(femtoseconds(t), event);
  whole();
}

uint64_t PerfettoTraceWriter::number(Interned of, std::string_view text) {
  const auto [it, is_new] = numbers_[of].try_emplace(std::string(text), numbers_[of].size() + 1);
  if (is_new) {
    std::string entry;
    append_uint(entry, interned::iid, it->second);
    append_bytes(entry, interned::name, text);
    append_bytes(new_texts_, of, entry);
  }
  return it->second;
}

void PerfettoTraceWriter::begin_event(uint64_t type, TraceTrack track, std::string_view name,
                                      std::string_view category) {
  thread_ = track.thread;
  is_slice_ = type == track_event::slice_begin;
  event_.clear();
  append_uint(event_, track_event::type, type);
  append_uint(event_, track_event::track_uuid, track_of(track).uuid);
  append_uint(event_, track_event::category_iids, number(categories, category));
  append_uint(event_, track_event::name_iid, number(event_names, name));
}

void PerfettoTraceWriter::begin_slice(TraceTrack track, std::string_view name, std::string_view category, double from,
                                      double to, bool inside) {
  from_fs_ = femtoseconds(from);
  to_fs_ = femtoseconds(to);
  inside_ = inside;
  begin_event(track_event::slice_begin, track, name, category);
}

void PerfettoTraceWriter::begin_instant(TraceTrack track, std::string_view name, double t) {
  from_fs_ = femtoseconds(t);
  begin_event(track_event::instant, track, name, "event");
}

std::string& PerfettoTraceWriter::begin_argument(const char* name) {
  argument_.clear();
  append_uint(argument_, debug_annotation::name_iid, number(argument_names, name));
  return argument_;
}

void PerfettoTraceWriter::end_argument() {
  if (in_group_) {
    append_bytes(group_, debug_annotation::dict_entries, argument_);
  } else {
    append_bytes(event_, track_event::debug_annotations, argument_);
  }
}

void PerfettoTraceWriter::argument(const char* name, uint64_t value) {
  append_uint(begin_argument(name), debug_annotation::uint_value, value);
  end_argument();
}

void PerfettoTraceWriter::argument(const char* name, double value) {
  append_double(begin_argument(name), debug_annotation::double_value, value);
  end_argument();
}

void PerfettoTraceWriter::argument(const char* name, std::string_view value) {
  append_bytes(begin_argument(name), debug_annotation::string_value, value);
  end_argument();
}

void PerfettoTraceWriter::open_group(const char* name) {
  group_ = begin_argument(name);
  in_group_ = true;
}

void PerfettoTraceWriter::close_group() {
  append_bytes(event_, track_event::debug_annotations, group_);
  in_group_ = false;
}

void PerfettoTraceWriter::flow(FlowStep step, const char* kind, const std::string& id) {
  append_fixed64(event_, step == FlowStep::ends ? track_event::terminating_flow_ids : track_event::flow_ids,
                 flow_number(kind, id));
}

void PerfettoTraceWriter::end() {
  if (!is_slice_) {
    write_event(from_fs_, event_);
    whole();
    return;
  }
  Track& track = tracks_.at(thread_);
  Slice slice{from_fs_, to_fs_, event_};
  if (inside_) {
    track.inside.push_back(std::move(slice));
  } else {
    write_slice(track, slice);
  }
}

/// Viewers nest slices by their begin; at equal times the file's order counts. So a slice is written together with its
/// inner slices, and the rounded times of neighbours never overlap.
void PerfettoTraceWriter::write_slice(Track& track, Slice& slice) {
  std::vector<Slice*> open;
  const auto begin = [&](Slice& s, uint64_t earliest, uint64_t latest) {
    s.from_fs = std::clamp(s.from_fs, earliest, latest);
    s.to_fs = std::clamp(s.to_fs, s.from_fs, latest);
    write_event(s.from_fs, s.event);
    open.push_back(&s);
  };
  const auto end_last = [&] {
    write_end(track, open.back()->to_fs);
    open.pop_back();
  };
  begin(slice, track.until_fs, std::max(track.until_fs, slice.to_fs));
  std::stable_sort(track.inside.begin(), track.inside.end(), [](const Slice& a, const Slice& b) {
    return a.from_fs != b.from_fs ? a.from_fs < b.from_fs : a.to_fs > b.to_fs;
  });
  for (Slice& s : track.inside) {
    while (open.size() > 1 && open.back()->to_fs <= s.from_fs) end_last();
    begin(s, open.back()->from_fs, open.back()->to_fs);
  }
  while (!open.empty()) end_last();
  track.inside.clear();
  track.until_fs = slice.to_fs;
  whole();
}

void PerfettoTraceWriter::write_end(const Track& track, uint64_t fs) {
  std::string event;
  append_uint(event, track_event::type, track_event::slice_end);
  append_uint(event, track_event::track_uuid, track.uuid);
  write_event(fs, event);
}

/// A failed run leaves inner slices whose outer slice never ended.
void PerfettoTraceWriter::finish() {
  for (auto& [thread, track] : tracks_) {
    std::vector<Slice> left;
    left.swap(track.inside);
    for (Slice& s : left) write_slice(track, s);
  }
}

}  // namespace kernbench::observe
