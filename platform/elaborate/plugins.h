// SPDX-License-Identifier: Apache-2.0
// Plug-ins: shared objects with kernels, programs, components and other registered classes (kernel_api/plugin.h,
// systemc_models/core/named_registry.h).
#pragma once

#include <string>
#include <vector>

#include "kernbench/phase2/rooms.h"

namespace kernbench::elaborate {

struct Plugin {
  std::string file;  ///< as given
  std::string name;  ///< as declared by the plug-in
  // Names that it has registered; empty if it was loaded before. named: in a NamedRegistry.
  std::vector<std::string> components, kernels, programs, named;
};

/// The mark of KERNBENCH_PLUGIN(name) in a shared object.
struct PluginMark {
  std::string built_for, name;
};

/// InputError if the file cannot be opened, is not a shared object or has no mark. Loads nothing.
PluginMark read_plugin_mark(const std::string& file);

/// Loads it for the lifetime of the process; its registrations are usable afterwards. InputError, with one line and
/// before any code of the plug-in runs: the file cannot be read, is no shared object, lacks KERNBENCH_PLUGIN(name), or
/// was built for another kernbench or C++. InputError also if it cannot be linked, registers nothing, or registers a
/// taken name.
Plugin load_plugin(const std::string& file);

/// The file of the plug-in whose objects are made or destroyed now; null: none. Safe in a signal handler.
extern const char* volatile plugin_at_work;

}  // namespace kernbench::elaborate
