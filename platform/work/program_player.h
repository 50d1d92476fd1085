// SPDX-License-Identifier: Apache-2.0
// Plays programs of calls (programs.h) on a platform.
#pragma once

#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <tuple>
#include <unordered_map>
#include <vector>

#include "kernbench/platform/platform.h"
#include "kernbench/platform/work/programs.h"
#include "kernbench/systemc_models/fabric/reduction.h"
#include "kernbench/systemc_models/pe/pe_block.h"

namespace kernbench::work {

/// Plays each program with a KernelRunner, like a kernel. It replaces the PE's pe_cpu at the sockets of scheduler and
/// pe_ipcq; a call has pe_cpu's cost. Construct it after the platform and before the simulation starts.
class ProgramPlayer : private PeObserver {
 public:
  /// Connects the queues and checks the commands. InputError, AccessError: one line. Work must outlive the simulation.
  ProgramPlayer(Platform&, ProgramsWork&, const std::string& file_name);
  ~ProgramPlayer() override;

  /// Whether work other than the programs is left; unset: none.
  void others_left(std::function<bool()> left) { others_left_ = std::move(left); }
  /// The first error (one line), or empty.
  const std::string& fault() const { return fault_; }
  /// One line with the circle of waits, if programs have not ended and nothing can move; else empty.
  std::string stuck() const;
  /// One line with the unfinished programs and the first unfinished call of each; empty: all have ended.
  std::string not_ended() const;

  /// A signal's value is in memory from an instant on, at the earliest now; at one instant by order of arrival.
  void signal_stands(const ProgramCall&, double effect_ns, uint64_t arrival);

 private:
  class Playing;
  void take_effect();
  int32_t flag(uint64_t address) const;
  bool holds(const ProgramCall&) const;
  void fail(const std::string&);
  Reduction* reduction_of(const ProgramCall&);
  void segment_served(const Pe&, QueueServer, const QueueSegment&, double from, double to) override;

  Platform& platform_;
  std::vector<std::unique_ptr<Playing>> playing_;
  std::unordered_map<uint32_t, Playing*> senders_;  ///< by pe_dma, if latency breakdowns are kept; else empty
  std::string fault_;
  std::function<bool()> others_left_;
  std::shared_ptr<std::function<bool()>> may_change_flags_;  ///< queried by polling programs
  struct Effect {
    uint64_t flag;
    int32_t value;
  };
  std::map<std::tuple<uint64_t, uint64_t, uint64_t>, Effect> effects_;  ///< future ones, by instant, arrival and number
  uint64_t effects_so_far_ = 0;
  std::map<std::string, std::deque<Reduction>> reductions_;  ///< by group; an operation of one source is a plain red
  std::unordered_map<uint64_t, int32_t> flags_;              ///< values in memory by signals
};

}  // namespace kernbench::work
