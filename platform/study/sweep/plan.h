// SPDX-License-Identifier: Apache-2.0
// A sweep's plan, from options or from a file: the command, its axes, and how points are chosen.
#pragma once

#include <string>
#include <vector>

#include "kernbench/phase2/io/command_files.h"
#include "kernbench/platform/study/sweep/sampling.h"

namespace kernbench::sweep {

struct Plan {
  /// An expression (constraints.h) and the prefix of its messages: "plan.yaml:7: where[0]", "--where".
  struct Where {
    std::string expression, place;
  };
  Words command;                                           ///< run, model or probe, with the fixed options
  std::vector<std::pair<std::string, std::string>> fixed;  ///< the fixed options that expressions may name; from a file
  std::vector<Axis> axes;
  Sampling sampling;
  std::vector<Where> where;
};

/// All inputs of its points. InputError if an input is an output of the command, or if points write files, because each
/// point would overwrite them.
void add_files(CommandFiles&, const Plan&);

/// Reads a plan file, docs/sweep.md. Messages name `file`. topology::TopologyError with all errors by line.
Plan parse_plan(const std::string& text, const std::string& file);

struct Point {
  Words values;  ///< one per axis
  /// "links=flit param.n=64".
  std::string name(const std::vector<Axis>&) const;
  /// Words of the command line, without --format and --threads. Made on demand, because each forked process copies this
  /// one's memory.
  Words words(const Plan&) const;
};

/// The plan's points in order, without those that a constraint excludes. InputError.
std::vector<Point> points_of(const Plan&);

}  // namespace kernbench::sweep
