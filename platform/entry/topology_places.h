// SPDX-License-Identifier: Apache-2.0
// Folders of topologies that are given by name only: the working directory, and folders beside the program or this
// library, in its build or install tree.
#pragma once

#include <filesystem>
#include <map>
#include <string>
#include <vector>

namespace kernbench {

/// The existing folders `topologies`: first the working directory's, then the program's.
std::vector<std::filesystem::path> topology_folders();

/// The paths of the files in these folders, by name; of equal names the first one counts.
std::map<std::string, std::string> known_topologies();
/// The same for tables in their subfolders `energy`.
std::map<std::string, std::string> known_energy_tables();

/// InputError with the most similar name of a known topology, if the file does not exist and a name is similar.
void check_topology_name(const std::string& given);

/// The file of a --topology: the path itself if it exists or names a folder. Else that name, with or without .yaml, in
/// the first of topology_folders() that has it. Else the path itself, for an error message.
std::string topology_file(const std::string& given);

/// The same for --energy, in the subfolders `energy`.
std::string energy_file(const std::string& given);

/// The file of a point's option: "energy", else the topology.
std::string point_file(const std::string& option, const std::string& given);

}  // namespace kernbench
