// SPDX-License-Identifier: Apache-2.0
#include "kernbench/platform/observe/dram_command_log.h"

#include <fmt/compile.h>

#include <iterator>

#include "kernbench/phase2/op/errors.h"
#include "kernbench/platform/platform.h"
#include "kernbench/systemc_models/memory/hbm_dram.h"

namespace kernbench::observe {

class DramCommandLog::Writer : public DramCommandObserver {
 public:
  Writer(DramCommandLog& log, HbmDram& memory) : log_(log), memory_(memory) { memory.observe_commands(this); }
  ~Writer() override { memory_.observe_commands(nullptr); }
  void command(const DramCommand& c) override {
    constexpr size_t kBlock = 1 << 16;
    const DramPlace& p = c.place;
    fmt::format_to(std::back_inserter(log_.text_), FMT_COMPILE("{},{},{},{},{},{},{},{},{},{}\n"), memory_.id(),
                   p.channel, c.cycle, name_of(c.op), p.pc, p.stack_id, p.group, p.bank, p.row, p.column);
    if (log_.text_.size() > kBlock) log_.flush();
  }

 private:
  DramCommandLog& log_;
  HbmDram& memory_;
};

DramCommandLog::DramCommandLog(Platform& platform, const std::string& file)
    : file_(file), text_("memory,channel,cycle,command,pseudo_channel,stack_id,bank_group,bank,row,column\n") {
  for (const topology::Memory& m : platform.graph().memories) {
    if (auto* dram = dynamic_cast<HbmDram*>(&platform.component(m.node)))
      writers_.push_back(std::make_unique<Writer>(*this, *dram));
  }
  if (writers_.empty())
    throw InputError("--dram-commands: found no memory of impl builtin.hbm_dram in " + platform.graph().name);
}

DramCommandLog::~DramCommandLog() = default;

void DramCommandLog::flush() {
  file_.write(text_);
  text_.clear();
}

void DramCommandLog::close() {
  flush();
  file_.keep();
}

}  // namespace kernbench::observe
