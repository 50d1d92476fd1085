// A run of `kernbench run`, as its options say it: for that command, and for those that do one again.
#pragma once

#include <iosfwd>
#include <memory>
#include <string>

#include "kernbench/phase2/log/op_record.h"
#include "kernbench/platform/run/spec/run_spec.h"

namespace kernbench {
class Platform;
struct ProgramReport;
struct ProgramSpec;
struct RunOptions;
}  // namespace kernbench

namespace kernbench::cli {

/// A program of a command's own, made for the platform that it runs on.
class OwnProgram {
 public:
  virtual ~OwnProgram() = default;
  /// Null where the machine has no room for it: then that is what is written, of a report that is empty but for the
  /// document, and the exit status is 1.
  virtual const ProgramSpec* make(Platform&, RunOptions*) = 0;
  /// What it finds in the report by itself is added to it first.
  virtual void write(std::ostream&, ProgramReport&, bool json) const = 0;
};

struct RunCommand {
  spec::RunSpec spec;
  std::string topology_text;           ///< the file's, where that is known already, of a log; else empty
  std::shared_ptr<OpLogSink> watcher;  ///< is given the log's records where none is written; may be null
  std::shared_ptr<OwnProgram> own;     ///< instead of what the options name; may be null
};

/// Does it, and prints its report; the exit status. InputError, RunError.
int run(const RunCommand&);

}  // namespace kernbench::cli
