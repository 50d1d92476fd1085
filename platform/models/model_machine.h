// SPDX-License-Identifier: Apache-2.0
// What the machine has for a model: where the chosen PEs stand, their memories, their peaks.
#pragma once

#include "kernbench/platform/launch/pe_selection.h"
#include "kernbench/platform/models/capacity.h"
#include "kernbench/platform/models/model_report.h"

namespace kernbench {
class Platform;
}

namespace kernbench::models {

struct ModelMachine {
  Room room;
  Peaks peaks;
  int64_t pes_of_rank = 0;
};

/// Of the first `plan.ranks` SIPs of those that the choice leaves, to which it then narrows the choice. InputError
/// where there are fewer.
ModelMachine machine_for(Platform&, const ModelSpec&, const Plan& plan, PeChoice* choice);

/// How many cubes there are in the first rank of the PEs that the choice leaves, and PEs in each; 0 and 0 where these
/// are unlike.
struct CubesOfRank {
  int64_t cubes = 0, pes = 0;
};
CubesOfRank cubes_for(Platform&, const PeChoice& choice);

/// Of the PEs that the choice leaves.
Peaks peaks_for(Platform&, const PeChoice& choice, DType);

}  // namespace kernbench::models
