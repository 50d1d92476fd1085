// SPDX-License-Identifier: Apache-2.0
// A sweep's shards as a script for an engine that starts them on many machines: Slurm, GNU parallel, make.
#pragma once

#include <string>

#include "kernbench/platform/study/sweep/axis.h"

namespace kernbench::sweep {

enum class Engine { slurm, parallel, make };

/// What stands in the script. Files are absolute: tasks run on other machines, which see them by the same names.
struct Emission {
  Engine engine = Engine::slurm;
  std::string version;    ///< of kernbench: a machine that has another one does nothing
  std::string kernbench;  ///< the program
  std::string folder;     ///< in which the command was given: its words may name files from there
  std::string name;       ///< of the job, for queues
  Words options;          ///< of `sweep`, but those of its store and its shard
  Words table_options;    ///< the last step's alone
  Words command;          ///< behind --; none where a plan says it
  std::string store;      ///< in which all points are in the end
  std::string shards;     ///< folder of the shards' stores
  std::string table;      ///< file
  size_t tasks = 1;       ///< shards
};

/// Each shard keeps its points in a store of its own; the last step merges them and writes the table. Started again, a
/// script does what is not done yet.
std::string emit(const Emission&);

}  // namespace kernbench::sweep
