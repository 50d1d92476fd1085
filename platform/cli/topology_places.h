// Where the topologies lie that come with kernbench: beside the program, in its build or install tree.
#pragma once

#include <filesystem>
#include <string>

namespace kernbench::cli {

/// The folder `topologies` of the working directory, else the one that belongs to the program; empty if there is none.
std::filesystem::path topology_folder();

/// The file that a --topology means: itself if it is there or names a folder; else that name, with or without .yaml, in
/// the folder that belongs to the program; else itself, to be complained about.
std::string topology_file(const std::string& given);

/// The same of an --energy, in its subfolder `energy`.
std::string energy_file(const std::string& given);

}  // namespace kernbench::cli
