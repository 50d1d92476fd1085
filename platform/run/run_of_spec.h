// SPDX-License-Identifier: Apache-2.0
// Converts a run's specification (platform/run/spec) into options of run_kernel() and run_program(), and completes its
// document with the effective values of absent options.
#pragma once

#include "kernbench/platform/run/run.h"
#include "kernbench/platform/run/spec/run_document.h"

namespace kernbench {

/// Without `isa`, logs, observers, and the kernel of --ttir with its files, which the caller sets. InputError.
RunOptions run_options(const spec::RunSpec&);

/// The effective links and responses.
void set_links(spec::RunDocument&, const topology::Graph&);

/// Also the launch and all parameters. InputError, BadParam as in the run.
void resolve(spec::RunDocument&, Platform&, const RunOptions&);

}  // namespace kernbench
