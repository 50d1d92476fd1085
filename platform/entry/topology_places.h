// SPDX-License-Identifier: Apache-2.0
// Where topologies lie that are called by their names alone: here, and beside the program or this library, in its
// build or install tree.
#pragma once

#include <filesystem>
#include <map>
#include <string>
#include <vector>

namespace kernbench {

/// The folders `topologies` that there are: the working directory's, then the one that belongs to the program.
std::vector<std::filesystem::path> topology_folders();

/// The paths of the files in these folders by their names; of two of one name the first.
std::map<std::string, std::string> known_topologies();
/// The same of the tables in their subfolders `energy`.
std::map<std::string, std::string> known_energy_tables();

/// InputError with the nearest name of a known topology, where there is no such file and a name is near.
void check_topology_name(const std::string& given);

/// The file that a --topology means: itself if it is there or names a folder; else that name, with or without .yaml, in
/// the first of topology_folders() that has it; else itself, to be complained about.
std::string topology_file(const std::string& given);

/// The same of an --energy, in their subfolders `energy`.
std::string energy_file(const std::string& given);

/// The file that an option of a point means: "energy", else the topology.
std::string point_file(const std::string& option, const std::string& given);

}  // namespace kernbench
