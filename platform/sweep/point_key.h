// The name of a point by all that decides what comes out of it.
#pragma once

#include <functional>
#include <map>
#include <string>

#include "kernbench/platform/sweep/axis.h"

namespace kernbench::sweep {

class PointKeys {
 public:
  /// `topology_file`: the file that a --topology means.
  PointKeys(std::string version, std::function<std::string(const std::string&)> topology_file)
      : version_(std::move(version)), topology_file_(std::move(topology_file)) {}

  /// SHA-256 over the version and the options of a run (point_options.h) in one order, files by what is in them.
  /// InputError for words that are no run, or that have an option no key is made of; for a file that cannot be read.
  std::string key(const Words& run);

 private:
  const std::string& hash_of_file(const std::string& name);

  std::string version_;
  std::function<std::string(const std::string&)> topology_file_;
  std::map<std::string, std::string> files_;
};

}  // namespace kernbench::sweep
