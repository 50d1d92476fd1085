// SPDX-License-Identifier: Apache-2.0
// Models the state of the banks of a DRAM channel in its controller: the open rows, and the earliest legal cycle of
// each command. Each command updates the earliest cycles of later ones. Plain C++, no SystemC.
#pragma once

#include <algorithm>
#include <array>
#include <vector>

#include "kernbench/systemc_models/memory/dram_command.h"

namespace kernbench::memory {

class DramBanks {
 public:
  static constexpr int64_t kClosed = -1;

  DramBanks(const DramTiming&, const DramGeometry&);

  /// Number in the channel: of a bank, and of a pseudo-channel's stack ID.
  uint32_t bank_of(const DramPlace& p) const {
    return (stack_of(p) * geometry_.bank_groups + p.group) * geometry_.banks + p.bank;
  }
  uint32_t stack_of(const DramPlace& p) const { return p.pc * geometry_.stack_ids + p.stack_id; }
  uint32_t stack_of_bank(uint32_t bank) const { return banks_[bank].stack; }
  uint32_t count() const { return static_cast<uint32_t>(banks_.size()); }
  uint32_t stacks() const { return static_cast<uint32_t>(stacks_.size()); }
  uint32_t banks_of_stack() const { return banks_of_stack_; }

  int64_t open_row(uint32_t bank) const { return banks_[bank].open_row; }
  bool any_open(uint32_t stack) const { return stacks_[stack].open > 0; }

  Cycle earliest_act(uint32_t bank) const {
    const Bank& b = banks_[bank];
    return std::max({b.act, groups_[b.group].act, stacks_[b.stack].act});
  }
  Cycle earliest_column(uint32_t bank, bool write) const {
    const Bank& b = banks_[bank];
    return std::max({b.column[write], groups_[b.group].column[write], stacks_[b.stack].column[write]});
  }
  Cycle earliest_pre(uint32_t bank) const { return banks_[bank].pre; }
  /// For all banks of a stack ID. REF requires that all are closed.
  Cycle earliest_pre_all(uint32_t stack) const;
  Cycle earliest_ref(uint32_t stack) const;

  void act(uint32_t bank, Cycle, uint32_t row);
  /// `close`: for RDA, WRA.
  void column(uint32_t bank, bool write, bool close, Cycle);
  void pre(uint32_t bank, Cycle);
  void pre_all(uint32_t stack, Cycle);
  void ref(uint32_t stack, Cycle);
  void ref_single(uint32_t bank, Cycle);
  /// Sets all rows to closed, for a long time.
  void forget_rows();

 private:
  struct Bank {
    int64_t open_row = kClosed;
    Cycle act = 0, pre = 0;
    std::array<Cycle, 2> column = {};  ///< for reads, for writes
    uint32_t group = 0, stack = 0;
    uint32_t first_stack = 0;  ///< of its pseudo-channel
  };
  struct Group {
    Cycle act = 0;
    std::array<Cycle, 2> column = {};
  };
  struct Stack {  // for a stack ID of a pseudo-channel
    Cycle act = 0;
    std::array<Cycle, 2> column = {};
    std::array<Cycle, 4> last_acts = {};  ///< a ring, for tFAW
    unsigned oldest_act = 0, open = 0;
  };
  void close(Bank&, Cycle pre);
  void count_act(Stack&, Cycle);

  const DramTiming timing_;
  const DramGeometry geometry_;
  const uint32_t banks_of_stack_;
  std::vector<Bank> banks_;
  std::vector<Group> groups_;
  std::vector<Stack> stacks_;
};

}  // namespace kernbench::memory
