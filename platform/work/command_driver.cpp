// SPDX-License-Identifier: Apache-2.0
#include "kernbench/platform/work/command_driver.h"

namespace kernbench::work {

CommandDriver::CommandDriver(sc_core::sc_module_name name, Platform& platform)
    : Component(name, ComponentConfig(platform.system(), {}, static_cast<uint32_t>(platform.graph().nodes.size())),
                BlockParameters{}),
      PeBlock(static_cast<Component&>(*this)),
      platform_(platform) {}

void CommandDriver::submit(size_t pe, PeCommand& command, double at_ns) {
  PeBlock& scheduler = *platform_.component(platform_.graph().pes[pe].blocks.at("pe_scheduler")).pe_block();
  if (!schedulers_.count(&scheduler)) connect(*this, scheduler);
  platform_.pes().pe(pe).scheduler->validate(command);
  command.item.command = &command;
  command.overheads_paid = true;
  submissions_.push_back({schedulers_.at(&scheduler), &command});
  platform_.timeline().at(at_ns, Order(Order::kEngines, ~0u, 0), call<&Submission::send>(submissions_.back()));
}

}  // namespace kernbench::work
