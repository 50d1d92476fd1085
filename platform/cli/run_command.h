// A run of `kernbench run`, as its options say it: for that command, and for those that do one again.
#pragma once

#include <memory>
#include <string>

#include "kernbench/phase2/log/op_record.h"
#include "kernbench/platform/spec/run_spec.h"

namespace kernbench::cli {

struct RunCommand {
  spec::RunSpec spec;
  std::string topology_text;           ///< the file's, where that is known already, of a log; else empty
  std::shared_ptr<OpLogSink> watcher;  ///< is given the log's records where none is written; may be null
};

/// Does it, and prints its report; the exit status. InputError, RunError.
int run(const RunCommand&);

}  // namespace kernbench::cli
