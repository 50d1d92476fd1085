// SPDX-License-Identifier: Apache-2.0
#include "kernbench/systemc_models/pe/ranged_command.h"

#include <algorithm>

#include "kernbench/kernel_api/pe_backend.h"
#include "kernbench/phase2/check/races.h"
#include "kernbench/phase2/eval/convert.h"
#include "kernbench/phase2/memory/range_value.h"
#include "kernbench/phase2/op/address_text.h"
#include "kernbench/systemc_models/fabric/memory_target.h"

namespace kernbench::pe {

namespace {

AtomicKind kind_of(const OpDesc& d) {
  if (d.type != CommandType::atomic) return AtomicKind::none;
  return d.op == "cas" ? AtomicKind::compare : d.ranged->returns_old ? AtomicKind::fetch : AtomicKind::reduce;
}

/// A copy of it without ranges.
std::shared_ptr<OpDesc> without_ranges(const OpDesc& whole) {
  auto d = std::make_shared<OpDesc>(whole);
  d->ranged = std::make_shared<RangedOp>();
  d->ranged->space = whole.ranged->space;
  d->ranged->other = whole.ranged->other;
  d->ranged->returns_old = whole.ranged->returns_old;
  d->ranged->sem = whole.ranged->sem;
  return d;
}

}  // namespace

/// The payload pattern of a transaction.
struct RangedCommand::Shown : DataMover {
  Part& part;
  AtomicExtension extension;
  Bytes bytes;  ///< the payload's data, without meaning
  tlm::tlm_generic_payload pattern;
  bool effect_is_known = false;

  Shown(Part& p, uint64_t nbytes) : part(p), bytes(nbytes) {
    pattern.set_command(tlm::TLM_IGNORE_COMMAND);
    pattern.set_data_ptr(bytes.data());
    pattern.set_data_length(static_cast<unsigned>(nbytes));
    pattern.set_streaming_width(static_cast<unsigned>(nbytes));
    pattern.set_extension(&extension);
  }
  ~Shown() override { pattern.clear_extension(&extension); }
  void served(FabricTransaction&, double) override {}
  tlm::tlm_generic_payload* foreign() override { return &pattern; }
  void failed(FabricTransaction&, tlm::tlm_response_status) override {}  // the initiator reports it
  void moved_outside(FabricTransaction&) override {}
  bool still_moves() const override { return effect_is_known && !part.took_effect; }
  bool of_an_op() const override { return true; }
};

RangedCommand::~RangedCommand() = default;

DataMover* RangedCommand::shown(size_t group) {
  return group < shown_.size() ? shown_[group].get() : nullptr;
}

RangedCommand::RangedCommand(System& system, const Pe& pe, const std::shared_ptr<OpDesc>& desc)
    : system_(system), pe_(pe), desc_(desc) {
  const RangedOp& op = *desc->ranged;
  atomic = kind_of(*desc);
  // An atomic needs a path back, like a read.
  RangeGrouping grouping(system.routes(), pe.dma, desc->type == CommandType::store, op.ranges.size());
  for (const MovedRange& r : op.ranges) grouping.add(r.addr, r.nbytes);
  groups = grouping.take();
  if (!op.asked.empty()) asked_address = op.asked.front().addr;
  for (const MovedRange& r : op.asked) asked.push_back({r.addr - asked_address, r.nbytes});
  parts.resize(std::max<size_t>(groups.size(), 1));
  bool foreign = false;
  for (size_t g = 0; g < groups.size(); ++g) {
    part_at.emplace(groups[g].address, g);
    foreign |= !grouping.route_of(g).known || System::store_of(system.window_at(groups[g].address));
  }
  if (foreign && atomic != AtomicKind::none) shown_.resize(groups.size());
  if (groups.size() <= 1) {
    parts.front().desc = desc;
    return;
  }
  for (Part& part : parts) part.desc = without_ranges(*desc);
  parts.front().desc->ranged->left_out = op.left_out;
  for (MovedRange r : op.ranges) {
    while (r.nbytes > 0) {
      const size_t g = grouping.group_of(r.addr);
      const Route& route = grouping.route_of(g);
      const uint64_t here = std::min(r.nbytes, route.size - (r.addr - route.base));
      parts[g].desc->ranged->ranges.push_back({r.addr, here, r.offset});  // ranges are not merged further
      r = {r.addr + here, r.nbytes - here, r.offset + here};
    }
  }
  for (Part& part : parts) {
    OpDesc& d = *part.desc;
    (d.type == CommandType::load ? d.operands.front().ref : d.output).addr +=
        d.ranged->returns_old ? 0 : d.ranged->ranges.front().addr - op.ranges.front().addr;
  }
}

Reduction* RangedCommand::join(const std::shared_ptr<KernelReductions>& all) {
  if (!all) throw AccessError("a reduction on the way needs a launch");
  if (desc_->on_the_way->sources.size() > 1 && groups.size() != 1)
    throw AccessError("a reduction on the way needs a place in one memory");
  reductions_ = all;
  operation_ = all->operation_of(pe_, desc_);
  return operation_ ? &operation_->on_the_way : nullptr;
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
    part.after = command.after;
  }
  if (desc_->type != CommandType::atomic) return;
  effects_left_ = groups.size();
  try {
    show();
  } catch (const PendingValueError& e) {
    fail(e.what());
  }
  if (!groups.empty()) return;
  desc_->ranged->effect_ns = submit_ns;  // only its result is filled
  desc_->ranged->number = system_.next_foreign_write();
  system_.apply(desc_);
}

namespace {

/// The bytes of an operand for a part's ranges, in their order; pending bytes are zeros.
Bytes bytes_of(const Operand& o, const OpDesc& part, System& system) {
  Bytes bytes(part.ranged->nbytes());
  const uint64_t item = size_of(part.output.dtype);
  for (uint64_t i = 0; o.is_scalar && i < bytes.size(); i += item)
    store_scalar(o.scalar, part.output.dtype, bytes.data() + i);
  if (o.is_scalar) return bytes;
  const RangeValue held(system.image(), o.ref);
  system.make_known(held, o.ref.nbytes());
  uint64_t at = 0;
  for (const MovedRange& r : part.ranged->ranges) {
    system.known_bytes(held, r.offset, r.nbytes, bytes.data() + at);
    at += r.nbytes;
  }
  return bytes;
}

/// The old elements of a part that has taken effect, in the order of its ranges; pending bytes are zeros.
Bytes old_of(const OpDesc& d, System& system) {
  Bytes old(d.ranged->nbytes());
  const RangeValue result(system.image(), d.output);
  uint64_t at = 0;
  for (const MovedRange& r : d.ranged->ranges) {
    system.known_bytes(result, r.offset, r.nbytes, old.data() + at);
    at += r.nbytes;
  }
  return old;
}

/// The complete result if other objects hold its ranges: zeros for elements that a mask skips or that belong to another
/// part.
Bytes result_of(const OpDesc& d, const Bytes& old) {
  Bytes result(d.output.nbytes());
  uint64_t at = 0;
  for (const MovedRange& r : d.ranged->ranges) {
    std::copy_n(old.begin() + static_cast<std::ptrdiff_t>(at), r.nbytes,
                result.begin() + static_cast<std::ptrdiff_t>(r.offset));
    at += r.nbytes;
  }
  return result;
}

}  // namespace

void RangedCommand::show() {
  for (size_t g = 0; g < shown_.size(); ++g) {
    const OpDesc& d = *parts[g].desc;
    shown_[g] = std::make_unique<Shown>(parts[g], groups[g].nbytes);
    AtomicExtension& e = shown_[g]->extension;
    e.op = d.op;
    e.dtype = d.output.dtype;
    for (const MovedRange& r : d.ranged->ranges) e.ranges.push_back({r.addr - groups[g].address, r.nbytes});
    e.operand = bytes_of(d.operands.at(0), d, system_);
    if (d.operands.size() > 1) e.expected = bytes_of(d.operands[1], d, system_);
    e.returns_old = d.ranged->returns_old;
  }
}

std::string RangedCommand::of(const OpDesc& d) const {
  return d.name + " of " + std::to_string(d.ranged->nbytes()) + " bytes by " + pe_.id;
}

void RangedCommand::fail(const std::string& why) {
  if (command_->fault.empty()) command_->fault = why;
}

/// A foreign block has changed the address, so the part acts on shifted addresses. Returns a fault; empty if there is
/// none.
std::string RangedCommand::moved_to(uint64_t address, uint64_t sent_to, OpDesc& d) const {
  const MemoryWindow window = system_.window_at(address);
  for (MovedRange& r : d.ranged->ranges) {
    r.addr += address - sent_to;
    if (!window.holds(r.addr, r.nbytes) || r.addr % size_of(d.output.dtype) != 0)
      return of(d) + ": a foreign block has led it to " + address_text(address) +
             ", from where on its ranges are no aligned elements of one memory";
  }
  d.ranged->space = window.space;
  if (!d.ranged->returns_old) d.output.addr += address - sent_to;
  return {};
}

RangedAccess::Part& RangedCommand::part_of(const FabricTransaction& x) {
  return x.mover ? static_cast<Shown&>(*x.mover).part : parts[part_at.at(x.address)];
}

void RangedCommand::effect_known(const FabricTransaction& x) {
  if (desc_->type != CommandType::atomic) return;
  Part& part = part_of(x);
  if (x.mover) {
    // The model of a foreign memory executes it, or refuses it.
    if (atomic_of(x.payload) && System::store_of(system_.window_at(x.address))) return;
    static_cast<Shown&>(*x.mover).effect_is_known = true;
    const uint64_t sent_to = groups[static_cast<size_t>(&part - parts.data())].address;
    const std::string fault = x.address == sent_to ? "" : moved_to(x.address, sent_to, *part.desc);
    if (!fault.empty()) fail(fault);
  }
  system_.timeline().at(x.effect_ns, Order(Order::kDepartures, 0, x.memory_arrival),
                        call<&RangedCommand::take_effect>(*this, part));
}

void RangedCommand::take_effect(Part& part) {
  RangedOp& op = *part.desc->ranged;
  op.effect_ns = system_.timeline().now_ns();
  op.number = system_.next_foreign_write();
  part.took_effect = true;
  --effects_left_;
  AtomicExtension* shown = shown_.empty() ? nullptr : &shown_[static_cast<size_t>(&part - parts.data())]->extension;
  if (shown) shown->done = true;
  if (!command_->fault.empty()) return;
  const std::string fault = never_written(*part.desc);
  if (!fault.empty()) return fail(fault);
  if (part.op_id > 0) {
    for (const uint64_t before : system_.follow_atomics(part.op_id, op)) part.after.push_back(before);
  }
  if (operation_ && !operation_->takes_effect(*part.desc)) return;
  try {
    system_.apply(part.desc);
  } catch (const PendingValueError& e) {
    fail(e.what());
  }
  if (shown && op.returns_old) shown->old = old_of(*part.desc, system_);
  if (!history_) return;
  operation_ ? history_->took_effect_together(operation_->sources) : history_->took_effect(*part.desc);
}

void RangedCommand::ended(const FabricTransaction& x) {
  if (!x.mover) return;
  const Shown& shown = static_cast<const Shown&>(*x.mover);
  if (shown.effect_is_known) return;
  shown.part.took_effect = true;
  --effects_left_;
  if (command_->fault.empty()) done_outside(shown.part, shown.extension, x.done_ns);
}

/// For another block's payload, or a foreign memory: the returned bytes are data.
void RangedCommand::done_outside(Part& part, const AtomicExtension& e, double done_ns) {
  OpDesc& d = *part.desc;
  for (const Operand& o : d.operands) {
    if (!o.is_scalar && !system_.materializes_stores() &&
        system_.image().state_of(o.ref).state == MemoryImage::State::pending)
      return fail(of(d) +
                  ": a foreign block or memory has done it without the bytes that Phase 2 makes; expected it to "
                  "pass the payload on with its extensions");
  }
  if (e.returns_old && e.old.size() != d.ranged->nbytes())
    return fail(of(d) + ": a foreign block or memory has given " + std::to_string(e.old.size()) +
                " old bytes back; expected as many as its ranges have");
  d.ranged->effect_ns = done_ns;
  d.ranged->number = system_.next_foreign_write();
  auto carried = std::make_shared<Carried>();
  if (e.returns_old) carried->bytes = std::make_shared<const Bytes>(result_of(d, e.old));
  d.carried = std::move(carried);
  system_.apply(part.desc);
  if (history_) history_->took_effect(d);
}

std::string RangedCommand::never_written(const OpDesc& d) const {
  const MemoryImage::SpaceKey key{d.ranged->space, kNoPe};
  for (const MovedRange& r : d.ranged->ranges) {
    const auto state = system_.image().state_of(key, r.addr, r.nbytes);
    if (state.state != MemoryImage::State::unwritten) continue;
    const std::string owner = system_.owner_of(key.space, state.first_bad);
    const std::string nearest = system_.image().nearest(key, state.first_bad);
    return of(d) + " finds memory that was never written: first at " + std::string(name_of(key.space)) + " " +
           address_text(state.first_bad) + (owner.empty() ? "" : " of " + owner) +
           (nearest.empty() ? "" : "; " + nearest);
  }
  return {};
}

}  // namespace kernbench::pe
