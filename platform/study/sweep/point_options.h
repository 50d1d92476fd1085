// SPDX-License-Identifier: Apache-2.0
// Options as plans and requests name them: those of the command that a point may be given
// (platform/run/spec/run_spec.h).
#pragma once

#include <string>
#include <vector>

#include "kernbench/platform/run/spec/run_spec.h"

namespace kernbench::sweep {

/// All names, for messages.
std::vector<std::string> point_option_names(const spec::Table&);

/// What is wrong with the name of an option as plans and requests have it, "links" or "param.n"; empty: nothing.
std::string option_name_fault(const spec::Table&, const std::string& name);
/// What is wrong with a value of such an option; empty: nothing that can be said without the run.
std::string option_value_fault(const spec::Table&, const std::string& name, const std::string& value);

}  // namespace kernbench::sweep
