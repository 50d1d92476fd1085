// SPDX-License-Identifier: Apache-2.0
#include "kernbench/platform/elaborate/plugins.h"

#include <dlfcn.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <string_view>

#include "kernbench/kernel_api/plugin.h"
#include "kernbench/kernel_api/program_registry.h"
#include "kernbench/phase2/io/input_file.h"
#include "kernbench/phase2/io/logging.h"
#include "kernbench/phase2/op/errors.h"
#include "kernbench/systemc_models/core/component_registry.h"

static_assert(std::string_view(KERNBENCH_PLUGIN_VERSION) == KERNBENCH_SOVERSION,
              "kernel_api/plugin.h and CMakeLists.txt must say the same version");

extern "C" int __cxa_atexit(void (*)(void*), void*, void*) noexcept;

namespace kernbench::elaborate {

const char* volatile plugin_at_work = nullptr;

namespace {

void set_plugin_at_work(void* file) {
  plugin_at_work = static_cast<const char*>(file);
}

/// Opens it. When the process ends, its objects are destroyed between the two calls.
void* opened(const char* path, const std::string& file) {
  const auto name = const_cast<char*>((new std::string(file))->c_str());  // must live until the process has ended
  void* (*volatile open)(const char*, int) = &dlopen;  // hides dlopen's nothrow: static objects may throw
  set_plugin_at_work(name);
  __cxa_atexit(set_plugin_at_work, nullptr, nullptr);
  void* library = open(path, RTLD_NOW | RTLD_LOCAL);
  __cxa_atexit(set_plugin_at_work, name, nullptr);
  plugin_at_work = nullptr;
  return library;
}

[[noreturn]] void refuse(const std::string& file, const std::string& why) {
  plugin_at_work = nullptr;
  throw InputError("--plugin " + file + ": " + why);
}

/// One sort of registrations by plug-ins.
struct Sort {
  std::string what;
  std::vector<std::string> names, conflicts;
};

/// Components, kernels, programs, then the names in each NamedRegistry.
std::vector<Sort> all_sorts() {
  std::vector<Sort> sorts = {{"component", {}, component_registry().conflicts()},
                             {"kernel", {}, KernelRegistry::instance().conflicts()},
                             {"program", {}, ProgramRegistry::instance().conflicts()}};
  for (const ImplSpec* s : component_catalog().all()) sorts[0].names.push_back(s->impl);
  for (const KernelSpec* k : KernelRegistry::instance().all()) sorts[1].names.push_back(k->name);
  for (const ProgramSpec* p : ProgramRegistry::instance().all()) sorts[2].names.push_back(p->name);
  for (const NamedRegistry* r : NamedRegistry::registries()) sorts.push_back({r->what(), r->names(), r->conflicts()});
  return sorts;
}

std::vector<std::string> added(const Sort& before, const Sort& after) {
  std::vector<std::string> names;
  for (const std::string& name : after.names) {
    if (std::find(before.names.begin(), before.names.end(), name) == before.names.end()) names.push_back(name);
  }
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
    const std::string text = content.c_str() + at;  // up to its NUL: this binary's own kStart alone is no mark
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

  const std::string path = std::filesystem::absolute(file).string();  // a bare name would be searched in other folders
  if (dlopen(path.c_str(), RTLD_NOW | RTLD_NOLOAD)) return plugin;    // loaded before
  std::vector<Sort> before = all_sorts();
  void* library = nullptr;
  try {
    library = opened(path.c_str(), file);
  } catch (const std::exception& e) {
    refuse(file, std::string("throws while it is loaded: ") + e.what());
  } catch (...) {
    refuse(file, "throws an object that is not a std::exception while it is loaded");
  }
  if (!library) refuse(file, "cannot be loaded: " + std::string(dlerror()));
  if (!dlsym(library, "kernbench_plugin")) refuse(file, "is no kernbench plug-in: it lacks KERNBENCH_PLUGIN(name)");
  const std::vector<Sort> after = all_sorts();
  before.resize(after.size());  // a plug-in may add a registry
  for (size_t i = 0; i < after.size(); ++i) {
    if (after[i].conflicts.size() > before[i].conflicts.size())
      refuse(file, after[i].what + " '" + after[i].conflicts.back() + "' is there already");
  }
  for (const auto& [name, kind] : component_catalog().kinds().all()) {
    if (!kind.fault.empty()) refuse(file, kind.fault);
  }
  plugin.components = added(before[0], after[0]);
  plugin.kernels = added(before[1], after[1]);
  plugin.programs = added(before[2], after[2]);
  for (size_t i = 3; i < after.size(); ++i) {
    for (std::string& name : added(before[i], after[i])) plugin.named.push_back(std::move(name));
  }
  if (plugin.components.empty() && plugin.kernels.empty() && plugin.programs.empty() && plugin.named.empty())
    refuse(file, "registers neither a component nor a kernel nor a program nor a named class");
  logging::info(logging::Room::elaborate, [&] { return "plug-in " + plugin.name + " from " + file; });
  return plugin;
}

}  // namespace kernbench::elaborate
