// SPDX-License-Identifier: Apache-2.0
#include "kernbench/platform/topology/read/yaml_file.h"

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>

#include "kernbench/phase2/io/input_file.h"
#include "kernbench/platform/topology/read/yaml_tree.h"

namespace kernbench::topology {

std::string read_yaml_file(const std::string& path, FaultList& faults) {
  std::error_code error;
  if (std::filesystem::is_directory(path, error)) {
    faults.add(0, "", "found a directory; legal: a YAML file");
    faults.throw_if_any();
  }
  errno = 0;
  std::ifstream in(path, std::ios::binary);
  if (!in) {
    faults.add(0, "", std::string("cannot be read: ") + std::strerror(errno) + "; legal: a YAML file");
    faults.throw_if_any();
  }
  return read_all(in, path, kLongestText + 1);
}

}  // namespace kernbench::topology
