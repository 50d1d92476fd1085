// What `kernbench probe` prints, as text, csv or json.
#pragma once

#include <iosfwd>
#include <vector>

#include "kernbench/platform/tools/probe.h"
#include "kernbench/platform/tools/probe_checks.h"
#include "kernbench/platform/tools/probe_hops.h"
#include "kernbench/platform/tools/probe_saturation.h"

namespace kernbench {
namespace spec {
struct RunDocument;
}
namespace topology {
struct Graph;
}

struct ProbeReport {
  std::vector<ProbeResult> results;
  std::vector<ProbeTrace> traces;  ///< by result, or none
  std::vector<ProbeSweep> sweeps;  ///< by result, or none
  std::vector<SaturationResult> saturation;
  std::vector<ProbeCheck> checks;
  bool list_checks = false;  ///< text: every check, not only their number and the failed ones
};

void write_probe_text(std::ostream&, const topology::Graph&, const ProbeReport&);
/// {"run": …, "cases": […]}: each with its hops, sweep and checks; the scenarios where the report has saturation.
void write_probe_json(std::ostream&, const topology::Graph&, const ProbeReport&, const spec::RunDocument&);
/// One table: of the hops or sweeps where the report has them, of the saturation, else of the cases.
void write_probe_csv(std::ostream&, const topology::Graph&, const ProbeReport&);

}  // namespace kernbench
