// What calls take on the machine of a launch when nothing else goes on: for kernels that choose among ways to do a
// thing before they run (collectives contract §12.6), and for advice on what would be quicker. It follows from the
// topology alone.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "kernbench/phase2/op/dtype.h"

namespace kernbench {

/// What a connection may say of its rings; what is not given is as the receiver's pe_ipcq says.
struct RingChoice {
  std::optional<uint32_t> slots;
  std::optional<uint64_t> slot_bytes;
  std::optional<std::string> tier;
};

/// A collective alone, by each of several algorithms.
struct CollectiveTrial {
  std::string kernel;                                       ///< such as all_reduce
  std::vector<std::pair<std::string, std::string>> params;  ///< but for its algorithm
  std::vector<std::string> algorithms;
};

/// C[m, n] = A[m, k] · B[k, n].
struct MatrixProduct {
  int64_t m = 0, n = 0, k = 0;
};

/// PEs are counted as in tl.index(). All times are ns.
class LaunchCosts {
 public:
  virtual ~LaunchCosts() = default;
  /// What a tl call costs in pe_cpu; what a send or a receive costs in pe_ipcq beside.
  virtual double call_ns(int64_t pe) const = 0;
  virtual double queue_ns(int64_t pe) const = 0;
  /// A message from the grant of vc_comm until it has been read out of its slot, with ideal links; and that reading.
  struct Message {
    double total_ns = 0, read_ns = 0;
  };
  /// Ways between PEs, and the rings that they lead to.
  class Ways {
   public:
    virtual ~Ways() = default;
    /// The most that a message takes on any of them, in one piece (of its slot: of a whole one of several).
    virtual Message dearest(uint64_t nbytes) const = 0;
  };
  /// (from, to) of each. InputError where there is no way.
  virtual std::unique_ptr<Ways> ways(std::vector<std::pair<int64_t, int64_t>>, const RingChoice&) const = 0;
  /// From a synchronous MATH command's call to its return; two operands and a result of this type.
  virtual double math_ns(int64_t pe, const std::string& op, int64_t elements, DType) const = 0;
  /// What pe_gemm takes for a product that is in TCM.
  virtual double gemm_ns(int64_t pe, const MatrixProduct&, DType) const = 0;
  /// What the HBM of the launch's PEs gives together, GB/s.
  virtual double hbm_gbs() const = 0;
  /// Of the PE's TCM, what kernels and rings may allocate.
  virtual uint64_t tcm_bytes(int64_t pe) const = 0;
  /// What each algorithm takes on the launch's PEs, simulated: from the common start to the last PE's end; infinite
  /// where it fails. BadParam where nobody can simulate it.
  virtual std::vector<double> simulated_ns(const CollectiveTrial&) const = 0;
};

/// What a launch's preparation has decided, for reports.
struct LaunchNotes {
  std::string algorithm;                                 ///< chosen or given; empty: the kernel has none
  std::vector<std::pair<std::string, double>> costs_ns;  ///< of every algorithm that could be; empty: nothing to choose
  bool simulated = false;                                ///< these are simulated; else by the cost table
  std::string root;                                      ///< of the algorithm; empty: it has none
  int64_t members = 0;                                   ///< of a group
  /// Of a kernel that says which matrix products it makes (KernelSpec::products): what the GEMM rate and the HBM of its
  /// PEs allow, and what another way would take. 0: not known.
  double allowed_ns = 0, instead_ns = 0;
  std::string instead;  ///< that other way, in words
};

}  // namespace kernbench
