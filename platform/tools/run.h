// `kernbench run`: a kernel on a platform's PEs, from tensors in to verified tensors out.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "kernbench/kernel_api/registry.h"
#include "kernbench/phase2/check/races.h"
#include "kernbench/phase2/check/verify.h"
#include "kernbench/phase2/eval/isa.h"
#include "kernbench/phase2/log/op_record.h"
#include "kernbench/phase2/log/written_file.h"
#include "kernbench/platform/launch/deployment.h"
#include "kernbench/platform/launch/launch_way.h"
#include "kernbench/platform/launch/pe_selection.h"
#include "kernbench/platform/tools/engine_report.h"
#include "kernbench/platform/tools/memory_report.h"

namespace kernbench {

class Platform;
struct ReplayProgress;
namespace energy {
struct Account;
class Meter;
}  // namespace energy
namespace insight {
struct Insight;
struct RunFigures;
}  // namespace insight

struct RunOptions : PeChoice {
  std::string kernel;                                        ///< of run_kernel()
  std::string program;                                       ///< of run_program() (host_program.h), instead
  std::vector<std::pair<std::string, std::string>> params;   ///< name, text
  std::vector<std::pair<std::string, std::string>> tensors;  ///< input name, .npy file
  std::vector<std::pair<std::string, std::string>> dumps;    ///< output name, .npy file
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

/// Times are from when the run began: begin_ns of the simulation, 0 unless something has run before.
struct RunReport {
  std::string kernel, topology;
  double begin_ns = 0;
  std::vector<std::pair<std::string, std::string>> params;
  std::string launch;        ///< host or direct
  std::string launch_note;   ///< why it is direct, where nobody asked for it
  LaunchNotes launch_notes;  ///< what its preparation has decided
  bool timed_transfer = false;
  AddressMode addresses = AddressMode::physical;
  double map_ns = 0, upload_ns = 0, download_ns = 0;  ///< of timed transfers
  double start_ns = 0;                                ///< every kernel's
  double end_ns = 0;                                  ///< when the host is done (direct: with the last PE)
  struct PeTimes {
    std::string id;
    double start_ns = 0, end_ns = 0;
    double scalar_ns = 0;  ///< of it, the kernel's scalar work: tl.elapse, and reading what it loaded
  };
  std::vector<PeTimes> pes;
  /// Of a Triton kernel (docs/triton.md); else none.
  struct ProgramTimes {
    int64_t id = 0;
    std::string pe;
    double start_ns = 0, end_ns = 0;
  };
  std::vector<ProgramTimes> programs;
  int64_t waves = 0;  ///< of programs, over the run's PEs
  std::vector<EngineReport> engines;
  std::vector<QueueTraffic> queues;    ///< between PEs, that messages came through
  std::vector<MemoryReport> memories;  ///< that count what they do by themselves
  std::vector<std::string> notes;      ///< of the engines: what a user may not expect
  std::string warning;                 ///< of the replay; empty: none
  uint64_t events = 0;
  /// What the matrix units computed, of what those of the run's PEs could have at their peak in end_ns: 0 to 1.
  double gemm_peak_share() const;
  double wall_s = 0, phase1_s = 0, phase2_s = 0;
  bool verified = false;  ///< verification was asked for and done
  bool passed = true;
  std::vector<TensorReport> tensors;
  bool races_checked = false;
  std::vector<Race> races;
  std::vector<std::string> pe_names;                ///< what a race's PEs are, in compiled order
  std::shared_ptr<const energy::Account> energy;    ///< what it took (phase2/energy/account.h); null: nobody has asked
  std::shared_ptr<const insight::Insight> insight;  ///< what held it back (insight/insight.h); null: nobody has asked
};

/// How a run with these options is launched (InputError where the host's path was asked for and is not there: names
/// what is missing).
LaunchWay choose_launch_way(Platform&, const RunOptions&);

/// Simulates from now until the host is done; sc_start() can be called again afterwards, and so can this: runs come one
/// after the other, also beside what never ends (a clock, a DRAM's refresh). One that ended in an error is the
/// platform's last. InputError, BadParam and NpyError for bad input; RunError for a kernel fault, an error of a foreign
/// memory, and where nothing can move while work is outstanding (beside a clock that is not noticed).
RunReport run_kernel(Platform&, RunOptions);

/// What an Insight of the run is made of (insight/insight.h).
insight::RunFigures figures_of(const RunReport&);

void write_run_text(std::ostream&, const RunReport&);
void write_run_json(std::ostream&, const RunReport&);

}  // namespace kernbench
