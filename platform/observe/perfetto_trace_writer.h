// SPDX-License-Identifier: Apache-2.0
// A trace in Perfetto's own format: TracePackets with TrackEvents; field numbers as in its protos/perfetto/trace.
// docs/trace.md lists the used parts and the reasons.
//
// Encoded by hand (protobuf.h). The file grows in whole slices as FILE.part, which a reader can open at any time.
#pragma once

#include <map>
#include <unordered_map>
#include <utility>
#include <vector>

#include "kernbench/platform/observe/trace_writer.h"

namespace kernbench::observe {

class PerfettoTraceWriter : public TraceWriter, private TraceCounters {
 public:
  explicit PerfettoTraceWriter(const std::string& file) : TraceWriter(file) {}

  void name_process(TraceTrack, std::string_view name) override;
  void name_track(TraceTrack, std::string_view name) override;
  void begin_slice(TraceTrack, std::string_view name, std::string_view category, double from, double to,
                   bool inside) override;
  void begin_instant(TraceTrack, std::string_view name, double t) override;
  void argument(const char* name, uint64_t value) override;
  void argument(const char* name, double value) override;
  void argument(const char* name, std::string_view value) override;
  void open_group(const char* name) override;
  void close_group() override;
  void flow(FlowStep, const char* kind, const std::string& id) override;
  void end() override;
  TraceCounters* counters() override { return this; }
  TraceCounters& power_counters() override { return *this; }

 private:
  struct Slice {
    uint64_t from_fs, to_fs;
    std::string event;  ///< an encoded TrackEvent
  };
  struct Track {
    uint64_t uuid = 0;
    uint64_t until_fs = 0;      ///< end of its last written slice
    std::vector<Slice> inside;  ///< of the next slice
  };
  /// Texts that the file contains once, by field of InternedData.
  enum Interned : uint32_t { categories = 1, event_names = 2, argument_names = 3 };

  uint64_t add_group(std::string_view name) override;
  Counter add_counter(uint64_t group, std::string_view name, std::string_view unit) override;
  Counter add_counter_of(uint32_t process, std::string_view name, std::string_view unit) override;
  void count(Counter, double t, uint64_t value) override;
  void count(Counter, double t, double value) override;
  void finish() override;

  /// Users' engines may leave servers unnamed; their tracks have no name.
  Track& track_of(TraceTrack);
  /// Returns its uuid.
  uint64_t describe_process(uint32_t process, std::string_view name);
  uint64_t number(Interned, std::string_view text);
  void begin_event(uint64_t type, TraceTrack, std::string_view name, std::string_view category);
  std::string& begin_argument(const char* name);
  void end_argument();
  void write_slice(Track&, Slice&);
  void write_end(const Track&, uint64_t fs);
  void write_event(uint64_t fs, std::string_view event);
  void write_descriptor(std::string_view descriptor);
  void write_packet(std::string_view content);

  uint64_t last_uuid_ = 0;
  std::map<uint32_t, uint64_t> processes_;  ///< uuids
  std::map<uint64_t, Track> tracks_;        ///< by thread
  std::unordered_map<std::string, uint64_t> numbers_[argument_names + 1];
  std::string new_texts_;  ///< InternedData that is not in the file yet
  bool begun_ = false;
  // The event between begin_*() and end().
  std::string event_, argument_, group_;
  bool in_group_ = false, is_slice_ = false, inside_ = false;
  uint64_t thread_ = 0, from_fs_ = 0, to_fs_ = 0;
};

}  // namespace kernbench::observe
