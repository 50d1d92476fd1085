// SPDX-License-Identifier: Apache-2.0
#include "kernbench/platform/entry/topology_places.h"

#include <dlfcn.h>

#include "kernbench/phase2/op/errors.h"
#include "kernbench/phase2/text/text.h"

namespace kernbench {

namespace fs = std::filesystem;

namespace {

/// The file of this library.
fs::path this_library() {
  std::error_code error;
  Dl_info info{};
  return dladdr(reinterpret_cast<const void*>(&topology_folders), &info) == 0 ? fs::path()
                                                                              : fs::canonical(info.dli_fname, error);
}

/// First beside the program, then beside the library, because a user's program may be elsewhere.
std::vector<fs::path> places_of_program() {
  std::error_code error;
  std::vector<fs::path> places;
  for (const fs::path& file : {fs::read_symlink("/proc/self/exe", error), this_library()}) {
    for (fs::path up = file.parent_path(); up.has_relative_path(); up = up.parent_path()) {
      places.push_back(up / "topologies");
      places.push_back(up / "share/kernbench/topologies");
    }
  }
  return places;
}

}  // namespace

std::vector<fs::path> topology_folders() {
  std::vector<fs::path> folders;
  std::error_code error;
  if (fs::is_directory("topologies", error)) folders.push_back("topologies");
  for (const fs::path& place : places_of_program()) {
    if (!fs::is_directory(place, error)) continue;
    if (folders.empty() || !fs::equivalent(place, folders.front(), error)) folders.push_back(place);
    break;
  }
  return folders;
}

namespace {

std::vector<fs::path> energy_folders() {
  std::vector<fs::path> folders = topology_folders();
  for (fs::path& folder : folders) folder /= "energy";
  return folders;
}

std::map<std::string, std::string> files_in(const std::vector<fs::path>& folders) {
  std::map<std::string, std::string> files;
  std::error_code none;
  for (const fs::path& folder : folders) {
    for (const auto& entry : fs::directory_iterator(folder, none)) {
      if (entry.path().extension() == ".yaml") files.emplace(entry.path().filename().string(), entry.path().string());
    }
  }
  return files;
}

/// Bare names are also searched in these folders, which are found only then.
std::string file_in(std::vector<fs::path> (*folders)(), const std::string& given) {
  std::error_code error;
  if (fs::exists(given, error) || given.find('/') != std::string::npos) return given;
  for (const fs::path& folder : folders()) {
    for (const char* ending : {"", ".yaml"}) {
      const fs::path candidate = folder / (given + ending);
      if (fs::is_regular_file(candidate, error)) return candidate.string();
    }
  }
  return given;
}

}  // namespace

std::map<std::string, std::string> known_topologies() {
  return files_in(topology_folders());
}

std::map<std::string, std::string> known_energy_tables() {
  return files_in(energy_folders());
}

void check_topology_name(const std::string& given) {
  std::error_code error;
  if (fs::exists(topology_file(given), error)) return;
  std::vector<std::string> legal;
  for (const auto& [name, path] : known_topologies()) {
    legal.push_back(name);
    legal.push_back(fs::path(name).stem().string());
  }
  if (!nearest_word(given, legal).empty())
    throw InputError("--topology: there is no file " + in_quotes(given) + did_you_mean(given, legal) +
                     " legal: a YAML file, or a name of `kernbench list topologies`");
}

std::string topology_file(const std::string& given) {
  return file_in(topology_folders, given);
}

std::string energy_file(const std::string& given) {
  return file_in(energy_folders, given);
}

std::string point_file(const std::string& option, const std::string& given) {
  return option == "energy" ? energy_file(given) : topology_file(given);
}

}  // namespace kernbench
