// SPDX-License-Identifier: Apache-2.0
// The measured times of a model's phases: by layer, part, kernel and collective, with the machine's peaks for
// comparison.
#pragma once

#include <iosfwd>
#include <optional>
#include <string>
#include <vector>

#include "kernbench/platform/models/capacity.h"
#include "kernbench/platform/models/model_program.h"
#include "kernbench/platform/run/host_program.h"

namespace kernbench::models {

/// Peaks of the program's PEs together.
struct Peaks {
  double flop_ns = 0;  ///< GEMM engines, in the model's type
  double hbm_gbs = 0;
};

struct LayerTime {
  struct Item {
    std::string name;
    int64_t launches = 0;
    double time_ns = 0;
  };
  std::string layer;
  int64_t times = 1;  ///< layers of the model that it represents
  double time_ns = 0;
  std::vector<Item> parts, kernels;  ///< in order of first appearance
};

/// Times of one step; a field without value does not apply to the phase.
struct PhaseTimes {
  Phase phase;
  double time_ns = 0;
  std::optional<double> ttft_ns, tpot_ns;
  double tokens_s = 0;  ///< all sequences together
  double mfu = 0, hbm_share = 0;
  double all_reduce_ns = 0;            ///< sums over the ranks only
  double sums_beside = 0;              ///< fraction of the sums' bytes that overlaps products
  double experts_chosen = 0;           ///< mean per layer and step, over all rows; 0: no experts
  std::optional<double> joules_token;  ///< set if this is the only phase, with an energy table
  std::vector<LayerTime> layers;
};

struct ModelReport {
  const ModelProgram* program = nullptr;
  Capacity capacity;
  Peaks peaks;
  std::vector<PhaseTimes> phases;
  std::vector<std::string> assumes;  ///< assumptions of --repeat
  std::vector<std::string> verdict;
};

ModelReport report_of(const ModelProgram&, const Capacity&, const Peaks&, const ProgramReport&);
/// With --repeat: the run's parts in which a simulated layer represents several.
std::vector<RunReport::Repeated> repeated_parts(const ModelProgram&, const ProgramReport&);
/// Report of a model that does not fit: nothing was run.
ModelReport report_of(const ModelProgram&, const Capacity&);

/// Metrics for sweeps and tuners.
ModelFigures model_figures(const ModelReport&);

void write_model_text(std::ostream&, const ModelReport&, const ProgramReport&);
/// "run", "model", "phases", "capacity", "verdict", then the fields of a program's report.
void write_model_json(std::ostream&, const ModelReport&, const ProgramReport&);

}  // namespace kernbench::models
