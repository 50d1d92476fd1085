// `kernbench run`: a kernel on a platform's PEs, from tensors in to verified tensors out.
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

namespace kernbench {

class Platform;
struct ProgramSpec;
struct ReplayProgress;
namespace energy {
class Meter;
}
namespace insight {
struct RunFigures;
}

struct RunOptions : PeChoice {
  std::string kernel;   ///< of run_kernel()
  std::string program;  ///< of run_program() (host_program.h), instead
  /// Of run_program(), instead of a name: one that is not registered, which outlives the run; null: none.
  const ProgramSpec* own_program = nullptr;
  std::vector<std::pair<std::string, std::string>> params;   ///< name, text
  std::vector<std::pair<std::string, std::string>> tensors;  ///< input name, .npy file
  std::vector<std::pair<std::string, std::string>> dumps;    ///< output name, .npy file
  std::map<std::string, Dims> output_shapes;  ///< of outputs that are told in another shape than they have
  /// Output name, .npy file: what it must be, instead of the reference's.
  std::vector<std::pair<std::string, std::string>> expected;
  uint64_t seed = 1;
  LaunchMode launch = LaunchMode::automatic;
  bool timed_transfer = false;  ///< inputs and outputs pass the fabric; else they are placed at no cost
  /// What kernels are given. Virtual: with timed_transfer the host maps the tensors by messages, else at no cost.
  AddressMode addresses = AddressMode::physical;
  bool verify = false;  ///< all outputs; those of `expected` are verified anyway
  /// Also every op against plain loops (reference_check.h); OpDeparts for the first that departs.
  bool debug_verify = false;
  bool check_races = false;        ///< look for reads and writes that only luck orders
  int threads = 0;                 ///< of Phase 2; 0: all
  Isa isa = best_isa();            ///< of Phase 2
  std::string corrupt;             ///< an output to damage before verification
  std::unique_ptr<OpLogSink> log;  ///< beside the one that Phase 2 reads; may be null
  OpLogHeader header;              ///< of the log; the run adds where the tensors lie
  /// What a replay elsewhere needs beside the log (memory_file.h); may be null.
  std::unique_ptr<WrittenFile> memory_file;
  std::string wiring_file;         ///< a picture of what the kernel's queues join (wiring_view.h); empty: none
  energy::Meter* meter = nullptr;  ///< counts the run's energy (energy/meter.h); null: nobody has asked
  bool number_ops = false;         ///< give op ids although nothing is logged, for an observer that shows them
  std::function<void(const ReplayProgress&)> on_replay_progress;
};

/// How a run with these options is launched (InputError where the host's path was asked for and is not there: names
/// what is missing).
LaunchWay choose_launch_way(Platform&, const RunOptions&);

/// Simulates from now until the host is done; sc_start() can be called again afterwards, and so can this: runs come one
/// after the other, also beside what never ends (a clock, a DRAM's refresh). One that ended in an error is the
/// platform's last. InputError, BadParam and NpyError for bad input; RunError for a kernel fault, an error of a foreign
/// memory, and where nothing can move while work is outstanding (beside a clock that is not noticed).
RunReport run_kernel(Platform&, RunOptions);

}  // namespace kernbench
