// SPDX-License-Identifier: Apache-2.0
// The sequential phases of a run's host, for plots.
#pragma once

#include <string>
#include <vector>

namespace kernbench {

struct ProgramReport;
struct RunReport;

/// Times in ns; never empty.
struct HostPhase {
  std::string track;  ///< "host", or a program's stream
  std::string name;   ///< "upload", "launch", "kernels"; "launch gemm"
  double from_ns = 0, to_ns = 0;
};

/// For a run; empty if kernels were launched directly.
std::vector<HostPhase> host_phases(const RunReport&);
/// For a program: the operations of its streams that take time.
std::vector<HostPhase> host_phases(const ProgramReport&);

}  // namespace kernbench
