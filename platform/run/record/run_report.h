// SPDX-License-Identifier: Apache-2.0
// Text and JSON report of a run.
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

/// The input of the run's Insight (insight/insight.h).
insight::RunFigures figures_of(const RunReport&);

/// Appended to a run's time: ", verified", ", nothing to verify", ", VERIFICATION FAILED", or empty.
const char* verdict_text(const RunReport&);
void write_run_text(std::ostream&, const RunReport&);
/// docs/run_report.schema.json.
void write_run_json(std::ostream&, const RunReport&);

// Parts of reports.
std::string time_text(double ns);  ///< "1.234 us"
/// Time by part of all PEs' engines, then the busiest single ones.
void write_engines(std::ostream&, const RunReport&);
/// The end of a text report: energy, bottleneck, engines, verification, races, work.
void write_findings(std::ostream&, const RunReport&);
/// "1.50 MB".
std::string bytes_text(uint64_t bytes);
/// Operations and bytes per second.
void write_rates(std::ostream&, const RunReport&);
/// A launch's algorithm, and the predicted time of the others: "ring of 2 members; by the cost table …".
std::string choice_text(const LaunchNotes&);

// Descriptions (phase2/text/fields.h).
void describe(Fields&, const RunReport&);
void describe(Fields&, RunReport::PeTimes&);
void describe(Fields&, RunReport::ProgramTimes&);
void describe(Fields&, EngineReport&);
void describe(Fields&, MemoryReport&);
void describe(Fields&, QueueTraffic&);
void describe(Fields&, SegmentAccount&);
/// The algorithm of a launch; no fields if the kernel has none.
void describe_choice(Fields&, const LaunchNotes&);
/// The fields of a run up to "transfer"; `what`: "kernel" or "program". The second function: from "pes" to its end.
void begin_report(Fields&, const char* what, const RunReport&);
void end_report(Fields&, const RunReport&);
/// The run's values of figures.h.
void describe_figures(Fields&, const RunReport&, bool on_page = false);

}  // namespace kernbench
