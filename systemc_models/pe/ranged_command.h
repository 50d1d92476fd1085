// A gather, a scatter or an atomic of a kernel (access contract §16, §17): what the DMA moves for it, memory by memory,
// and what each of these transactions does. An atomic's takes effect when its memory says, behind all that PEs do at
// that instant, in the order of arrival there.
#pragma once

#include <memory>
#include <string>

#include "kernbench/systemc_models/memory/system.h"
#include "kernbench/systemc_models/pe/pe.h"
#include "kernbench/systemc_models/pe/pe_command.h"

namespace kernbench {

class CommandHistory;

class RangedCommand final : public RangedAccess {
 public:
  /// AccessError where no memory, or no way to it, is; KernelFault where a foreign block is on it.
  RangedCommand(System&, const Pe&, const std::shared_ptr<OpDesc>&);

  /// It is submitted now: `history`, which may be null, is told of its effects; `command` of what is wrong.
  void submitted(double submit_ns, CommandHistory* history, PeCommand& command);
  void effect_known(const FabricTransaction&) override;
  /// Transactions of an atomic that have not taken effect.
  bool has_effects_left() const { return effects_left_ > 0; }

  OpDesc& desc() { return *desc_; }

 private:
  void take_effect(Part&);
  std::string never_written(const OpDesc&) const;

  System& system_;
  const Pe& pe_;
  std::shared_ptr<OpDesc> desc_;
  CommandHistory* history_ = nullptr;
  PeCommand* command_ = nullptr;
  size_t effects_left_ = 0;
};

}  // namespace kernbench
