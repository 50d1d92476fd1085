// A trace as Chrome trace events: JSON. Times in µs with all digits; args have them in ns too. What a process that was
// killed leaves, FILE.part, has no closing bracket, which the format allows.
#pragma once

#include <optional>

#include "kernbench/phase2/text/json_writer.h"
#include "kernbench/platform/observe/trace_writer.h"

namespace kernbench {

class JsonTraceWriter : public TraceWriter {
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

 private:
  /// An event of its own, behind that of its slice.
  struct Flow {
    FlowStep step;
    const char* kind;
    std::string id;
  };
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

}  // namespace kernbench
