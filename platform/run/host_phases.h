// SPDX-License-Identifier: Apache-2.0
// What the host of a run did, one after the other: for pictures of it.
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

/// Of a run: none where kernels were launched directly.
std::vector<HostPhase> host_phases(const RunReport&);
/// Of a program: the operations of its streams that take time.
std::vector<HostPhase> host_phases(const ProgramReport&);

}  // namespace kernbench
