#include "kernbench/platform/cli/topology_places.h"

#include <vector>

namespace kernbench::cli {

namespace fs = std::filesystem;

namespace {

fs::path first_folder(const std::vector<fs::path>& places) {
  std::error_code error;
  for (const fs::path& place : places) {
    if (fs::is_directory(place, error)) return place;
  }
  return {};
}

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

fs::path topology_folder() {
  std::vector<fs::path> places = places_of_program();
  places.insert(places.begin(), "topologies");
  return first_folder(places);
}

namespace {

/// A name alone is also looked for in that folder.
std::string file_in(const fs::path& folder, const std::string& given) {
  std::error_code error;
  if (fs::exists(given, error) || given.find('/') != std::string::npos) return given;
  for (const char* ending : {"", ".yaml"}) {
    const fs::path candidate = folder / (given + ending);
    if (!folder.empty() && fs::is_regular_file(candidate, error)) return candidate.string();
  }
  return given;
}

}  // namespace

std::string topology_file(const std::string& given) {
  return file_in(first_folder(places_of_program()), given);
}

std::string energy_file(const std::string& given) {
  return file_in(first_folder(places_of_program()) / "energy", given);
}

}  // namespace kernbench::cli
