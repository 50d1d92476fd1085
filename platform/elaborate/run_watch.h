// SPDX-License-Identifier: Apache-2.0
// What a run needs to know of a simulation in which it is not alone. A clock, a DRAM's refresh or another platform may
// go on for ever, so that a simulation's end says nothing of the run's; and where all stands still, somebody has to say
// so.
//
// Decisions. A run ends by sc_pause(), so that sc_start() returns and can be called again; it does so when the host has
// the completion and what the run's messages left under way (credits) has come back, whatever else goes on. That a job
// cannot go on is a warning, told at starvation: the platform's agenda is empty and no other activity is pending in the
// simulation. Before that somebody else may still set it going; beside a clock, Job::waiting() tells it when asked.
// Where no block waits for anybody else (Elaboration::waits_for_others), an empty agenda is the end: a call that runs
// to completion (run_kernel, Job::run) is then left, whatever else goes on.
#pragma once

#include <string>
#include <systemc>
#include <vector>

#include "kernbench/phase2/rooms.h"

namespace kernbench::elaborate {

class Machine;

class RunWatch : public sc_core::sc_module {
 public:
  /// Inside a module that is being constructed: a machine's.
  RunWatch(sc_core::sc_module_name name, Machine& machine);
  ~RunWatch() override;

  /// sc_pause() at the end of this instant, or as soon as the machine has settled. To be called on the timeline.
  void pause_when_settled();
  /// Between them a job of that name runs: at starvation there is an SC_WARNING of type "/kernbench/stuck", with who
  /// waits for whom.
  void begin(const std::string& job);
  void end(const std::string& job);

  /// While there is one, a call runs to completion: sc_pause() where nothing can move any more.
  class Call {
   public:
    explicit Call(RunWatch& watch) : watch_(watch) { watch.begin_call(); }
    ~Call() { watch_.calls_ = false; }
    Call(const Call&) = delete;
    Call& operator=(const Call&) = delete;

   private:
    RunWatch& watch_;
  };
  /// Whether that has ended the last call.
  bool stuck() const { return stuck_; }

 private:
  void begin_call();
  bool settled() const;
  void at_rest();
  void check();
  bool waits() const;
  bool cannot_move() const;
  bool suspended() const;
  void warn();

  Machine& machine_;
  bool pausing_ = false;
  bool calls_ = false, stuck_ = false;
  bool alone_ = false;  ///< only its timeline sets the machine going
  std::vector<std::string> jobs_;
  uint64_t told_at_ = 0;  ///< entries worked off when it was told; 0: it was not
  sc_core::sc_event check_;
};

}  // namespace kernbench::elaborate
