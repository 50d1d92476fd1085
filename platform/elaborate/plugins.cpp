#include "kernbench/platform/elaborate/plugins.h"

#include <dlfcn.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <set>
#include <string_view>

#include "kernbench/kernel_api/plugin.h"
#include "kernbench/kernel_api/program_registry.h"
#include "kernbench/phase2/io/input_file.h"
#include "kernbench/phase2/op/errors.h"
#include "kernbench/systemc_models/core/registry.h"

static_assert(std::string_view(KERNBENCH_PLUGIN_VERSION) == KERNBENCH_SOVERSION,
              "kernel_api/plugin.h and CMakeLists.txt must say the same version");

namespace kernbench {

namespace {

[[noreturn]] void refuse(const std::string& file, const std::string& why) {
  throw InputError("--plugin " + file + ": " + why);
}

std::set<std::string> component_names() {
  std::set<std::string> names;
  for (const ImplSpec* s : component_catalog().all()) names.insert(s->impl);
  return names;
}

std::set<std::string> kernel_names() {
  std::set<std::string> names;
  for (const KernelSpec* k : KernelRegistry::instance().all()) names.insert(k->name);
  return names;
}

std::set<std::string> program_names() {
  std::set<std::string> names;
  for (const ProgramSpec* p : ProgramRegistry::instance().all()) names.insert(p->name);
  return names;
}

std::vector<std::string> added(const std::set<std::string>& before, const std::set<std::string>& after) {
  std::vector<std::string> names;
  std::set_difference(after.begin(), after.end(), before.begin(), before.end(), std::back_inserter(names));
  return names;
}

}  // namespace

PluginMark read_plugin_mark(const std::string& file) {
  std::ifstream in(file, std::ios::binary);
  if (!in || std::filesystem::is_directory(file)) refuse(file, "cannot be opened");
  const std::string content = read_all(in, file);
  if (content.compare(0, 4, "\177ELF") != 0) refuse(file, "is no shared object");
  constexpr std::string_view kStart = "kernbench-plugin\nkernbench ";
  for (size_t at = 0; (at = content.find(kStart, at)) != std::string::npos; ++at) {
    const std::string text = content.c_str() + at;  // to its end: kStart alone, as here, is no mark
    const size_t first = text.find('\n') + 1, second = text.find('\n', first) + 1;
    if (second > 0 && text.back() == '\n')
      return {text.substr(first, second - 1 - first), text.substr(second, text.size() - 1 - second)};
  }
  refuse(file, "is no kernbench plug-in: it lacks KERNBENCH_PLUGIN(name)");
}

Plugin load_plugin(const std::string& file) {
  Plugin plugin;
  plugin.file = file;
  const PluginMark mark = read_plugin_mark(file);
  plugin.name = mark.name;
  if (mark.built_for != KERNBENCH_PLUGIN_BUILT_FOR)
    refuse(file, "was built for " + mark.built_for + "; this is " KERNBENCH_PLUGIN_BUILT_FOR ": build it again");

  const std::string path = std::filesystem::absolute(file).string();  // a name alone would be searched elsewhere
  if (dlopen(path.c_str(), RTLD_NOW | RTLD_NOLOAD)) return plugin;    // loaded before
  const auto components = component_names(), kernels = kernel_names(), programs = program_names();
  const size_t component_conflicts = component_registry().conflicts().size();
  const size_t kernel_conflicts = KernelRegistry::instance().conflicts().size();
  const size_t program_conflicts = ProgramRegistry::instance().conflicts().size();
  void* library = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (!library) refuse(file, "cannot be loaded: " + std::string(dlerror()));
  if (!dlsym(library, "kernbench_plugin")) refuse(file, "is no kernbench plug-in: it lacks KERNBENCH_PLUGIN(name)");
  if (component_registry().conflicts().size() > component_conflicts)
    refuse(file, "component '" + component_registry().conflicts().back() + "' is there already");
  if (KernelRegistry::instance().conflicts().size() > kernel_conflicts)
    refuse(file, "kernel '" + KernelRegistry::instance().conflicts().back() + "' is there already");
  if (ProgramRegistry::instance().conflicts().size() > program_conflicts)
    refuse(file, "program '" + ProgramRegistry::instance().conflicts().back() + "' is there already");
  for (const auto& [name, kind] : component_catalog().kinds().all()) {
    if (!kind.fault.empty()) refuse(file, kind.fault);
  }
  plugin.components = added(components, component_names());
  plugin.kernels = added(kernels, kernel_names());
  plugin.programs = added(programs, program_names());
  if (plugin.components.empty() && plugin.kernels.empty() && plugin.programs.empty())
    refuse(file, "registers neither a component nor a kernel nor a program");
  return plugin;
}

}  // namespace kernbench
