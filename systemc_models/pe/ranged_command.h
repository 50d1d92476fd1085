// SPDX-License-Identifier: Apache-2.0
// A gather, a scatter or an atomic of a kernel (access rules §16, §17): what the DMA moves for it, memory by memory,
// and what each of these transactions does. An atomic's takes effect when its memory says, behind all that PEs do at
// that instant, in the order of arrival there.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "kernbench/systemc_models/fabric/transaction.h"
#include "kernbench/systemc_models/memory/system.h"
#include "kernbench/systemc_models/pe/pe.h"
#include "kernbench/systemc_models/pe/pe_command.h"
#include "kernbench/systemc_models/protocol/atomic_extension.h"

namespace kernbench::phase2 {
class CommandHistory;
}

namespace kernbench::pe {

class RangedCommand final : public RangedAccess {
 public:
  /// AccessError where no memory, or no way to it, is.
  RangedCommand(System&, const Pe&, const std::shared_ptr<OpDesc>&);
  ~RangedCommand() override;

  /// It is submitted now: `history`, which may be null, is told of its effects; `command` of what is wrong.
  void submitted(double submit_ns, CommandHistory* history, PeCommand& command);
  void effect_known(const FabricTransaction&) override;

  // For the DMA.
  /// Of an atomic that meets a foreign block or memory, what its payload says of it to them; null: nothing.
  DataMover* shown(size_t group);
  Part& part_of(const FabricTransaction&);
  /// A transaction is done: if no effect of it is known, somebody else has done it, or nobody.
  void ended(const FabricTransaction&);
  /// Transactions of an atomic that have not taken effect.
  bool has_effects_left() const { return effects_left_ > 0; }

  OpDesc& desc() { return *desc_; }

 private:
  struct Shown;
  void show();
  std::string moved_to(uint64_t address, uint64_t sent_to, OpDesc&) const;
  void take_effect(Part&);
  void done_outside(Part&, const AtomicExtension&, double done_ns);
  void fail(const std::string& why);
  std::string never_written(const OpDesc&) const;
  std::string of(const OpDesc&) const;

  System& system_;
  const Pe& pe_;
  std::shared_ptr<OpDesc> desc_;
  CommandHistory* history_ = nullptr;
  PeCommand* command_ = nullptr;
  size_t effects_left_ = 0;
  std::vector<std::unique_ptr<Shown>> shown_;  ///< by group; empty: the way to none is foreign
};

}  // namespace kernbench::pe
