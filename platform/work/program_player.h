// Plays programs of calls (programs.h) on a platform.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <string>
#include <tuple>
#include <unordered_map>
#include <vector>

#include "kernbench/platform/platform.h"
#include "kernbench/platform/work/programs.h"
#include "kernbench/systemc_models/pe/pe_block.h"

namespace kernbench {

/// Plays programs in the place of the PEs' pe_cpus, at the sockets of their schedulers and pe_ipcqs. A call costs what
/// pe_cpu says. To be made after the platform and before the simulation starts.
class ProgramPlayer : public Component, public PeBlock, private PeObserver {
 public:
  CommandInitiatorSocket command_out{"command_out", *this};

  /// Connects the queues and checks the commands. InputError, AccessError: one line. Work outlives the simulation.
  ProgramPlayer(sc_core::sc_module_name name, Platform&, ProgramsWork&, const std::string& file_name);
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

  // PeBlock.
  PeBlock* pe_block() override { return this; }
  CommandInitiatorSocket* command_initiator() override { return &command_out; }
  void leads_to(PePort& out, PeBlock& next) override { ways_[&next] = &out; }
  tlm::tlm_sync_enum answer_in(PeItem&, PePort& out, tlm::tlm_phase&) override;

 private:
  struct Playing;
  void prepare(Playing&);
  void prepare(Playing&, ProgramCommand&, size_t call);
  void prepare_queue_call(Playing&, size_t call);
  PePort& way_to(PeBlock&);
  void go_on(Playing&);
  void make(Playing&, ProgramCall&);
  bool waits(Playing&, ProgramCall&);
  void answered(Playing&, ProgramCommand&);
  void end_if_complete(Playing&);
  void submit_behind(ProgramCommand&);
  void release_held(Playing&);
  bool writes_before(Playing&, size_t call) const;
  void polled(Playing&, ProgramCall&);
  void poll(Playing&);
  void take_effect();
  bool holds(const ProgramCall&) const;
  bool only_polls_left() const;
  std::string waiting_for_flags() const;
  static std::vector<uint64_t> waited_for(const Playing&);
  void fail(const std::string&);
  void segment_served(const Pe&, QueueServer, const QueueSegment&, double from, double to) override;

  Platform& platform_;
  std::unordered_map<const PeBlock*, PePort*> ways_;
  std::vector<std::unique_ptr<Playing>> playing_;
  std::unordered_map<uint32_t, ProgramWork*> senders_;  ///< by pe_dma, where accounts are kept; else empty
  std::string fault_;
  std::function<bool()> others_left_;
  struct Effect {
    uint64_t flag;
    int32_t value;
  };
  std::map<std::tuple<uint64_t, uint64_t, uint64_t>, Effect> effects_;  ///< to come: instant, arrival there, number
  uint64_t effects_so_far_ = 0;
  std::unordered_map<uint64_t, int32_t> flags_;  ///< what signals have left in memory
};

}  // namespace kernbench
