// SPDX-License-Identifier: Apache-2.0
// Writes a sweep's shards as a script for a launcher on many machines: Slurm, GNU parallel, make.
#pragma once

#include <string>

#include "kernbench/platform/study/sweep/axis.h"

namespace kernbench::sweep {

enum class Engine { slurm, parallel, make };

/// Contents of the script. Paths are absolute, because tasks run on other machines with the same file system.
struct Emission {
  Engine engine = Engine::slurm;
  std::string version;    ///< of kernbench; tasks on a machine with another version do nothing
  std::string kernbench;  ///< the program
  std::string folder;     ///< working directory of the command; relative names refer to it
  std::string name;       ///< of the job, in queues
  Words options;          ///< of `sweep`, without those of store and shard
  Words table_options;    ///< options of the last step only
  Words command;          ///< after --; none if a plan contains it
  std::string store;      ///< has all points at the end
  std::string shards;     ///< folder for the shards' stores
  std::string table;      ///< file
  size_t tasks = 1;       ///< shards
};

/// Each shard writes its points to a separate store. The last step merges the stores and writes the table. A restarted
/// script does only the remaining work.
std::string emit(const Emission&);

}  // namespace kernbench::sweep
