// What a run has found: plain data, from which its reports, figures, insight and pages are made.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "kernbench/kernel_api/launch_costs.h"
#include "kernbench/phase2/check/races.h"
#include "kernbench/phase2/check/verify.h"
#include "kernbench/platform/launch/address_mode.h"
#include "kernbench/platform/run/spec/run_document.h"
#include "kernbench/systemc_models/pe/queue_statistics.h"

namespace kernbench {

namespace energy {
struct Account;
}
namespace insight {
struct Insight;
}

/// Of one server of a PE's, or all of an engine.
struct EngineReport {
  std::string id;
  double busy_ns = 0;
  uint64_t ops = 0, bytes = 0;
  double flops = 0;
  double peak_ns = 0;        ///< what its flops take at its peak; matrix units only
  bool elementwise = false;  ///< a vector unit
  double utilization = 0;
  // With busy_ns sum to servers × sim_ns.
  double idle_ns = 0, slot_wait_ns = 0, queue_full_ns = 0;
  // Part of busy_ns (DMA).
  double link_wait_ns = 0, memory_wait_ns = 0;
  unsigned servers = 0;
  /// Of messages between PEs: why they stood still, and in how much of the time.
  std::vector<QueueServerStatistics::Stall> message_stalls = {};
};

/// Of a memory that counts what it does by itself (MemoryTarget::counters).
struct MemoryReport {
  std::string id;
  std::vector<std::pair<std::string, double>> counters;  ///< name with its unit, value
};

/// What a model's phases come to (docs/models.md); nothing where the run has none such.
struct ModelFigures {
  double model_ns = 0;  ///< all phases and layers, also those that --repeat has not simulated
  std::optional<double> ttft_ns, tpot_ns, joules_token;  ///< of the first phase that has it
  std::optional<double> tokens_s, mfu, hbm_share;        ///< of the one phase
};

/// Times are from when the run began: begin_ns of the simulation, 0 unless something has run before.
struct RunReport {
  spec::RunDocument document;   ///< which run it was, where the caller has said so
  bool tells_topology = false;  ///< reports have the topology's text too
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
  int64_t waves = 0;                  ///< of programs, over the run's PEs
  std::optional<ModelFigures> model;  ///< of `kernbench model`
  std::vector<EngineReport> engines;
  std::vector<QueueTraffic> queues;    ///< between PEs, that messages came through
  std::vector<MemoryReport> memories;  ///< that count what they do by themselves
  std::vector<std::string> notes;      ///< of the engines: what a user may not expect
  std::string warning;                 ///< of the replay; empty: none
  std::string advice;                  ///< what would be far quicker than what ran; empty: nothing is known
  std::vector<std::string> prints;     ///< what kernels print of values that Phase 2 makes, in the order of effects
  uint64_t events = 0;
  /// What the matrix units computed, of what those of the run's PEs could have at their peak in end_ns: 0 to 1.
  double gemm_peak_share() const;
  double wall_s = 0, phase1_s = 0, phase2_s = 0;
  bool verified = false;  ///< verification was asked for and done
  bool passed = true;     ///< nothing that was verified failed
  std::vector<TensorReport> tensors;
  bool races_checked = false;
  std::vector<Race> races;
  std::string races_unknown;                        ///< why they were not looked for to the end; empty: they were
  std::vector<std::string> pe_names;                ///< what a race's PEs are, in compiled order
  std::shared_ptr<const energy::Account> energy;    ///< what it took (phase2/energy/account.h); null: nobody has asked
  std::shared_ptr<const insight::Insight> insight;  ///< what held it back (insight/insight.h); null: nobody has asked
};

}  // namespace kernbench
