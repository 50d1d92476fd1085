// SPDX-License-Identifier: Apache-2.0
// `kernbench whatif`: a run again and again with one part of the machine twice and half as fast, each a simulation in a
// process of its own; and beside it what the base run's causes predict without simulating (insight/run_graph.h).
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
  RunEach run_each;                ///< simulates
  spec::RunSpec run;               ///< of `run` or `model`
  std::vector<std::string> parts;  ///< of insight::scaled_parts(); none: all
  unsigned jobs = 0;               ///< processes at a time; 0: one a processor
  bool simulate = true;            ///< else predictions alone
};

struct WhatIf {
  struct Row {
    std::string part, title;  ///< "hbm", "HBM bandwidth"; of a pair "hbm+mesh"
    // ns; none: not done, or declined.
    std::optional<double> faster_ns, slower_ns, predicted_faster_ns, predicted_slower_ns;
    bool faster_other_order = false, slower_other_order = false;  ///< predicted where the order at a server changes
    std::string fault;                                            ///< the first line of a run that failed
    /// Neither way changes anything.
    bool changes_nothing(double sim_ns) const;
  };
  double sim_ns = 0;
  std::vector<std::string> verdict;
  std::vector<Row> rows;  ///< what saves most first; then the pair of the best two, and the verdict's
};

/// The run of a command line. InputError for one that is no run, or that writes files.
spec::RunSpec run_of_command(const std::vector<std::string>& words);
/// RunError where the base run fails, with what it said. `progress`: so
/// many runs of so many are done.
WhatIf what_if(const WhatIfOptions&, const std::function<void(size_t done, size_t of)>& progress);

void write_what_if_text(std::ostream&, const WhatIf&);
void write_what_if_csv(std::ostream&, const WhatIf&);
void write_what_if_json(std::ostream&, const WhatIf&);
/// A tornado plot: a bar a part, from its time twice as fast to that half as fast, around the run's.
void write_what_if_svg(std::ostream&, const WhatIf&);

}  // namespace kernbench::study
