// --ttir and what goes with it, of `kernbench run`.
#pragma once

#include <memory>

#include "kernbench/platform/run/spec/run_spec.h"

namespace kernbench {

struct RunOptions;
struct RunReport;
namespace triton {
class Launch;
}

namespace cli {

/// Registers the kernel that --ttir asks for, and makes it the run's, with its files. Null without --ttir. InputError,
/// also where one of the options that belong to it stands alone.
std::shared_ptr<triton::Launch> make_triton_kernel(const spec::RunSpec&, RunOptions*);

/// When its programs ran, into the report.
void add_programs(const triton::Launch&, RunReport*);

}  // namespace cli
}  // namespace kernbench
