// SPDX-License-Identifier: Apache-2.0
#include "kernbench/systemc_models/pe/pe_setup.h"

#include "kernbench/phase2/op/errors.h"
#include "kernbench/systemc_models/pe/pe.h"

namespace kernbench::pe {

void set_up(const Pe& pe, PeSetup& setup) {
  set_up(pe.id, *pe.cpu, setup);
}

void set_up(const std::string& pe, const CpuRole& role, PeSetup& setup) {
  const auto* cpu = dynamic_cast<const PeBlock*>(&role);
  PePort* way = cpu ? setup.way_from(*cpu) : nullptr;
  PeItem item;
  item.setup = &setup;
  if (!way || !way->set_up(item))
    throw RunError(pe + ": what pe_cpu tells a block at no time does not come there: " +
                   (way ? "a block between them does not pass transport_dbg on" : "it has no socket to it"));
}

}  // namespace kernbench::pe
