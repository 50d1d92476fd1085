// SPDX-License-Identifier: Apache-2.0
// File formats of a trace. Trace decides on the contents; a writer encodes them.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "kernbench/phase2/io/whole_file.h"

namespace kernbench::observe {

/// The place of slices and instants. Thread numbers are unique over all processes.
struct TraceTrack {
  uint32_t process = 0;
  uint64_t thread = 0;
};

/// An arrow begins in one slice, passes others, and ends in one.
enum class FlowStep : uint8_t { begins, goes_on, ends };

/// Values that change over time, for formats that support them. Times in ns; those of a counter are in order.
class TraceCounters {
 public:
  using Counter = uint64_t;
  virtual ~TraceCounters() = default;
  /// A separate group of counters, beside the processes.
  virtual uint64_t add_group(std::string_view name) = 0;
  virtual Counter add_counter(uint64_t group, std::string_view name, std::string_view unit) = 0;
  /// The same, beside a process's threads.
  virtual Counter add_counter_of(uint32_t process, std::string_view name, std::string_view unit) = 0;
  virtual void count(Counter, double t, uint64_t value) = 0;
  virtual void count(Counter, double t, double value) = 0;
};

/// Times in ns. A slice or instant is begun, gets its arguments, and is ended.
class TraceWriter {
 public:
  /// InputError if the file cannot be created.
  explicit TraceWriter(const std::string& file) : out_(file) {}
  virtual ~TraceWriter() = default;
  TraceWriter(const TraceWriter&) = delete;
  TraceWriter& operator=(const TraceWriter&) = delete;

  /// Names a process, given by one of its tracks.
  virtual void name_process(TraceTrack, std::string_view name) = 0;
  virtual void name_track(TraceTrack, std::string_view name) = 0;
  /// `inside`: it lies in the track's next slice with `inside` false, which is reported later because it ends later.
  /// The other slices of a track do not overlap.
  virtual void begin_slice(TraceTrack, std::string_view name, std::string_view category, double from, double to,
                           bool inside) = 0;
  virtual void begin_instant(TraceTrack, std::string_view name, double t) = 0;
  virtual void argument(const char* name, uint64_t value) = 0;
  virtual void argument(const char* name, double value) = 0;
  virtual void argument(const char* name, std::string_view value) = 0;
  /// Arguments up to close_group() form one group.
  virtual void open_group(const char* name) = 0;
  virtual void close_group() = 0;
  /// The slice is a step of the arrow with this kind and id.
  virtual void flow(FlowStep, const char* kind, const std::string& id) = 0;
  virtual void end() = 0;
  /// Null if the format's viewers cannot show many counters well.
  virtual TraceCounters* counters() { return nullptr; }
  /// Power counters; they are few, so every format has them.
  virtual TraceCounters& power_counters() = 0;
  /// Completes the file with all ended events and renames it. RunError if it could not be written.
  void close();

 protected:
  void flush();
  /// text_ holds only complete events; writes it if there is enough.
  void whole();

  std::string text_;  ///< not in the file yet

 private:
  /// Writes the format's end of file.
  virtual void finish() {}

  WholeFile out_;
  size_t whole_bytes_ = 0;  ///< complete part of text_
};

/// Chosen by the file's ending: .pftrace is Perfetto's format, all others are Chrome's JSON.
std::unique_ptr<TraceWriter> make_trace_writer(const std::string& file);

}  // namespace kernbench::observe
