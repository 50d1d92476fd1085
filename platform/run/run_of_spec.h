// SPDX-License-Identifier: Apache-2.0
// A run as its options say it (platform/run/spec): what run_kernel() and run_program() are to do, and how its document
// tells what came of what nobody gave.
#pragma once

#include "kernbench/platform/run/run.h"
#include "kernbench/platform/run/spec/run_document.h"

namespace kernbench {

/// Beside `isa`, logs and observers, and the kernel of --ttir and its files, which are the caller's. InputError.
RunOptions run_options(const spec::RunSpec&);

/// Links and responses as they are.
void set_links(spec::RunDocument&, const topology::Graph&);

/// And the launch, and all parameters. InputError, BadParam as the run's.
void resolve(spec::RunDocument&, Platform&, const RunOptions&);

}  // namespace kernbench
