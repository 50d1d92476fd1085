// What calls take on the machine of a launch when nothing else goes on: for kernels that choose among ways to do a
// thing before they run (collectives contract §12.6). It follows from the topology alone.
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
  /// Of the PE's TCM, what kernels and rings may allocate.
  virtual uint64_t tcm_bytes(int64_t pe) const = 0;
};

/// What a launch's preparation has decided, for reports.
struct LaunchNotes {
  std::string algorithm;                                 ///< chosen or given; empty: the kernel has none
  std::vector<std::pair<std::string, double>> costs_ns;  ///< of every algorithm that could be; empty: nothing to choose
  std::string root;                                      ///< of the algorithm; empty: it has none
  int64_t members = 0;                                   ///< of a group
};

}  // namespace kernbench
