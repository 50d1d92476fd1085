// SPDX-License-Identifier: Apache-2.0
// A gather, a scatter or an atomic of a kernel (access rules §16, §17): the transactions of the DMA, one per memory,
// and their effects. An atomic takes effect at a time that its memory determines, after all effects of PEs at that
// instant, in the order of arrival there.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "kernbench/systemc_models/fabric/transaction.h"
#include "kernbench/systemc_models/memory/system.h"
#include "kernbench/systemc_models/pe/kernel_reductions.h"
#include "kernbench/systemc_models/pe/pe.h"
#include "kernbench/systemc_models/pe/pe_command.h"
#include "kernbench/systemc_models/protocol/atomic_extension.h"

namespace kernbench::phase2 {
class CommandHistory;
}

namespace kernbench::pe {

class RangedCommand final : public RangedAccess {
 public:
  /// AccessError if an address has no memory, or no path to it.
  RangedCommand(System&, const Pe&, const std::shared_ptr<OpDesc>&);
  ~RangedCommand() override;

  /// It is a source of the reduction of its description, if there is one. Returns what the DMA's transaction joins.
  /// AccessError if it cannot be one.
  Reduction* join(const std::shared_ptr<KernelReductions>&);
  /// It is submitted now. `history`, which may be null, receives its effects; `command` receives a fault.
  void submitted(double submit_ns, CommandHistory* history, PeCommand& command);
  void effect_known(const FabricTransaction&) override;

  // For the DMA.
  /// For an atomic that meets a foreign block or memory: the description in its payload; null: none.
  DataMover* shown(size_t group);
  Part& part_of(const FabricTransaction&);
  /// A transaction is done. If its effect is unknown, a foreign block has executed it, or it was not executed.
  void ended(const FabricTransaction&);
  /// Number of an atomic's transactions without an effect so far.
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
  std::shared_ptr<KernelReductions> reductions_;
  std::shared_ptr<KernelReductions::Operation> operation_;  ///< of which it is a source; null: none
  std::vector<std::unique_ptr<Shown>> shown_;               ///< by group; empty: no path has a foreign block
};

}  // namespace kernbench::pe
