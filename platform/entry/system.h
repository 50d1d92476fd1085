// SPDX-License-Identifier: Apache-2.0
// The machine of a run, as its options describe it.
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

/// --topology, --links, --response, --set, --scale and --plugin, which several commands share.
struct SystemOptions {
  std::string file;
  std::vector<std::string> plugins;
  std::string links, response, materialize;
  std::vector<std::string> settings, scales;
  std::string yaml;  ///< the file's text if known (from a log); else empty
  SystemOptions() = default;
  explicit SystemOptions(const spec::RunSpec&);
  /// The text of the file.
  std::string text() const;
  /// Loads the plug-ins, each once. InputError.
  std::vector<Plugin> load_plugins() const;
  /// Loads the plug-ins and compiles the file.
  topology::Graph compile() const;
  /// Compiles and builds the system. It is never destroyed, because the process is about to end and destruction takes
  /// as long as construction.
  Platform& build() const;
};

/// Call it when a sweep's point has ended. From a system's second point on, the system is compiled here, so that later
/// forks contain it. Limited to the first few systems: reading a file takes a third of a short run, but this process
/// compiles sequentially and keeps the results. Systems with plug-ins are excluded, because plug-ins must run only in
/// forked processes.
void share_system(const spec::RunSpec&);

/// The files that an option's value refers to, without its NAME=: the file of a topology's or energy table's name, the
/// energy table of a topology, the files of a folder, the files beside a waveform or an op log.
std::vector<std::string> files_of(const spec::Option&, const std::string& value);

/// All inputs and outputs of the run. InputError if an output is also another of these files.
void add_files(CommandFiles&, const spec::RunSpec&);

}  // namespace kernbench
