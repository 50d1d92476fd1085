// Plug-ins: shared objects that bring kernels, programs, components and classes of other sorts (kernel_api/plugin.h,
// systemc_models/core/named_registry.h).
#pragma once

#include <string>
#include <vector>

namespace kernbench {

struct Plugin {
  std::string file;  ///< as given
  std::string name;  ///< what the plug-in calls itself
  // That it has registered, by name; empty if it was loaded before. named: in a NamedRegistry.
  std::vector<std::string> components, kernels, programs, named;
};

/// What KERNBENCH_PLUGIN(name) left in a shared object.
struct PluginMark {
  std::string built_for, name;
};

/// InputError where the file cannot be opened, is no shared object or has no mark. Nothing of it is loaded.
PluginMark read_plugin_mark(const std::string& file);

/// Loads it for the life of the process; what it registers can be used from then on. InputError, one line, before
/// anything of the plug-in runs where the file cannot be read, is no shared object, lacks KERNBENCH_PLUGIN(name), or
/// was built for another kernbench or C++; also where it cannot be linked, registers nothing, or takes a name that is
/// taken.
Plugin load_plugin(const std::string& file);

/// The file of the plug-in whose objects are made or destroyed now; null: none. Safe in a signal handler.
extern const char* volatile plugin_at_work;

}  // namespace kernbench
