// Systems that many points of a sweep share: compiled once, before the points' processes are copied from this one.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "kernbench/platform/cli/commands.h"

namespace kernbench::cli {

/// A point, `words` of run or probe, has come to its end. From the second point of a system on it is compiled here, so
/// that the copies for later points have it. The first few systems only: reading a file takes a third of a short
/// run, but this process compiles one after the other and keeps what it has. Systems with plug-ins are left out: their
/// code is to run in copies alone.
void share_system(const std::vector<std::string>& words);

/// In a copy: the system, where it was compiled before; for once.
std::optional<topology::Graph> take_shared_system(const TopologyOptions&);

}  // namespace kernbench::cli
