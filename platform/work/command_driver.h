// SPDX-License-Identifier: Apache-2.0
// Plays commands at given times. It replaces the PEs' pe_cpus at their schedulers' sockets. A submitted command is
// dispatched at its time, without costs of pe_cpu and scheduler.
#pragma once

#include <deque>
#include <unordered_map>

#include "kernbench/platform/platform.h"
#include "kernbench/systemc_models/pe/pe_block.h"

namespace kernbench::work {

/// Construct it after the platform and before the simulation starts.
class CommandDriver : public Component, public PeBlock {
 public:
  CommandInitiatorSocket command_out{"command_out", *this};

  CommandDriver(sc_core::sc_module_name name, Platform& platform);

  /// The command reaches the PE's scheduler at at_ns, before all other activity of that instant. AccessError, one line,
  /// if it is impossible. The command must outlive the simulation.
  void submit(size_t pe, PeCommand& command, double at_ns);

  // PeBlock.
  PeBlock* pe_block() override { return this; }
  CommandInitiatorSocket* command_initiator() override { return &command_out; }
  void leads_to(PePort& out, PeBlock& next) override { schedulers_[&next] = &out; }

 private:
  struct Submission {
    PePort* scheduler;
    PeCommand* command;
    void send() { scheduler->send(command->item); }
  };

  Platform& platform_;
  std::unordered_map<const PeBlock*, PePort*> schedulers_;
  std::deque<Submission> submissions_;
};

}  // namespace kernbench::work
