// SPDX-License-Identifier: Apache-2.0
// Latencies of calls on an idle machine, derived from the topology alone. Kernels use them to choose an algorithm
// before they run (collectives rules §12.6); reports use them for advice.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "kernbench/phase2/op/dtype.h"

namespace kernbench {

/// Overrides of ring parameters for a connection; defaults are those of the receiver's pe_ipcq.
struct RingChoice {
  std::optional<uint32_t> slots;
  std::optional<uint64_t> slot_bytes;
  std::optional<std::string> tier;
  std::optional<std::string> protocol = {};
};

/// A collective to simulate separately, with each of several algorithms.
struct CollectiveTrial {
  std::string kernel;                                       ///< such as all_reduce
  std::vector<std::pair<std::string, std::string>> params;  ///< all except its algorithm
  std::vector<std::string> algorithms;
};

/// C[m, n] = A[m, k] · B[k, n].
struct MatrixProduct {
  int64_t m = 0, n = 0, k = 0;
};

/// Costs of a launch. PE numbers are those of tl.index(). All times are ns.
class LaunchCosts {
 public:
  virtual ~LaunchCosts() = default;
  /// Overhead of a tl call in pe_cpu; additional overhead of a send or receive in pe_ipcq.
  virtual double call_ns(int64_t pe) const = 0;
  virtual double queue_ns(int64_t pe) const = 0;
  /// Protocols of the PE's messages (collectives rules §10.17), and the start of one.
  virtual std::vector<std::string> protocols(int64_t /*pe*/) const { return {}; }
  virtual double protocol_start_ns(int64_t /*pe*/, const std::string& /*protocol*/) const { return 0; }
  /// Latency of a message from the grant of vc_comm until the receiver has read it from its slot, with ideal links; and
  /// the part of that reading.
  struct Message {
    double total_ns = 0, read_ns = 0;
    double next_ns = 0;  ///< interval of back-to-back messages: the longest of transfer, write and read
  };
  /// Paths between PEs, with the rings at their ends.
  class Ways {
   public:
    virtual ~Ways() = default;
    /// The slowest path for a message in one piece (in its slot: for a full slot of several).
    virtual Message dearest(uint64_t nbytes) const = 0;
    /// Whether every block that passes messages on declares `multicast: true`.
    virtual bool multicasts() const = 0;
  };
  /// One path for each (from, to). InputError if a path does not exist.
  virtual std::unique_ptr<Ways> ways(std::vector<std::pair<int64_t, int64_t>>, const RingChoice&) const = 0;
  /// Time from the call of a synchronous MATH command to its return, with two operands and a result of this type.
  virtual double math_ns(int64_t pe, const std::string& op, int64_t elements, DType) const = 0;
  /// Time of pe_gemm for a product in TCM.
  virtual double gemm_ns(int64_t pe, const MatrixProduct&, DType) const = 0;
  /// Total HBM bandwidth of the launch's PEs, GB/s.
  virtual double hbm_gbs() const = 0;
  /// TCM bytes of the PE that kernels and rings may allocate.
  virtual uint64_t tcm_bytes(int64_t pe) const = 0;
  /// Simulated time of each algorithm on the launch's PEs, from the common start to the end of the last PE; infinite if
  /// it fails. BadParam if this object cannot simulate.
  virtual std::vector<double> simulated_ns(const CollectiveTrial&) const = 0;
};

/// Decisions of a launch's preparation, for reports.
struct LaunchNotes {
  std::string algorithm;  ///< chosen or given; empty: the kernel has no choice of algorithm
  std::vector<std::pair<std::string, double>> costs_ns;  ///< of each candidate algorithm; empty: no choice
  bool simulated = false;                                ///< costs_ns are simulated; else from the cost table
  std::string root;                                      ///< root of the algorithm; empty: none
  int64_t members = 0;                                   ///< of a group
  /// For a kernel that declares its matrix products (KernelSpec::products): the roofline time from the GEMM rate and
  /// HBM of its PEs, and the time of an alternative kernel. 0: unknown.
  double allowed_ns = 0, instead_ns = 0;
  std::string instead;  ///< description of the alternative
};

}  // namespace kernbench
