// SPDX-License-Identifier: Apache-2.0
// Simulates collectives for `algorithm=best`: each algorithm in isolation, on the PEs of the launch, in a separate
// process. Each size, group and machine is simulated once, because results are cached in files.
//
//   kernbench::Platform platform("platform", file);
//   kernbench::CollectiveTrials trials(platform, machine, kernbench::topology::default_cache_folder());
//
// Afterwards, also during the simulation, launches on that platform may use algorithm=best. `kernbench run` and
// `kernbench collectives` create one if they need it.
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
  /// Forks this process; the fork waits for requests. Construct it before anything runs on the platform and before
  /// observers are attached. `machine` identifies everything that affects times; `folder` is the cache, "": none. The
  /// platform outlives it. RunError if no process can be started.
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

/// Simulates them at once, each in a fork of this process, on a platform that has not run anything. `pes`:
/// comma-separated ids. Infinite for an algorithm that fails.
std::vector<double> simulate_collectives(Platform&, const CollectiveTrial&, const std::string& pes);

/// The properties that determine a machine's times: version, topology, and the options that change it.
std::string machine_of(const spec::RunDocument&);

}  // namespace kernbench
