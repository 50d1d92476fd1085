// SPDX-License-Identifier: Apache-2.0
// A sweep as it is asked for: the command, what it varies, and how points are chosen; from options or from a file.
#pragma once

#include <string>
#include <vector>

#include "kernbench/phase2/io/command_files.h"
#include "kernbench/platform/study/sweep/sampling.h"

namespace kernbench::sweep {

struct Plan {
  /// An expression (constraints.h), and what to say in front of its faults: "plan.yaml:7: where[0]", "--where".
  struct Where {
    std::string expression, place;
  };
  Words command;                                           ///< run, model or probe, with the options that stay the same
  std::vector<std::pair<std::string, std::string>> fixed;  ///< those options that expressions may name; of a file
  std::vector<Axis> axes;
  Sampling sampling;
  std::vector<Where> where;
};

/// All inputs of its points. InputError where one is an output of the command, and where points write files: each would
/// replace the one before it.
void add_files(CommandFiles&, const Plan&);

/// A plan file, docs/sweep.md. `file` is its name for messages. topology::TopologyError with all its faults by line.
Plan parse_plan(const std::string& text, const std::string& file);

struct Point {
  Words values;  ///< one an axis
  /// "links=flit param.n=64".
  std::string name(const std::vector<Axis>&) const;
  /// Of the command line, without --format and --threads. Made when they are wanted: each process that is copied from
  /// this one costs what this one holds.
  Words words(const Plan&) const;
};

/// The plan's points in order, without those that a constraint leaves out. InputError.
std::vector<Point> points_of(const Plan&);

}  // namespace kernbench::sweep
