// SPDX-License-Identifier: Apache-2.0
// Parameters, tensors, references and wirings of the collectives' kernels (collectives rules §12.8).
#pragma once

#include <string>

#include "kernbench/kernel_api/collectives/schedules.h"
#include "kernbench/kernel_api/registry.h"

namespace kernbench::kernels {

KernelSpec collective_spec(ccl::Op, const std::string& help, KernelFunction);
KernelSpec barrier_spec(KernelFunction);

/// Of each algorithm of an op, in words.
std::string wiring_text(ccl::Op);
/// As a launch's parameters say it; its algorithm is `auto` until KernelSpec::prepare has chosen one.
ccl::Collective collective_of(ccl::Op, const Params&);
/// over, algorithm, root, part_bytes, chunk_bytes, redop, slots, slot_bytes and tier, as far as the op has them.
void add_collective_params(ccl::Op, std::vector<ParamSpec>*);
/// Chooses the algorithm for vectors of so many elements (as the table counts them) and checks what must be checked.
void prepare_collective(ccl::Op, int64_t elements, Params*, const LaunchCosts&, LaunchNotes*);

}  // namespace kernbench::kernels
