// SPDX-License-Identifier: Apache-2.0
// Who simulates collectives for `algorithm=best`: each algorithm alone, on the PEs of the launch that asks, in a
// process of its own, once for a size, group and machine: the answers are kept in files.
//
//   kernbench::Platform platform("platform", file);
//   kernbench::CollectiveTrials trials(platform, machine, kernbench::topology::default_cache_folder());
//
// From here on, also while the simulation runs, launches on that platform may say algorithm=best. `kernbench run` and
// `kernbench collectives` make one where they need it.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "kernbench/kernel_api/launch_costs.h"

namespace kernbench {

class ChildPool;
class Platform;
namespace spec {
struct RunDocument;
}

class CollectiveTrials {
 public:
  /// Starts a copy of this process, which waits for what to simulate: before anything has run on the platform, and
  /// before anybody watches it. `machine` names all that decides the times on it; `folder` is where answers are kept,
  /// "": nowhere. The platform outlives it. RunError where no process can be started.
  CollectiveTrials(Platform& platform, std::string machine, std::string folder);
  ~CollectiveTrials();
  CollectiveTrials(const CollectiveTrials&) = delete;
  CollectiveTrials& operator=(const CollectiveTrials&) = delete;

 private:
  std::vector<double> times_ns(const CollectiveTrial&, const std::string& pes);
  std::vector<double> simulated_ns(const std::string& question, size_t algorithms);

  Platform& platform_;
  const std::string machine_, folder_;
  std::unique_ptr<ChildPool> pool_;
  int socket_ = -1;
};

/// Simulates them here and now, each in a copy of this process, on a platform that nothing has run on. `pes`: ids,
/// separated by commas. Infinite for an algorithm that fails.
std::vector<double> simulate_collectives(Platform&, const CollectiveTrial&, const std::string& pes);

/// What decides times on the machine of a run: version, topology, and the options that change it.
std::string machine_of(const spec::RunDocument&);

}  // namespace kernbench
