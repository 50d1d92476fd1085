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

/// Plays each program by a KernelRunner, which drives it as it runs a kernel. It takes the place of the PE's pe_cpu at
/// the sockets of scheduler and pe_ipcq; a call costs what pe_cpu says. To be made after the platform and before the
/// simulation starts.
class ProgramPlayer : private PeObserver {
 public:
  /// Connects the queues and checks the commands. InputError, AccessError: one line. Work outlives the simulation.
  ProgramPlayer(Platform&, ProgramsWork&, const std::string& file_name);
  ~ProgramPlayer() override;

  /// Whether something is still to be done beside the programs; unset: nothing is.
  void others_left(std::function<bool()> left) { others_left_ = std::move(left); }
  /// What went wrong first (one line), or empty.
  const std::string& fault() const { return fault_; }
  /// One line, the circle of waiting, if programs have not ended when nothing can move; else empty.
  std::string stuck() const;
  /// The programs that have not ended, each with its first call that is not done, one line; empty: all have.
  std::string not_ended() const;

  /// A signal stands in memory from an instant on, not before now; at one instant in the order of arrival there.
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
  std::unordered_map<uint32_t, Playing*> senders_;  ///< by pe_dma, where accounts are kept; else empty
  std::string fault_;
  std::function<bool()> others_left_;
  std::shared_ptr<std::function<bool()>> may_change_flags_;  ///< told to who polls
  struct Effect {
    uint64_t flag;
    int32_t value;
  };
  std::map<std::tuple<uint64_t, uint64_t, uint64_t>, Effect> effects_;  ///< to come: instant, arrival there, number
  uint64_t effects_so_far_ = 0;
  std::map<std::string, std::deque<Reduction>> reductions_;  ///< by group; those of one source are plain
  std::unordered_map<uint64_t, int32_t> flags_;  ///< what signals have left in memory
};

}  // namespace kernbench::work
