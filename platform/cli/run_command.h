// A run of `kernbench run`, as its options say it: for that command, and for those that do one again.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "kernbench/phase2/eval/isa.h"
#include "kernbench/phase2/log/op_record.h"
#include "kernbench/platform/cli/commands.h"
#include "kernbench/platform/cli/triton_options.h"

namespace kernbench::cli {

struct RunCommand {
  TopologyOptions topology;
  std::string kernel, program, launch, pes = "all", device = "all", ranks = "all";
  std::string transfer = "instant", address = "physical", format, corrupt;
  std::vector<std::string> params, tensors, dumps, expected;
  uint64_t seed = 1;
  int threads = 0;
  bool verify = false, debug_verify = false, check_races = false, hops = false, explain = false;
  std::string isa = std::string(name_of(best_isa()));
  std::string oplog, memory, trace, wiring, report, energy, activity;
  WaveformCliOptions vcd;
  RecordingOptions recording;
  TritonOptions triton;
  std::shared_ptr<triton::Launch> triton_launch;  ///< of --ttir, once its kernel is made
  LimitOptions limits;
  std::shared_ptr<OpLogSink> watcher;  ///< is given the log's records where none is written; may be null
  /// Empty: there is none.
  std::string memory_file() const {
    return oplog.empty() || memory == "none" ? "" : memory.empty() ? memory_file_of(oplog) : memory;
  }
};

/// Adds the command `run` with its options to the parser.
CLI::App* add_run_options(CLI::App&, const std::shared_ptr<RunCommand>&);

/// Does it, and prints its report; the exit status. InputError, RunError.
int run(const RunCommand&);

}  // namespace kernbench::cli
