// SPDX-License-Identifier: Apache-2.0
#include "kernbench/phase2/log/real_name.h"

#include <filesystem>

namespace kernbench::phase2 {

std::string real_name(const std::string& name) {
  namespace fs = std::filesystem;
  constexpr int kMostLinks = 40;  // Linux's limit
  std::error_code error;
  fs::path path = name;
  for (int i = 0; i < kMostLinks && fs::is_symlink(fs::symlink_status(path, error)); ++i) {
    const fs::path to = fs::read_symlink(path, error);
    if (error) return name;
    path = path.parent_path() / to;  // an absolute target replaces the path
  }
  const fs::path folder = fs::canonical(path.has_parent_path() ? path.parent_path() : ".", error);
  if (!error && path.has_filename()) return (folder / path.filename()).string();
  path = fs::weakly_canonical(fs::absolute(name, error), error);
  return error ? name : path.string();
}

}  // namespace kernbench::phase2
