// Runs of a program in processes of their own, several at a time.
#pragma once

#include <functional>
#include <string>
#include <vector>

namespace kernbench {

struct ProcessResult {
  int status = 0;  ///< exit status; 128 + the signal that ended it
  std::string out, err;
};

/// Starts `program` with each of the argument lists, at most `jobs` (>= 1) at a time, stdin empty, and calls `done` for
/// each in the order of the lists, as soon as it and all before it have ended. RunError where none can be started,
/// Stopped where SIGINT, SIGTERM or SIGHUP comes; those that run are then ended. None outlives this process.
void run_processes(const std::string& program, const std::vector<std::vector<std::string>>& arguments, size_t jobs,
                   const std::function<void(size_t index, const ProcessResult&)>& done);

}  // namespace kernbench
