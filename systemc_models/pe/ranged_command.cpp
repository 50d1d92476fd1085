#include "kernbench/systemc_models/pe/ranged_command.h"

#include <algorithm>

#include "kernbench/kernel_api/pe_backend.h"
#include "kernbench/phase2/check/races.h"
#include "kernbench/phase2/op/address_text.h"
#include "kernbench/systemc_models/fabric/memory_target.h"

namespace kernbench {

namespace {

AtomicKind kind_of(const OpDesc& d) {
  if (d.type != CommandType::atomic) return AtomicKind::none;
  return d.op == "cas" ? AtomicKind::compare : d.ranged->returns_old ? AtomicKind::fetch : AtomicKind::reduce;
}

/// The desc without its ranges.
std::shared_ptr<OpDesc> part_of(const OpDesc& whole) {
  auto d = std::make_shared<OpDesc>(whole);
  d->ranged = std::make_shared<RangedOp>();
  d->ranged->space = whole.ranged->space;
  d->ranged->other = whole.ranged->other;
  d->ranged->returns_old = whole.ranged->returns_old;
  d->ranged->sem = whole.ranged->sem;
  return d;
}

}  // namespace

RangedCommand::RangedCommand(System& system, const Pe& pe, const std::shared_ptr<OpDesc>& desc)
    : system_(system), pe_(pe), desc_(desc) {
  const RangedOp& op = *desc->ranged;
  atomic = kind_of(*desc);
  // An atomic needs a way back, as a read does.
  RangeGrouping grouping(system.routes(), pe.dma, desc->type == CommandType::store);
  for (const MovedRange& r : op.ranges) grouping.add(r.addr, r.nbytes);
  groups = grouping.take();
  for (size_t g = 0; g < groups.size(); ++g) {
    const Route& route = grouping.route_of(g);
    if (!route.known)
      throw KernelFault(desc->where,
                        desc->name + " by " + pe.id + " of " + std::to_string(groups[g].nbytes) + " bytes at " +
                            address_text(groups[g].address) + (route.target ? " of " + route.target->id() : "") +
                            ": a foreign block or memory is on its way, which takes loads and stores only");
    part_at.emplace(groups[g].address, g);
  }
  if (!op.asked.empty()) asked_address = op.asked.front().addr;
  for (const MovedRange& r : op.asked) asked.push_back({r.addr - asked_address, r.nbytes});
  parts.resize(std::max<size_t>(groups.size(), 1));
  if (groups.size() <= 1) {
    parts.front().desc = desc;
    return;
  }
  for (Part& part : parts) part.desc = part_of(*desc);
  parts.front().desc->ranged->left_out = op.left_out;
  for (MovedRange r : op.ranges) {
    while (r.nbytes > 0) {
      const size_t g = grouping.group_of(r.addr);
      const Route& route = grouping.route_of(g);
      const uint64_t here = std::min(r.nbytes, route.size - (r.addr - route.base));
      parts[g].desc->ranged->ranges.push_back({r.addr, here, r.offset});  // nothing more becomes one
      r = {r.addr + here, r.nbytes - here, r.offset + here};
    }
  }
  for (Part& part : parts) {
    OpDesc& d = *part.desc;
    (d.type == CommandType::load ? d.operands.front().ref : d.output).addr +=
        d.ranged->returns_old ? 0 : d.ranged->ranges.front().addr - op.ranges.front().addr;
  }
}

void RangedCommand::submitted(double submit_ns, CommandHistory* history, PeCommand& command) {
  history_ = history;
  command_ = &command;
  desc_->submit_ns = submit_ns;
  for (Part& part : parts) {
    OpDesc& d = *part.desc;
    d.submit_ns = submit_ns;
    d.pe = desc_->pe;
    d.seq = desc_->seq;
    d.launch = desc_->launch;
    d.handle_id = desc_->handle_id;
  }
  if (desc_->type != CommandType::atomic) return;
  effects_left_ = groups.size();
  if (!groups.empty()) return;
  desc_->ranged->effect_ns = submit_ns;  // which only fills its result
  desc_->ranged->number = system_.next_foreign_write();
  system_.apply(desc_);
}

void RangedCommand::effect_known(const FabricTransaction& x) {
  if (parts.front().desc->type != CommandType::atomic) return;
  Part& part = parts[part_at.at(x.address)];
  system_.timeline().at(x.effect_ns, Order(Order::kDepartures, 0, x.memory_arrival),
                        call<&RangedCommand::take_effect>(*this, part));
}

void RangedCommand::take_effect(Part& part) {
  RangedOp& op = *part.desc->ranged;
  op.effect_ns = system_.timeline().now_ns();
  op.number = system_.next_foreign_write();
  part.took_effect = true;
  --effects_left_;
  const std::string fault = never_written(*part.desc);
  if (!fault.empty()) {
    if (command_->fault.empty()) command_->fault = fault;
    return;
  }
  if (part.op_id > 0) part.after = system_.follow_atomics(part.op_id, op);
  system_.apply(part.desc);
  if (history_) history_->took_effect(*part.desc);
}

std::string RangedCommand::never_written(const OpDesc& d) const {
  const MemoryImage::SpaceKey key{d.ranged->space, kNoPe};
  for (const MovedRange& r : d.ranged->ranges) {
    const auto state = system_.image().state_of(key, r.addr, r.nbytes);
    if (state.state != MemoryImage::State::unwritten) continue;
    const std::string owner = system_.owner_of(key.space, state.first_bad);
    const std::string nearest = system_.image().nearest(key, state.first_bad);
    return d.name + " of " + std::to_string(d.ranged->nbytes()) + " bytes by " + pe_.id +
           " finds memory that was never written: first at " + std::string(name_of(key.space)) + " " +
           address_text(state.first_bad) + (owner.empty() ? "" : " of " + owner) +
           (nearest.empty() ? "" : "; " + nearest);
  }
  return {};
}

}  // namespace kernbench
