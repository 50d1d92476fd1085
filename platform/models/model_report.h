// SPDX-License-Identifier: Apache-2.0
// What a model's phases have taken: by layer, part, kernel and collective, beside what the machine could do.
#pragma once

#include <iosfwd>
#include <optional>
#include <string>
#include <vector>

#include "kernbench/platform/models/capacity.h"
#include "kernbench/platform/models/model_program.h"
#include "kernbench/platform/run/host_program.h"

namespace kernbench::models {

/// Of the program's PEs together.
struct Peaks {
  double flop_ns = 0;  ///< of their GEMM engines, in the model's type
  double hbm_gbs = 0;
};

struct LayerTime {
  struct Item {
    std::string name;
    int64_t launches = 0;
    double time_ns = 0;
  };
  std::string layer;
  int64_t times = 1;  ///< how many layers of the model it stands for
  double time_ns = 0;
  std::vector<Item> parts, kernels;  ///< in the order in which they first come
};

/// Of one step; what a phase does not have is not there.
struct PhaseTimes {
  Phase phase;
  double time_ns = 0;
  std::optional<double> ttft_ns, tpot_ns;
  double tokens_s = 0;  ///< of all sequences
  double mfu = 0, hbm_share = 0;
  double all_reduce_ns = 0;   ///< of sums over the ranks alone
  double sums_beside = 0;     ///< the share of the sums' bytes that go beside products
  double experts_chosen = 0;  ///< by all rows of a layer's step, on an average; 0: no experts
  std::optional<double>
      joules_token;  ///< where the whole model was simulated in this phase alone, with an energy table
  std::vector<LayerTime> layers;
};

struct ModelReport {
  const ModelProgram* program = nullptr;
  Capacity capacity;
  Peaks peaks;
  std::vector<PhaseTimes> phases;
  std::vector<std::string> assumes;  ///< what --repeat takes for granted
  std::vector<std::string> verdict;
};

ModelReport report_of(const ModelProgram&, const Capacity&, const Peaks&, const ProgramReport&);
/// Of one that does not fit: nothing was run.
ModelReport report_of(const ModelProgram&, const Capacity&);

/// For sweeps and tuners.
ModelFigures model_figures(const ModelReport&);

void write_model_text(std::ostream&, const ModelReport&, const ProgramReport&);
/// "run", "model", "phases", "capacity", "verdict", then as a program's.
void write_model_json(std::ostream&, const ModelReport&, const ProgramReport&);

}  // namespace kernbench::models
