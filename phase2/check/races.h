// SPDX-License-Identifier: Apache-2.0
// Reads and writes that only luck orders (docs/races.md).
//
// Phase 1's values follow program order, so a kernel that forgets a wait still computes the right thing here, and may
// not on hardware, where an access happens somewhere between its command's submission and its completion. Two accesses
// of overlapping bytes, one of them a write, race unless one command is known to be complete before the other is
// submitted: by a wait, by a message from who waited, by a release atomic that an acquire one, or a poll, has seen, by
// the end of a launch that the other is behind, or because one engine with one server does both in order. When they
// really happened in this run does not matter. Two atomics never race (access rules §17.5).
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

/// What the kernels of a run did, told as it happens; per PE (index in compiled order) in program order.
class CommandHistory {
 public:
  /// desc's pe, seq and submit_ns are set; the seq of a PE's commands are 0, 1, 2, …
  void submitted(const std::shared_ptr<const OpDesc>& desc);
  void completed(uint32_t pe, uint64_t seq, double done_ns);
  /// The kernel waited for the command: whatever it does from here on is behind it.
  void waited(uint32_t pe, uint64_t seq);
  /// The allocator of TCM saw that the command is complete. Orders accesses of TCM alone: a kernel that happens to get
  /// fresh room has not synchronised with anybody.
  void found_complete(uint32_t pe, uint64_t seq);
  /// A message between PEs: the receiver is behind all that the sender was behind when it sent.
  void sent(uint32_t pe, uint64_t message);
  void received(uint32_t pe, uint64_t message);
  /// An atomic has taken effect, or a poll of a flag has found what it waited for. An atomic that acquires is behind
  /// those that released before it on its bytes, and so is who waits for it.
  void took_effect(const OpDesc&);
  /// By PE: its events that one is behind; by releases_of(PE): its commands, of which one is behind the writes.
  using Clock = std::unordered_map<uint32_t, uint64_t>;
  /// A kernel has ended: whoever has this clock is behind all that its PE has done.
  void ended(uint32_t pe, Clock* clock);
  /// A kernel begins, whose launch is behind the clock.
  void begins(uint32_t pe, const Clock& clock);
  /// All kernels have ended and all commands are complete; what comes is behind them.
  void launch_ended() { ++launch_; }
  /// It ends, and forgets all, as it would grow for ever; `why`, in words that name what the kernel does.
  void end(const std::string& why);
  const std::string& why_ended() const { return why_ended_; }  ///< empty: it has not
  /// Simple commands of this type are done one after the other by one server of the PE's engine.
  void serves_in_order(uint32_t pe, CommandType type);

  struct Command {
    std::shared_ptr<const OpDesc> desc;
    double done_ns = 0;
    uint32_t launch = 0;
    // In events of the PE; ~0: never.
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
    std::vector<std::pair<uint64_t, Clock>> learnt;  ///< after which event one knew what
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
  std::map<CommandId, std::shared_ptr<const Clock>> releasing_;  ///< submitted: what its PE was behind
  std::map<CommandId, Clock> acquired_;                          ///< by atomics that nobody has waited for
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

/// Two accesses without order. `first` was submitted first.
struct Race {
  enum class Kind : uint8_t {
    read_of_unfinished_write,      ///< the write may not be there yet
    overwrite_of_unfinished_read,  ///< the read may get the new bytes
    two_writes                     ///< either may be the last
  };
  Kind kind = Kind::two_writes;
  RacingAccess first, second;
  Space space = Space::hbm;
  uint32_t pe = kNoPe;            ///< whose TCM
  uint64_t addr = 0, nbytes = 0;  ///< the bytes that both touch, the first stretch of them
  uint64_t count = 1;             ///< how many pairs of commands from these two lines race so
};
std::string_view name_of(Race::Kind);

/// Races by source lines, kind and whether they are of one PE, each with its earliest pair; ordered by that. At most
/// `most` are kept apart; the rest is counted in the last. Near-linear in commands and their rows.
std::vector<Race> find_races(const CommandHistory&, size_t most = 1000);

/// One paragraph a race, for people. `pes` are the PEs' names; addresses are those of the PE for TCM.
std::string races_text(const std::vector<Race>&, const std::vector<std::string>& pes);
/// "races": [{"kind", "space", "tcm_of"?, "addr", "nbytes", "count", "first": {…}, "second": {"op", "access", "pe",
/// "source", "submit_ns", "done_ns"}}]
void describe_races(Fields&, const std::vector<Race>&, const std::vector<std::string>& pes);

}  // namespace kernbench::phase2
