// SPDX-License-Identifier: Apache-2.0
// Results of a run: plain data, the source of reports, figures, insight and pages.
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

/// Activity of one server of a PE, or of a complete engine.
struct EngineReport {
  std::string id;
  double busy_ns = 0;
  uint64_t ops = 0, bytes = 0;
  double flops = 0;
  double peak_ns = 0;        ///< time of its flops at peak; matrix units only
  bool elementwise = false;  ///< a vector unit
  double utilization = 0;
  // The sum with busy_ns is servers × sim_ns.
  double idle_ns = 0, slot_wait_ns = 0, queue_full_ns = 0;
  // Part of busy_ns (DMA).
  double link_wait_ns = 0, memory_wait_ns = 0;
  unsigned servers = 0;
  /// For messages between PEs: reasons of blocked calls, and their share of the time.
  std::vector<QueueServerStatistics::Stall> message_stalls = {};
};

/// A memory with its own counters (MemoryTarget::counters).
struct MemoryReport {
  std::string id;
  std::vector<std::pair<std::string, double>> counters;  ///< name with unit, value
};

/// Figures of a model's phases (docs/models.md); empty if not applicable.
struct ModelFigures {
  double model_ns = 0;                                   ///< all phases and layers, including those that --repeat omits
  std::optional<double> ttft_ns, tpot_ns, joules_token;  ///< of the first applicable phase
  std::optional<double> tokens_s, mfu, hbm_share;        ///< of a single phase
};

/// Times are relative to the start of the run: begin_ns of the simulation, 0 for the first run.
struct RunReport {
  spec::RunDocument document;   ///< configuration of the run, if the caller has set it
  bool tells_topology = false;  ///< reports include the topology's text
  std::string kernel, topology;
  double begin_ns = 0;
  std::vector<std::pair<std::string, std::string>> params;
  std::string launch;        ///< host or direct
  std::string launch_note;   ///< reason for a direct launch that was not requested
  LaunchNotes launch_notes;  ///< decisions of its preparation
  bool timed_transfer = false;
  AddressMode addresses = AddressMode::physical;
  double map_ns = 0, upload_ns = 0, download_ns = 0;  ///< of timed transfers
  double start_ns = 0;                                ///< of all kernels
  double end_ns = 0;                                  ///< end at the host (direct: at the last PE)
  /// For a model with --repeat: parts that represent several, in order.
  struct Repeated {
    double from_ns = 0, to_ns = 0, times = 1;
  };
  std::vector<Repeated> repeated;
  double repeated_joules = 0;  ///< energy of the layers that are not simulated
  double whole_ns() const;     ///< end_ns with each part as often as it runs
  struct PeTimes {
    std::string id;
    double start_ns = 0, end_ns = 0;
    double scalar_ns = 0;  ///< the kernel's scalar work: tl.elapse, and reading loaded elements
  };
  std::vector<PeTimes> pes;
  /// For a Triton kernel (docs/triton.md); else none.
  struct ProgramTimes {
    int64_t id = 0;
    std::string pe;
    double start_ns = 0, end_ns = 0;
  };
  std::vector<ProgramTimes> programs;
  int64_t waves = 0;                  ///< of program instances, over the run's PEs
  std::optional<ModelFigures> model;  ///< of `kernbench model`
  std::vector<EngineReport> engines;
  std::vector<QueueTraffic> queues;    ///< queues between PEs with messages
  std::vector<MemoryReport> memories;  ///< memories with their own counters
  std::vector<std::string> notes;      ///< unexpected properties, reported by the engines
  std::string warning;                 ///< of the replay; empty: none
  std::string advice;                  ///< a much faster alternative to the run; empty: unknown
  std::vector<std::string> prints;     ///< prints of kernels for values of phase 2, in the order of effects
  uint64_t events = 0;
  /// Share of the peak of the run's matrix units in end_ns: 0 to 1.
  double gemm_peak_share() const;
  double wall_s = 0, phase1_s = 0, phase2_s = 0;
  bool verified = false;  ///< verification was requested and done
  bool passed = true;     ///< no verification failed
  std::vector<TensorReport> tensors;
  bool races_checked = false;
  std::vector<Race> races;
  std::string races_unknown;                        ///< reason for incomplete race detection; empty: complete
  std::vector<std::string> pe_names;                ///< names of PEs in races, in compiled order
  std::shared_ptr<const energy::Account> energy;    ///< energy (phase2/energy/account.h); null: not requested
  std::shared_ptr<const insight::Insight> insight;  ///< bottlenecks (insight/insight.h); null: not requested
};

}  // namespace kernbench
