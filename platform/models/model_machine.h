// SPDX-License-Identifier: Apache-2.0
// The machine's properties that a model needs: positions, memories and peaks of the chosen PEs.
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

/// Takes the first `plan.ranks` SIPs of the choice and narrows the choice to them. InputError if there are fewer.
ModelMachine machine_for(Platform&, const ModelSpec&, const Plan& plan, PeChoice* choice);

/// Number of cubes in the first rank of the chosen PEs, and PEs in each; 0 and 0 if cubes differ.
struct CubesOfRank {
  int64_t cubes = 0, pes = 0;
};
CubesOfRank cubes_for(Platform&, const PeChoice& choice);

/// Peaks of the chosen PEs.
Peaks peaks_for(Platform&, const PeChoice& choice, DType);

}  // namespace kernbench::models
