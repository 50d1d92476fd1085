// SPDX-License-Identifier: Apache-2.0
// Detects the end of a run in a simulation with other activity. A clock, a DRAM's refresh or another platform may
// continue endlessly, so the simulation's end does not show the run's end. A run that cannot continue must be reported.
//
// Decisions:
// - A run ends by sc_pause(), so that sc_start() returns and can be called again. It ends when the host has the
//   completion and all credits of the run's messages have returned, whatever else continues.
// - A job that cannot continue causes a warning at starvation: the platform's agenda is empty and no other activity is
//   pending in the simulation. Until then another module may still activate it; beside a clock, call Job::waiting().
// - If no block depends on others (Elaboration::waits_for_others), an empty agenda is the end. A call that runs to
//   completion (run_kernel, Job::run) then returns, whatever else continues.
#pragma once

#include <string>
#include <systemc>
#include <vector>

#include "kernbench/phase2/rooms.h"

namespace kernbench::elaborate {

class Machine;

class RunWatch : public sc_core::sc_module {
 public:
  /// For a machine; call it inside a module under construction.
  RunWatch(sc_core::sc_module_name name, Machine& machine);
  ~RunWatch() override;

  /// Calls sc_pause() at the end of this instant, or as soon as the machine has settled. Call it on the timeline.
  void pause_when_settled();
  /// A job of that name runs between begin() and end(). At starvation it causes an SC_WARNING of type
  /// "/kernbench/stuck" with all waits.
  void begin(const std::string& job);
  void end(const std::string& job);

  /// While it exists, a call runs to completion: sc_pause() when nothing can move.
  class Call {
   public:
    explicit Call(RunWatch& watch) : watch_(watch) { watch.begin_call(); }
    ~Call() { watch_.calls_ = false; }
    Call(const Call&) = delete;
    Call& operator=(const Call&) = delete;

   private:
    RunWatch& watch_;
  };
  /// Whether the last call ended because nothing could move.
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
  bool alone_ = false;  ///< only its timeline activates the machine
  std::vector<std::string> jobs_;
  uint64_t told_at_ = 0;  ///< number of processed entries at the last warning; 0: none
  sc_core::sc_event check_;
};

}  // namespace kernbench::elaborate
