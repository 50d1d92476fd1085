// SPDX-License-Identifier: Apache-2.0
// Names of options in plans and requests: the options of the command that points may have
// (platform/run/spec/run_spec.h).
#pragma once

#include <string>
#include <vector>

#include "kernbench/platform/run/spec/run_spec.h"

namespace kernbench::sweep {

/// All names, for messages.
std::vector<std::string> point_option_names(const spec::Table&);

/// The error in an option's name as used in plans and requests, "links" or "param.n"; empty: none.
std::string option_name_fault(const spec::Table&, const std::string& name);
/// The error in a value of such an option; empty: none that can be found without the run.
std::string option_value_fault(const spec::Table&, const std::string& name, const std::string& value);

}  // namespace kernbench::sweep
