#include "kernbench/platform/cli/topology_places.h"

namespace kernbench::cli {

namespace fs = std::filesystem;

namespace {

std::vector<fs::path> places_of_program() {
  std::error_code error;
  const fs::path program = fs::read_symlink("/proc/self/exe", error);
  std::vector<fs::path> places;
  for (fs::path up = program.parent_path(); up.has_relative_path(); up = up.parent_path()) {
    places.push_back(up / "topologies");
    places.push_back(up / "share/kernbench/topologies");
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

/// A name alone is also looked for in these folders.
std::string file_in(const std::vector<fs::path>& folders, const std::string& given) {
  std::error_code error;
  if (fs::exists(given, error) || given.find('/') != std::string::npos) return given;
  for (const fs::path& folder : folders) {
    for (const char* ending : {"", ".yaml"}) {
      const fs::path candidate = folder / (given + ending);
      if (fs::is_regular_file(candidate, error)) return candidate.string();
    }
  }
  return given;
}

}  // namespace

std::string topology_file(const std::string& given) {
  return file_in(topology_folders(), given);
}

std::string energy_file(const std::string& given) {
  std::vector<fs::path> folders = topology_folders();
  for (fs::path& folder : folders) folder /= "energy";
  return file_in(folders, given);
}

std::string point_file(const std::string& option, const std::string& given) {
  return option == "energy" ? energy_file(given) : topology_file(given);
}

}  // namespace kernbench::cli
