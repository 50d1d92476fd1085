// SPDX-License-Identifier: Apache-2.0
#include "kernbench/platform/observe/trace_writer.h"

#include <algorithm>

#include "kernbench/platform/observe/json_trace_writer.h"
#include "kernbench/platform/observe/perfetto_trace_writer.h"

namespace kernbench::observe {

namespace {
constexpr size_t kFlushBytes = 1 << 16;
constexpr std::string_view kPerfettoEnding = ".pftrace";
}  // namespace

void TraceWriter::whole() {
  whole_bytes_ = text_.size();
  if (text_.size() >= kFlushBytes) flush();
}

void TraceWriter::flush() {
  out_.write(text_);
  text_.clear();
  whole_bytes_ = 0;
}

void TraceWriter::close() {
  text_.resize(whole_bytes_);  // a run may fail in the middle of an event
  finish();
  flush();
  out_.keep();
}

std::unique_ptr<TraceWriter> make_trace_writer(const std::string& file) {
  const size_t stem = file.size() - std::min(file.size(), kPerfettoEnding.size());
  if (file.compare(stem, std::string::npos, kPerfettoEnding) == 0) return std::make_unique<PerfettoTraceWriter>(file);
  return std::make_unique<JsonTraceWriter>(file);
}

}  // namespace kernbench::observe
