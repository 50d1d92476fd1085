// SPDX-License-Identifier: Apache-2.0
// The machine of a run, as its options say it.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "kernbench/phase2/io/command_files.h"
#include "kernbench/platform/elaborate/plugins.h"
#include "kernbench/platform/run/spec/run_spec.h"
#include "kernbench/platform/topology/build/compiler.h"

namespace kernbench {

class Platform;

/// --topology, --links, --response, --set, --scale and --plugin, as several commands have them.
struct SystemOptions {
  std::string file;
  std::vector<std::string> plugins;
  std::string links, response, materialize;
  std::vector<std::string> settings, scales;
  std::string yaml;  ///< the file's text where that is known already, of a log; else empty
  SystemOptions() = default;
  explicit SystemOptions(const spec::RunSpec&);
  /// The text of the file.
  std::string text() const;
  /// Loads the plug-ins, each once. InputError.
  std::vector<Plugin> load_plugins() const;
  /// Loads the plug-ins and compiles the file.
  topology::Graph compile() const;
  /// And builds the system. It is never taken apart: the process is about to end, and that would take as long again.
  Platform& build() const;
};

/// A point of a sweep has come to its end. From the second point of a system on that is compiled here, so that the
/// copies for later points have it. The first few systems only: reading a file takes a third of a short run, but this
/// process compiles one after the other and keeps what it has. Systems with plug-ins are left out: their code is to run
/// in copies alone.
void share_system(const spec::RunSpec&);

/// The files that a value of an option leads to, without its NAME=: the file that a topology's or an energy table's
/// name stands for, the energy table of a topology, the files of a folder, the files beside a waveform or an op log.
std::vector<std::string> files_of(const spec::Option&, const std::string& value);

/// All inputs and outputs of the run. InputError where an output is one of the others.
void add_files(CommandFiles&, const spec::RunSpec&);

}  // namespace kernbench
