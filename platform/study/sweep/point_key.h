// SPDX-License-Identifier: Apache-2.0
// A point's key: a hash of everything that determines its result.
#pragma once

#include <functional>
#include <map>
#include <string>

#include "kernbench/platform/study/sweep/axis.h"

namespace kernbench::sweep {

class PointKeys {
 public:
  /// The file that an option such as --topology refers to by a name.
  using FindFile = std::function<std::string(const std::string& option, const std::string& given)>;
  PointKeys(std::string version, FindFile find_file) : version_(std::move(version)), find_file_(std::move(find_file)) {}

  /// SHA-256 over the version and all options of a run that affect its results, in the table's order; files count by
  /// contents. InputError for words that are no run, for an option that has no key, and for an unreadable file.
  std::string key(const Words& run);

 private:
  const std::string& hash_of_file(const std::string& name);
  /// Includes the energy table that it may name.
  const std::string& hash_of_topology(const std::string& name);

  std::string version_;
  FindFile find_file_;
  std::map<std::string, std::string> files_, topologies_;
};

}  // namespace kernbench::sweep
