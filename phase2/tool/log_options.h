// SPDX-License-Identifier: Apache-2.0
// --log-level, --log and $KERNBENCH_LOG: one place for all programs.
#pragma once

#include <CLI/CLI.hpp>
#include <string>
#include <vector>

namespace kernbench::cli {

class LogOptions {
 public:
  void add_to(CLI::App&);
  /// InputError on a level or a file that is none.
  void begin() const;

 private:
  bool verbose_ = false;
  std::string levels_, file_;
};

/// The options of that kind that a parsed program was given, as words for another program.
std::vector<std::string> log_words(const CLI::App&);

}  // namespace kernbench::cli
