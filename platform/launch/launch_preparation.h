// SPDX-License-Identifier: Apache-2.0
// Completes a kernel's parameters before anything is placed. They get the launch, and KernelSpec::prepare chooses open
// ones by the costs on this machine (collectives rules §12.6).
#pragma once

#include <memory>
#include <vector>

#include "kernbench/kernel_api/registry.h"
#include "kernbench/platform/elaborate/machine.h"

namespace kernbench::launch {

/// Costs on an idle machine with ideal links, from the topology alone.
class MachineCosts : public LaunchCosts {
 public:
  /// `pes`: PEs of the launch, as indices in compiled order.
  MachineCosts(Machine& machine, const std::vector<size_t>& pes) : machine_(machine), pes_(pes) {}
  double call_ns(int64_t pe) const override;
  double queue_ns(int64_t pe) const override;
  std::vector<std::string> protocols(int64_t pe) const override;
  double protocol_start_ns(int64_t pe, const std::string& protocol) const override;
  std::unique_ptr<Ways> ways(std::vector<std::pair<int64_t, int64_t>>, const RingChoice&) const override;
  double math_ns(int64_t pe, const std::string& op, int64_t elements, DType) const override;
  double gemm_ns(int64_t pe, const MatrixProduct&, DType) const override;
  double hbm_gbs() const override;
  uint64_t tcm_bytes(int64_t pe) const override;
  std::vector<double> simulated_ns(const CollectiveTrial&) const override;

 private:
  Pe& pe(int64_t i) const { return machine_.pes().pe(pes_.at(static_cast<size_t>(i))); }
  /// InputError if the PE has no pe_ipcq.
  void require_queues(int64_t i) const;
  QueueRing ring(int64_t at, const RingChoice&) const;
  /// Service time of the engine of that stage; 0: not declared.
  double service_ns(int64_t at, CommandType, PeCommand*) const;

  Machine& machine_;
  const std::vector<size_t>& pes_;
};

struct PreparedLaunch {
  Params params;
  LaunchNotes notes;
};
/// BadParam, InputError: one line.
PreparedLaunch prepare_launch(Machine&, const KernelSpec&, Params, const std::vector<size_t>& pes,
                              std::shared_ptr<const LaunchShape>);

}  // namespace kernbench::launch
