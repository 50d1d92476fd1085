// SPDX-License-Identifier: Apache-2.0
// --ttir and its options, for `kernbench run`. Only for the files of this folder.
#pragma once

#include <memory>

#include "kernbench/platform/run/spec/run_spec.h"

namespace kernbench {

struct RunOptions;
struct RunReport;
namespace triton {
class Launch;
}

/// Registers the kernel of --ttir, replacing an earlier one, and puts it with its files into the run's options. Null
/// without --ttir. InputError, also for one of its options without --ttir.
std::shared_ptr<triton::Launch> make_triton_kernel(const spec::RunSpec&, RunOptions*);

/// Adds the times of its programs to the report.
void add_programs(const triton::Launch&, RunReport*);

}  // namespace kernbench
