// SPDX-License-Identifier: Apache-2.0
// `kernbench whatif`: repeats a run with one part of the machine at twice and half speed, each simulation in a separate
// process. It also shows the predictions of the base run's causal graph without simulation (insight/run_graph.h).
#pragma once

#include <functional>
#include <iosfwd>
#include <optional>
#include <string>
#include <vector>

#include "kernbench/phase2/rooms.h"
#include "kernbench/platform/run/record/record.h"

namespace kernbench::study {

struct WhatIfOptions {
  RunEach run_each;                ///< runs the simulations
  spec::RunSpec run;               ///< of `run` or `model`
  std::vector<std::string> parts;  ///< of insight::scaled_parts(); none: all
  unsigned jobs = 0;               ///< concurrent processes; 0: one per processor
  bool simulate = true;            ///< false: predictions only
};

struct WhatIf {
  struct Row {
    std::string part, title;  ///< "hbm", "HBM bandwidth"; a pair is "hbm+mesh"
    // ns; none: not simulated or not predicted.
    std::optional<double> faster_ns, slower_ns, predicted_faster_ns, predicted_slower_ns;
    double faster_doubt_ns = 0, slower_doubt_ns = 0;  ///< how far a prediction may be off; 0: it holds
    std::string fault;                                ///< the first line of a run that failed
    /// Neither direction changes anything.
    bool changes_nothing(double sim_ns) const;
  };
  double sim_ns = 0;
  std::vector<std::string> verdict;
  std::vector<Row> rows;  ///< the largest saving first; then the pair of the best two, and the verdict's pair
};

/// The run of a command line. InputError if it is no run, or if it writes files.
spec::RunSpec run_of_command(const std::vector<std::string>& words);
/// RunError with the run's message if the base run fails. `progress`: finished runs, all runs.
WhatIf what_if(const WhatIfOptions&, const std::function<void(size_t done, size_t of)>& progress);

void write_what_if_text(std::ostream&, const WhatIf&);
void write_what_if_csv(std::ostream&, const WhatIf&);
void write_what_if_json(std::ostream&, const WhatIf&);
/// A tornado plot: one bar per part, from its time at twice speed to its time at half speed, around the run's.
void write_what_if_svg(std::ostream&, const WhatIf&);

}  // namespace kernbench::study
