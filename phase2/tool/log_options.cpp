// SPDX-License-Identifier: Apache-2.0
#include "kernbench/phase2/tool/log_options.h"

#include <cstdlib>

#include "kernbench/phase2/io/logging.h"
#include "kernbench/phase2/text/text.h"
#include "kernbench/phase2/tool/usage.h"

namespace kernbench::cli {

void LogOptions::add_to(CLI::App& app) {
  app.add_flag("-v,--verbose", verbose_, "log progress on stderr, as --log-level info");
  app.add_option("--log-level", levels_,
                 "minimum level of log messages: LEVEL or ROOM=LEVEL, separated by commas. Levels: " +
                     joined(logging::kLevels) + ". Rooms: " + joined(logging::kRooms) +
                     ". Default: $KERNBENCH_LOG, else warn (docs/logging.md)")
      ->type_name("LEVELS");
  CLI::Option* file = app.add_option(
      "--log", file_,
      "write log messages to this file, with wall-clock and simulated time; level info unless --log-level "
      "is given; stderr gets warnings only");
  writes_file(file->type_name("FILE"));
}

void LogOptions::begin() const {
  const char* environment = std::getenv("KERNBENCH_LOG");
  const bool in_environment = environment && *environment != '\0';
  if (in_environment) logging::set_levels("KERNBENCH_LOG", environment);
  if (verbose_ || (!file_.empty() && levels_.empty() && !in_environment)) logging::set_levels("--verbose", "info");
  if (!levels_.empty()) logging::set_levels("--log-level", levels_);
  if (file_.empty()) return;
  logging::open_file("--log", file_);
  logging::keep_stderr_to_warnings();
}

std::vector<std::string> log_words(const CLI::App& app) {
  std::vector<std::string> words;
  if (app.count("--verbose") > 0) words.push_back("--verbose");
  for (const std::string option : {"--log-level", "--log"}) {
    if (app.count(option) > 0) words.push_back(option + "=" + app[option]->as<std::string>());
  }
  return words;
}

}  // namespace kernbench::cli
