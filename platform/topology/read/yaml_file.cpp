#include "kernbench/platform/topology/read/yaml_file.h"

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>

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
  std::string text, block(1 << 20, '\0');
  while (text.size() <= kLongestText && in.read(block.data(), static_cast<std::streamsize>(block.size())).gcount() > 0)
    text.append(block, 0, static_cast<size_t>(in.gcount()));
  return text;
}

}  // namespace kernbench::topology
