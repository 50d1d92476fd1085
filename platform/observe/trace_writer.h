// SPDX-License-Identifier: Apache-2.0
// The forms of a trace: what is shown is Trace's alone, how it stands in the file a writer's.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "kernbench/phase2/io/whole_file.h"

namespace kernbench::observe {

/// Where slices and instants stand; threads have numbers of their own over all processes.
struct TraceTrack {
  uint32_t process = 0;
  uint64_t thread = 0;
};

/// An arrow begins in a slice, goes on in others, and ends in one.
enum class FlowStep : uint8_t { begins, goes_on, ends };

/// Values that change over time, in forms that have them. Times in ns; those of a counter come in order.
class TraceCounters {
 public:
  using Counter = uint64_t;
  virtual ~TraceCounters() = default;
  /// A group of its own for counters, beside the processes.
  virtual uint64_t add_group(std::string_view name) = 0;
  virtual Counter add_counter(uint64_t group, std::string_view name, std::string_view unit) = 0;
  /// The same, beside a process's threads.
  virtual Counter add_counter_of(uint32_t process, std::string_view name, std::string_view unit) = 0;
  virtual void count(Counter, double t, uint64_t value) = 0;
  virtual void count(Counter, double t, double value) = 0;
};

/// Times in ns. A slice or instant is begun, given arguments, and ended.
class TraceWriter {
 public:
  /// InputError if the file cannot be made.
  explicit TraceWriter(const std::string& file) : out_(file) {}
  virtual ~TraceWriter() = default;
  TraceWriter(const TraceWriter&) = delete;
  TraceWriter& operator=(const TraceWriter&) = delete;

  /// A process by one of its tracks.
  virtual void name_process(TraceTrack, std::string_view name) = 0;
  virtual void name_track(TraceTrack, std::string_view name) = 0;
  /// `inside`: it lies in the next slice of the track that does not, which is told later because it ends later. The
  /// others of a track follow each other.
  virtual void begin_slice(TraceTrack, std::string_view name, std::string_view category, double from, double to,
                           bool inside) = 0;
  virtual void begin_instant(TraceTrack, std::string_view name, double t) = 0;
  virtual void argument(const char* name, uint64_t value) = 0;
  virtual void argument(const char* name, double value) = 0;
  virtual void argument(const char* name, std::string_view value) = 0;
  /// Arguments up to close_group() are parts of one.
  virtual void open_group(const char* name) = 0;
  virtual void close_group() = 0;
  /// The slice is a step of the arrow that has this kind and id.
  virtual void flow(FlowStep, const char* kind, const std::string& id) = 0;
  virtual void end() = 0;
  /// Null where the form's viewers would show nothing but slices for many of them.
  virtual TraceCounters* counters() { return nullptr; }
  /// Of a run's power: a few, which every form has.
  virtual TraceCounters& power_counters() = 0;
  /// Ends the file with what was ended; it takes its name. RunError if it could not be written.
  void close();

 protected:
  void flush();
  /// What text_ holds is whole; it is written where it is enough.
  void whole();

  std::string text_;  ///< not in the file yet

 private:
  /// What the form wants behind the last event.
  virtual void finish() {}

  WholeFile out_;
  size_t whole_bytes_ = 0;  ///< so much of text_
};

/// By the file's ending: .pftrace is Perfetto's own form, all else Chrome's JSON.
std::unique_ptr<TraceWriter> make_trace_writer(const std::string& file);

}  // namespace kernbench::observe
