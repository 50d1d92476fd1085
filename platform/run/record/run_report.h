// SPDX-License-Identifier: Apache-2.0
// A run's report, for people and for tools.
#pragma once

#include <iosfwd>
#include <string>

#include "kernbench/platform/run/record/run_record.h"

namespace kernbench::phase2 {
class Fields;
}

namespace kernbench {

namespace insight {
struct RunFigures;
}

/// What an Insight of the run is made of (insight/insight.h).
insight::RunFigures figures_of(const RunReport&);

/// Behind a run's time: ", verified", ", nothing to verify", ", VERIFICATION FAILED", or nothing.
const char* verdict_text(const RunReport&);
void write_run_text(std::ostream&, const RunReport&);
/// docs/run_report.schema.json.
void write_run_json(std::ostream&, const RunReport&);

// Parts of reports.
std::string time_text(double ns);  ///< "1.234 us"
/// Where the time went: all PEs' engines by their part, then the busiest single ones.
void write_engines(std::ostream&, const RunReport&);
/// What a text report ends with: energy, what bounds the run, engines, verification, races, the work it was.
void write_findings(std::ostream&, const RunReport&);
/// "1.50 MB".
std::string bytes_text(uint64_t bytes);
/// What was computed and moved a second.
void write_rates(std::ostream&, const RunReport&);
/// Which algorithm a launch has, and what the others would have cost alone: "ring of 2 members; by the cost table …".
std::string choice_text(const LaunchNotes&);

// Descriptions (phase2/text/fields.h).
void describe(Fields&, const RunReport&);
void describe(Fields&, RunReport::PeTimes&);
void describe(Fields&, RunReport::ProgramTimes&);
void describe(Fields&, EngineReport&);
void describe(Fields&, MemoryReport&);
void describe(Fields&, QueueTraffic&);
void describe(Fields&, SegmentAccount&);
/// The algorithm of a launch; no fields where the kernel has none.
void describe_choice(Fields&, const LaunchNotes&);
/// The fields of a run up to "transfer"; `what`: "kernel" or "program". And from "pes" to its end.
void begin_report(Fields&, const char* what, const RunReport&);
void end_report(Fields&, const RunReport&);
/// What the run has of figures.h.
void describe_figures(Fields&, const RunReport&);

}  // namespace kernbench
