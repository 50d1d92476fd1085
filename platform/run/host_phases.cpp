// SPDX-License-Identifier: Apache-2.0
#include "kernbench/platform/run/host_phases.h"

#include <algorithm>
#include <utility>

#include "kernbench/platform/run/host_program.h"
#include "kernbench/platform/run/run.h"

namespace kernbench {

std::vector<HostPhase> host_phases(const RunReport& r) {
  std::vector<HostPhase> phases;
  if (r.launch != "host") return phases;
  double kernels_end = r.start_ns;
  for (const RunReport::PeTimes& pe : r.pes) kernels_end = std::max(kernels_end, pe.end_ns);
  double from = 0;
  for (const auto& [name, to] :
       {std::make_pair("upload", r.upload_ns), std::make_pair("launch", r.start_ns),
        std::make_pair("kernels", kernels_end), std::make_pair("completion", r.end_ns - r.download_ns),
        std::make_pair("read back", r.end_ns)}) {
    if (to > from) phases.push_back({"host", name, from, to});
    from = std::max(from, to);
  }
  return phases;
}

std::vector<HostPhase> host_phases(const ProgramReport& p) {
  std::vector<HostPhase> phases;
  for (const host::Operation& op : p.ops) {
    const std::string name = host::name_of(op.kind) + (op.name.empty() ? "" : " " + op.name);
    for (size_t i = 0; i < op.streams.size(); ++i) {
      if (op.end_ns[i] > op.begin_ns) phases.push_back({op.streams[i].to_string(), name, op.begin_ns, op.end_ns[i]});
    }
  }
  return phases;
}

}  // namespace kernbench
