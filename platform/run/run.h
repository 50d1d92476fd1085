// SPDX-License-Identifier: Apache-2.0
// `kernbench run`: a kernel on a platform's PEs, from input tensors to verified output tensors.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "kernbench/kernel_api/registry.h"
#include "kernbench/phase2/eval/isa.h"
#include "kernbench/phase2/log/op_record.h"
#include "kernbench/phase2/log/written_file.h"
#include "kernbench/platform/launch/deployment.h"
#include "kernbench/platform/launch/launch_way.h"
#include "kernbench/platform/launch/pe_selection.h"
#include "kernbench/platform/run/record/run_record.h"
#include "kernbench/platform/run/record/run_report.h"

namespace kernbench::phase2 {
struct ReplayProgress;
}

namespace kernbench {

class Platform;
struct ProgramSpec;
namespace energy {
class Meter;
}
namespace insight {
struct RunFigures;
}

struct RunOptions : PeChoice {
  std::string kernel;   ///< of run_kernel()
  std::string program;  ///< of run_program() (host_program.h), instead
  /// For run_program(), instead of a name: an unregistered program that outlives the run; null: none.
  const ProgramSpec* own_program = nullptr;
  std::vector<std::pair<std::string, std::string>> params;   ///< name, text
  std::vector<std::pair<std::string, std::string>> tensors;  ///< input name, .npy file
  std::vector<std::pair<std::string, std::string>> dumps;    ///< output name, .npy file
  std::map<std::string, Dims> output_shapes;                 ///< shapes of outputs that are reported in another shape
  /// Output name, .npy file: expected values, instead of the reference.
  std::vector<std::pair<std::string, std::string>> expected;
  uint64_t seed = 1;
  LaunchMode launch = LaunchMode::automatic;
  bool timed_transfer = false;  ///< inputs and outputs pass the fabric; else they are placed at no cost
  /// Addresses for kernels. Virtual: with timed_transfer the host maps the tensors by messages, else at no cost.
  AddressMode addresses = AddressMode::physical;
  bool verify = false;  ///< verify all outputs; those of `expected` are always verified
  /// Also checks each op against plain loops (reference_check.h); OpDeparts for the first difference.
  bool debug_verify = false;
  bool check_races = false;        ///< detect reads and writes without a defined order
  int threads = 0;                 ///< of phase 2; 0: all processors
  Isa isa = best_isa();            ///< of phase 2
  std::string corrupt;             ///< an output to damage before verification
  std::unique_ptr<OpLogSink> log;  ///< beside the one that phase 2 reads; may be null
  OpLogHeader header;              ///< of the log; the run adds the placement of tensors
  /// Memory file for a separate replay (memory_file.h); may be null.
  std::unique_ptr<WrittenFile> memory_file;
  std::string wiring_file;         ///< diagram of the connections of the kernel's queues (wiring_view.h); empty: none
  energy::Meter* meter = nullptr;  ///< counts the run's energy (energy/meter.h); null: not requested
  bool number_ops = false;         ///< assign op ids also without a log, for an observer that shows them
  std::function<void(const ReplayProgress&)> on_replay_progress;
};

/// The launch path of a run with these options. InputError, with the missing part, if the requested host path does not
/// exist.
LaunchWay choose_launch_way(Platform&, const RunOptions&);

/// Simulates from now until the host is done. sc_start() and this function can be called again: runs are sequential,
/// also beside endless activity (a clock, a DRAM's refresh). No run may follow one that ended in an error. InputError,
/// BadParam and NpyError for bad input; RunError for a kernel fault, an error of a foreign memory, and a deadlock (not
/// detected beside a clock).
RunReport run_kernel(Platform&, RunOptions);

}  // namespace kernbench
