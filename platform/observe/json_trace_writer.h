// SPDX-License-Identifier: Apache-2.0
// A trace as Chrome trace events in JSON. Times in µs with all digits; args also have them in ns. FILE.part of a killed
// process has no closing bracket, which the format allows.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "kernbench/phase2/text/json_writer.h"
#include "kernbench/platform/observe/trace_writer.h"

namespace kernbench::observe {

class JsonTraceWriter : public TraceWriter, private TraceCounters {
 public:
  explicit JsonTraceWriter(const std::string& file);

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
  TraceCounters& power_counters() override { return *this; }

 private:
  /// A separate event after that of its slice.
  struct Flow {
    FlowStep step;
    const char* kind;
    std::string id;
  };
  /// Counter events; each group is a separate process.
  uint64_t add_group(std::string_view name) override;
  Counter add_counter(uint64_t group, std::string_view name, std::string_view unit) override;
  Counter add_counter_of(uint32_t process, std::string_view name, std::string_view unit) override;
  void count(Counter c, double t, uint64_t value) override { count(c, t, static_cast<double>(value)); }
  void count(Counter, double t, double value) override;

  struct CounterTrack {
    TraceTrack track;
    std::string name, unit;
  };
  static constexpr uint32_t kFirstGroup = 1u << 30;  ///< after all processes
  uint32_t groups_ = 0;
  std::vector<CounterTrack> counters_;  ///< numbered from 1
  void begin(const char* phase, TraceTrack, std::string_view name);
  void begin(const char* phase, TraceTrack, std::string_view name, double t);
  void name(const char* what, TraceTrack, std::string_view name);
  void finish() override;

  JsonWriter json_;
  // Of the slice between begin_slice() and end().
  TraceTrack track_;
  double from_ = 0;
  std::optional<Flow> flow_;
};

}  // namespace kernbench::observe
