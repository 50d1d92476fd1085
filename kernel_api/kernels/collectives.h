// SPDX-License-Identifier: Apache-2.0
// Parameters, tensors, references and wirings of the collectives' kernels (collectives rules §12.8).
#pragma once

#include <string>

#include "kernbench/kernel_api/collectives/schedules.h"
#include "kernbench/kernel_api/registry.h"

namespace kernbench::kernels {

KernelSpec collective_spec(ccl::Op, const std::string& help, KernelFunction);
KernelSpec barrier_spec(KernelFunction);

/// Describes the connections of each algorithm of an op.
std::string wiring_text(ccl::Op);
/// The collective that a launch's parameters describe. Its algorithm is `auto` until KernelSpec::prepare has selected
/// one.
ccl::Collective collective_of(ccl::Op, const Params&);
/// over, algorithm, root, part_bytes, chunk_bytes, redop, slots, slot_bytes and tier, if the op has them.
void add_collective_params(ccl::Op, std::vector<ParamSpec>*);
/// Selects the algorithm for vectors of that many elements (as the table counts them) and checks the parameters.
void prepare_collective(ccl::Op, int64_t elements, Params*, const LaunchCosts&, LaunchNotes*);

}  // namespace kernbench::kernels
