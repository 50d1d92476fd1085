// SPDX-License-Identifier: Apache-2.0
// The options --log-level and --log, and $KERNBENCH_LOG, for all programs.
#pragma once

#include <CLI/CLI.hpp>
#include <string>
#include <vector>

namespace kernbench::cli {

class LogOptions {
 public:
  void add_to(CLI::App&);
  /// InputError for an invalid level or file.
  void begin() const;

 private:
  bool verbose_ = false;
  std::string levels_, file_;
};

/// The options of this kind that a parsed program received, as words for another program.
std::vector<std::string> log_words(const CLI::App&);

}  // namespace kernbench::cli
