// SPDX-License-Identifier: Apache-2.0
// Detects reads and writes without a defined order (docs/races.md).
//
// Values of Phase 1 follow program order, so a kernel that forgets a wait still gets the right result here. On hardware
// it may fail, because an access happens at an unknown time between submission and completion.
//
// Two accesses of overlapping bytes race if one of them is a write and neither command is known to be complete before
// the other is submitted. A command is known to be complete in these cases:
// - the kernel waited for it, or got a message from a PE that had waited;
// - an acquire atomic or a poll saw a release atomic after it;
// - its launch ended before;
// - one engine with one server runs both commands in order.
//
// The actual times in this run do not matter. Two atomics never race (access rules §17.5).
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "kernbench/phase2/op/op.h"

namespace kernbench::phase2 {

class Fields;

/// Records the actions of a run's kernels as they happen, for each PE (index in compiled order) in program order.
class CommandHistory {
 public:
  /// desc's pe, seq and submit_ns must be set. The commands of a PE have the seq 0, 1, 2, …
  void submitted(const std::shared_ptr<const OpDesc>& desc);
  void completed(uint32_t pe, uint64_t seq, double done_ns);
  /// The kernel waited for the command. Its later actions are ordered after the command.
  void waited(uint32_t pe, uint64_t seq);
  /// The TCM allocator found the command complete. This orders only accesses of TCM: a kernel that gets freed memory
  /// has not synchronised.
  void found_complete(uint32_t pe, uint64_t seq);
  /// A message between PEs. The receiver is ordered after everything that the sender was ordered after when it sent.
  void sent(uint32_t pe, uint64_t message);
  void received(uint32_t pe, uint64_t message);
  /// An atomic took effect, or a poll of a flag succeeded. An acquiring atomic is ordered after earlier releases on its
  /// bytes. A kernel that waits for it is ordered likewise.
  void took_effect(const OpDesc&);
  /// The sources of a reduction on the way took effect. An acquiring one is also ordered after the releasing ones, and
  /// after their effects.
  void took_effect_together(const std::vector<std::shared_ptr<OpDesc>>& sources);
  /// A vector clock. Under a PE: events of the PE with lower numbers come before. Under releases_of(PE): writes of the
  /// PE's commands with lower seq come before.
  using Clock = std::unordered_map<uint32_t, uint64_t>;
  /// A kernel ended. Adds all actions of its PE to the clock.
  void ended(uint32_t pe, Clock* clock);
  /// A kernel begins; its launch is ordered after the clock.
  void begins(uint32_t pe, const Clock& clock);
  /// All kernels have ended and all commands are complete. Later commands are ordered after them.
  void launch_ended() { ++launch_; }
  /// Stops recording and drops all records, because they would grow without limit. `why` says what the kernel does.
  void end(const std::string& why);
  const std::string& why_ended() const { return why_ended_; }  ///< empty: still recording
  /// One server of the PE's engine runs simple commands of this type in order.
  void serves_in_order(uint32_t pe, CommandType type);

  struct Command {
    std::shared_ptr<const OpDesc> desc;
    double done_ns = 0;
    uint32_t launch = 0;
    // Event numbers of the PE; ~0: never.
    uint64_t submitted = 0, waited = ~uint64_t{0}, found_complete = ~uint64_t{0};
  };
  size_t pes() const { return pes_.size(); }
  const std::vector<Command>& commands(uint32_t pe) const { return pes_[pe].commands; }
  /// Whether a is known to be complete when b is submitted.
  bool before(const Command& a, const Command& b, bool in_tcm) const;

 private:
  struct Pe {
    uint64_t events = 0;
    std::vector<Command> commands;
    size_t ended = 0;  ///< commands of kernels that have ended
    Clock knows;
    std::vector<std::pair<uint64_t, Clock>> learnt;  ///< (event, clock of the PE after it)
    uint32_t in_order = 0;                           ///< bit by CommandType
  };
  static uint32_t releases_of(uint32_t pe) { return pe | 1u << 31; }
  static void learn(Clock& knows, const Clock& more);
  void learn_now(Pe&, const Clock& more);
  Pe& at(uint32_t pe);
  Command& command(uint32_t pe, uint64_t seq) { return pes_.at(pe).commands.at(seq); }

  std::vector<Pe> pes_;
  std::unordered_map<uint64_t, Clock> messages_;
  using CommandId = std::pair<uint32_t, uint64_t>;               ///< PE and seq
  std::map<CommandId, std::shared_ptr<const Clock>> releasing_;  ///< at submission: the clock of its PE
  std::map<CommandId, Clock> acquired_;                          ///< of atomics that no kernel has waited for
  std::map<std::pair<Space, uint64_t>, std::shared_ptr<const Clock>> released_;  ///< by address of the element
  uint32_t launch_ = 0;
  std::string why_ended_;
};

/// One of the two accesses.
struct RacingAccess {
  std::string what;  ///< op name: dma_read, gemm_f32, composite_gemm, …
  bool writes = false;
  uint32_t pe = 0;
  SourceLine where;
  double submit_ns = 0, done_ns = 0;
};

/// Two unordered accesses. `first` was submitted first.
struct Race {
  enum class Kind : uint8_t {
    read_of_unfinished_write,      ///< the write may not be complete yet
    overwrite_of_unfinished_read,  ///< the read may get the new bytes
    two_writes                     ///< either may be the last
  };
  Kind kind = Kind::two_writes;
  RacingAccess first, second;
  Space space = Space::hbm;
  uint32_t pe = kNoPe;            ///< owner of the TCM
  uint64_t addr = 0, nbytes = 0;  ///< the first range that both touch
  uint64_t count = 1;             ///< pairs of commands from these two lines with this race
};
std::string_view name_of(Race::Kind);

/// Races grouped by source lines, kind and whether both accesses are of one PE. Each has its earliest pair, and they
/// are sorted by it. At most `most` groups are separate; the last one counts the rest. Near-linear in the number of
/// commands and their rows.
std::vector<Race> find_races(const CommandHistory&, size_t most = 1000);

/// One paragraph per race, for people. `pes` are the PEs' names. TCM addresses are local to the PE.
std::string races_text(const std::vector<Race>&, const std::vector<std::string>& pes);
/// "races": [{"kind", "space", "tcm_of"?, "addr", "nbytes", "count", "first": {…}, "second": {"op", "access", "pe",
/// "source", "submit_ns", "done_ns"}}]
void describe_races(Fields&, const std::vector<Race>&, const std::vector<std::string>& pes);

}  // namespace kernbench::phase2
