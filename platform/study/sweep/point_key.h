// SPDX-License-Identifier: Apache-2.0
// The name of a point by all that decides what comes out of it.
#pragma once

#include <functional>
#include <map>
#include <string>

#include "kernbench/platform/study/sweep/axis.h"

namespace kernbench::sweep {

class PointKeys {
 public:
  /// The file that an option such as --topology means by a name.
  using FindFile = std::function<std::string(const std::string& option, const std::string& given)>;
  PointKeys(std::string version, FindFile find_file) : version_(std::move(version)), find_file_(std::move(find_file)) {}

  /// SHA-256 over the version and the options of a run that decide its results, in the table's order, files by what is
  /// in them.
  /// InputError for words that are no run, or that have an option no key is made of; for a file that cannot be read.
  std::string key(const Words& run);

 private:
  const std::string& hash_of_file(const std::string& name);
  /// With the energy table that it may name.
  const std::string& hash_of_topology(const std::string& name);

  std::string version_;
  FindFile find_file_;
  std::map<std::string, std::string> files_, topologies_;
};

}  // namespace kernbench::sweep
