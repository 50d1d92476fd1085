// SPDX-License-Identifier: Apache-2.0
// --ttir and what goes with it, of `kernbench run`. Only for the files of this folder.
#pragma once

#include <memory>

#include "kernbench/platform/run/spec/run_spec.h"

namespace kernbench {

struct RunOptions;
struct RunReport;
namespace triton {
class Launch;
}

/// Registers the kernel that --ttir asks for, in the place of an earlier one, and makes it the run's, with its files.
/// Null without --ttir. InputError, also where one of the options that belong to it stands alone.
std::shared_ptr<triton::Launch> make_triton_kernel(const spec::RunSpec&, RunOptions*);

/// When its programs ran, into the report.
void add_programs(const triton::Launch&, RunReport*);

}  // namespace kernbench
