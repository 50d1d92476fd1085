// SPDX-License-Identifier: Apache-2.0
#include "kernbench/systemc_models/pe/pe_dma.h"

#include <algorithm>
#include <utility>

#include "kernbench/phase2/op/address_text.h"

#include "kernbench/systemc_models/core/registry.h"
#include "kernbench/systemc_models/fabric/multicast.h"
#include "kernbench/systemc_models/pe/carried_access.h"
#include "kernbench/systemc_models/pe/carried_tiles.h"
#include "kernbench/systemc_models/pe/ranged_command.h"

namespace kernbench::pe {
namespace {

/// For a command whose ranges have records.
RangedCommand& of_kernel(PeCommand& c) {
  return static_cast<RangedCommand&>(*c.ranged);
}

/// The next part of the item's memory that the DMA moves. Returns false if none is left.
bool next_part(PeItem& item, TilePart& part) {
  if (!item.token || item.stage() == Stage::dma_write) {
    if (item.part++ > 0) return false;
    part = item.token ? item.output_part() : item.command->dma;
    return true;
  }
  const auto& inputs = item.command->plan.inputs;
  while (item.part < inputs.size() && !inputs[item.part].in_memory) ++item.part;
  if (item.part >= inputs.size()) return false;
  part = item.input_part(item.part++);
  return true;
}

}  // namespace

PeDma::PeDma(sc_core::sc_module_name name, const ComponentConfig& config, const Parameters& parameters)
    : Engine(name, config, checked(parameters)),
      FabricNode(static_cast<Component&>(*this)),
      FabricInitiator(static_cast<FabricNode&>(*this), parameters.timeout_ns),
      comm_(timeline(), *this),
      items_(context().arena()),
      outstanding_(parameters.outstanding),
      join_pieces_(parameters.join_pieces),
      range_bytes_(parameters.range_bytes) {
  add_unit(Stage::dma_read, parameters.rd_engines);
  add_unit(Stage::dma_write, parameters.wr_engines);
}

void PeDma::join(Pe& pe) {
  Engine::join(pe);
  comm_.join(pe);
}

void PeDma::leads_to(PePort& way, PeBlock& next) {
  if (dynamic_cast<MmuRole*>(&next)) {
    mmu_ = &way;
  } else if (dynamic_cast<IpcqRole*>(&next)) {
    ipcq_ = &way;
  } else {
    Engine::leads_to(way, next);
  }
}

PeItem& PeDma::driver_item(MemoryRequest& r) {
  PeItem& d = items_.take();
  d.request = &r;
  d.stage_count = 1;
  d.stages[0] = r.write ? Stage::dma_write : Stage::dma_read;
  return d;
}

void PeDma::begin(uint8_t unit, uint16_t server) {
  PeItem& item = item_at(unit, server);
  item.part = 0;
  item.next_group = 0;
  item.in_dma = item.turns = 0;
  item.looks_up = false;
  // For ranges, all pages are looked up before the first grant.
  const RangedAccess* ranged = item.command && !item.token ? item.command->ranged.get() : nullptr;
  if (!ranged || ranged->asked.empty()) return first_turns(item);
  item.asked_address = ranged->asked_address;
  item.asked_rows = Rows{ranged->asked.size(), ranged->asked.front().nbytes, 0};
  item.asked_rows.ranges = &ranged->asked;
  const double look_up_ns = mmu_->ask(item);
  if (look_up_ns == 0) return first_turns(item);
  timeline().at(timeline().now_ns() + look_up_ns, turn_order(item.stage(), server),
                call<&PeDma::first_turns>(*this, item));
}

void PeDma::first_turns(PeItem& item) {
  for (uint32_t n = 0; n < outstanding_ && turn(item); ++n) {
  }
  if (item.in_dma == 0) end_item(item);
}

/// Starts the item's next transaction, after a look-up in progress. Returns false if none is left.
bool PeDma::turn(PeItem& item) {
  if (item.looks_up) {
    ++item.turns;
    return true;
  }
  Access a;
  a.write = item.unit != kRead;
  a.channel = a.write ? kWrite : kRead;
  a.issue_ns = timeline().now_ns();
  a.context = &item;
  bool asks = false;
  if (!next_transaction(item, a, asks)) return false;
  if (item.token && item.command->carried_tiles)
    a.mover = item.command->carried_tiles->show(a.address, a.rows, a.write);
  ++item.in_dma;
  const double look_up_ns = asks ? ask_mmu(item, a) : 0;
  if (look_up_ns == 0) {
    item.command ? start_part(a) : start(a);
    return true;
  }
  a.issue_ns += look_up_ns;
  item.looks_up = true;
  looking_up_[&item] = a;
  timeline().at(a.issue_ns, turn_order(item.stage(), item.server), call<&PeDma::looked_up>(*this, item));
  return true;
}

/// The latency of the look-ups before a transaction. A multicast looks up its destinations in order.
double PeDma::ask_mmu(PeItem& item, const Access& a) {
  if (!a.multicast) return mmu_->ask(item);
  double ns = 0;
  item.asked_rows = {1, a.nbytes, 0};
  for (const uint64_t address : (*item.command->multicast)[item.next_group - 1].virtual_addresses) {
    item.asked_address = address;
    ns += mmu_->ask(item);
  }
  return ns;
}

void PeDma::looked_up(PeItem& item) {
  item.looks_up = false;
  start_part(looking_up_.extract(&item).mapped());
  while (item.turns > 0 && !item.looks_up) {
    --item.turns;
    if (!turn(item)) item.turns = 0;
  }
}

/// Determines the item's next access. `asks`: it needs a look-up of asked_rows at asked_address first. Returns false if
/// nothing is left.
bool PeDma::next_transaction(PeItem& item, Access& a, bool& asks) {
  if (!item.command) {
    if (item.part++ > 0) return false;
    const MemoryRequest& r = *item.request;
    a.address = r.address;
    a.nbytes = r.nbytes;
    a.rows = r.rows ? *r.rows : Rows{1, r.nbytes, 0};
    a.issue_ns = r.issue_ns;
    a.multicast = r.multicast;
    a.reduction = r.reduction;
    return true;
  }
  if (!item.token && item.command->multicast) {
    const std::vector<MulticastPart>& parts = *item.command->multicast;
    if (item.next_group == parts.size()) return false;
    const MulticastPart& part = parts[item.next_group++];
    a.address = part.to.addresses.front();
    a.nbytes = part.nbytes;
    a.rows = {1, part.nbytes, 0};
    a.multicast = &part.to;
    if (item.command->carried) a.mover = item.command->carried->next();
    asks = !part.virtual_addresses.empty();
    return true;
  }
  if (!item.token && item.command->carried) {
    CarriedAccess::Range* r = item.command->carried->next();
    if (!r) return false;
    a.address = r->address;
    a.nbytes = r->nbytes;
    a.rows = {1, r->nbytes, 0};
    a.mover = r;
    item.asked_address = r->asked_address;
    item.asked_rows = r->asked_rows;
    asks = r->looks_up;
    return true;
  }
  if (!item.token && item.command->ranged) {
    const RangedAccess& all = *item.command->ranged;
    if (item.next_group == all.groups.size()) return false;
    const RangeGroup& g = all.groups[item.next_group++];
    a.address = g.address;
    a.nbytes = g.nbytes;
    a.rows = g.rows();
    a.rows.atomic = all.atomic;
    a.rows.list_bytes = range_bytes_ * (g.ranges.size() - 1);
    a.reduction = item.command->reduction;
    if (all.parts.empty()) return true;
    RangedCommand& command = of_kernel(*item.command);
    command.parts[item.next_group - 1].op_id =
        item.next_group == 1 ? op_id_at(item.unit, item.server) : begin_service(item);
    a.mover = command.shown(item.next_group - 1);
    return true;
  }
  return next_of_parts(item, a, asks);
}

/// A virtually addressed part is one transaction for each piece.
bool PeDma::next_of_parts(PeItem& item, Access& a, bool& asks) {
  if (join_pieces_ && next_joined(item, a)) return asks = true;
  TilePart part;
  if (item.translated_bytes == 0 && !next_part(item, part)) return false;
  if (item.translated_bytes == 0 && !part.translation) {
    a.address = part.addr;
    a.nbytes = part.nbytes;
    a.rows = part.rows;
    return true;
  }
  asks = true;
  if (join_pieces_) {
    join(item, part);
    return next_joined(item, a);
  }
  if (item.translated_bytes == 0) item.translated = part;
  const PieceTransaction x = transaction_at(item.translated, item.translated_bytes);
  item.translated_bytes += x.physical.nbytes;
  if (item.translated_bytes == item.translated.nbytes) item.translated_bytes = 0;
  item.asked_address = x.virtual_addr;
  item.asked_rows = x.physical.rows;
  a.address = x.physical.addr;
  a.nbytes = x.physical.nbytes;
  a.rows = x.physical.rows;
  return true;
}

bool PeDma::next_joined(PeItem& item, Access& a) {
  const auto it = joined_.find(&item);
  if (it == joined_.end() || it->second.next == it->second.groups.size()) return false;
  const Joined& j = it->second.groups[it->second.next++];
  item.asked_address = j.asked_address;
  item.asked_rows = Rows{j.asked.size(), j.asked.front().nbytes, 0};
  item.asked_rows.ranges = &j.asked;
  a.address = j.group.address;
  a.nbytes = j.group.nbytes;
  a.rows = j.group.rows();
  return true;
}

/// Groups the pieces of the part by memory.
void PeDma::join(PeItem& item, const TilePart& part) {
  JoinedParts& all = joined_[&item];
  RouteSource& routes = FabricNode::fabric().routes();
  RangeGrouping grouping(routes, index(), item.unit == kWrite);
  const auto for_each_piece = [&](auto visit) {
    for (uint64_t done = 0; done < part.nbytes;) {
      const PieceTransaction x = transaction_at(part, done);
      done += x.physical.nbytes;
      visit(x);
    }
  };
  for_each_piece([&](const PieceTransaction& x) {
    for_each_range(x.physical.addr, x.physical.rows, [&](uint64_t at, uint64_t n) { grouping.add(at, n); });
  });
  const size_t first = all.groups.size();
  for (RangeGroup& g : grouping.take()) all.groups.emplace_back().group = std::move(g);
  for_each_piece([&](const PieceTransaction& x) {
    const auto holds = [&](const Joined& j) {
      const Route& r = routes.route(index(), j.group.address, 1, item.unit == kWrite);
      return x.physical.addr - r.base < r.size;
    };
    Joined& j = *std::find_if(all.groups.begin() + static_cast<std::ptrdiff_t>(first), all.groups.end(), holds);
    if (j.asked.empty()) j.asked_address = x.virtual_addr;
    for_each_range(x.virtual_addr, x.physical.rows, [&](uint64_t at, uint64_t n) {
      j.asked.push_back({at - j.asked_address, n});
    });
  });
}

void PeDma::end_item(PeItem& item) {
  if (join_pieces_) joined_.erase(&item);
  finish(item.unit, item.server, {});
}

void PeDma::effect_known(FabricTransaction& x) {
  const PeItem& item = *static_cast<const PeItem*>(x.context);
  if (!item.command || !item.command->ranged) return;
  RangedAccess& ranged = *item.command->ranged;
  ranged.effect_ns = std::max(ranged.effect_ns, x.effect_ns);
  ranged.effect_known(x);
}

/// The part of the command that the transaction executes; null if the command has no such parts.
RangedAccess::Part* PeDma::part_of(const FabricTransaction& x) const {
  const PeItem& item = *static_cast<const PeItem*>(x.context);
  if (x.message || !item.command || !item.recorded_in_parts()) return nullptr;
  return &of_kernel(*item.command).part_of(x);
}

/// An atomic's record waits for its effect.
void PeDma::part_done(RangedAccess::Part& part, const FabricTransaction& x) {
  part.grant_ns = x.grant_ns;
  part.done_ns = x.done_ns;
  if (part.desc->type != CommandType::atomic || part.took_effect || part.op_id == 0) return record(part);
  timeline().at(x.done_ns, Order(Order::kDepartures, ~0u, 0), call<&PeDma::record>(*this, part));
}

void PeDma::record(RangedAccess::Part& part) {
  end_service(part, part.op_id, part.grant_ns, part.done_ns);
}

/// For a command's item, so that observers can assign the transaction.
void PeDma::start_part(const Access& a) {
  if (pe().observer)
    pe().observer->transaction_starts(pe(), *static_cast<const PeItem*>(a.context), timeline().now_ns());
  start(a);
}

/// If an item has several transactions in flight, their order within one instant is that of the servers' numbers.
Order PeDma::turn_order(Stage stage, uint16_t server) const {
  return stage_order(pe(), stage, outstanding_ > 1 ? server : uint16_t{0});
}

Order PeDma::done_order(const FabricTransaction& x) const {
  return turn_order(x.write ? Stage::dma_write : Stage::dma_read,
                    x.message ? uint16_t{0} : static_cast<const PeItem*>(x.context)->server);
}

std::string PeDma::op_of(const FabricTransaction& x) const {
  return x.message ? std::string() : static_cast<const PeItem*>(x.context)->to_string();
}

uint64_t PeDma::op_id_of(const FabricTransaction& x) const {
  if (x.message) return 0;
  if (const RangedAccess::Part* part = part_of(x)) return part->op_id;
  const PeItem& item = *static_cast<const PeItem*>(x.context);
  return op_id_at(item.unit, item.server);
}

const MemoryRequest* PeDma::request_of(const FabricTransaction& x) const {
  return x.message ? nullptr : static_cast<const PeItem*>(x.context)->request;
}

/// Notifies the command, and through it the kernel.
void PeDma::transaction_failed(FabricTransaction& x, const std::string& why) {
  PeCommand* command = static_cast<PeItem*>(x.context)->command;
  if (!command) return FabricInitiator::transaction_failed(x, why);
  if (command->fault.empty()) command->fault = why;
}

void PeDma::transaction_done(FabricTransaction& x) {
  PeItem& item = *static_cast<PeItem*>(x.context);
  if (x.went_outside && item.command && item.command->fault.empty()) check_passed(item, x);
  transaction_served(item, x);
  if (x.mover && item.token) item.command->carried_tiles->ended(x);
  if (RangedAccess::Part* part = part_of(x)) {
    of_kernel(*item.command).ended(x);
    part_done(*part, x);
  }
  if (!item.command) {
    MemoryRequest& r = *item.request;
    r.done(r, x);
  }
  --item.in_dma;
  if (!turn(item) && item.in_dma == 0) end_item(item);
}

/// Handles the result of an access that passed a foreign block. Phase 2 computes a composite's operands and results, so
/// a block must pass its tiles on unchanged, unless they carry the values of Phase 2.
void PeDma::check_passed(const PeItem& item, FabricTransaction& x) {
  PeCommand& command = *item.command;
  if (command.carried && x.mover) {
    command.fault = command.carried->ended(x);
  } else if (command.ranged) {
    return;  // which handles it itself
  } else if (x.moved || (x.memory_arrival == 0 && !x.mover)) {
    command.fault = id() + ": " + op_of(x) + ": " + (x.write ? "write of " : "read of ") + std::to_string(x.nbytes) +
                    " bytes at " + address_text(x.address) + ": a foreign block has " +
                    (x.moved ? "changed its address" : "answered it itself, or without its extensions") +
                    "; expected the tiles of a composite to be passed on as they are";
  }
}

// ---- messages between PEs

tlm::tlm_sync_enum PeDma::item_in(PeItem& item, PePort& from, tlm::tlm_phase& phase) {
  QueueSegment* s = item.segment;
  if (!s) return Engine::item_in(item, from, phase);
  if (&item == &s->outgoing) {
    comm_.push(*s, from);
  } else {
    send_credit(*s);
  }
  phase = tlm::END_REQ;
  return tlm::TLM_UPDATED;
}

void PeDma::granted(QueueSegment& s) {
  const auto message = [](QueueSegment& each) {
    return Message{each.route, each.receiver_dma, each.nbytes, kComm, &each};
  };
  if (s.copies.empty()) return post(message(s));
  std::vector<Message> all;
  s.for_each([&](QueueSegment& each) { all.push_back(message(each)); });
  post(all);
}

void PeDma::send_credit(QueueSegment& s) {
  post({s.credit_route, s.sender_dma, s.credit_bytes, kCredit, &s});
}

void PeDma::message_left(FabricTransaction& x, double free_ns) {
  if (x.channel == kComm && (!x.multicast || x.multicast->has_left(&free_ns))) comm_.free_at(free_ns);
}

tlm::tlm_sync_enum PeDma::request_in(FabricTransaction& x, FabricPort& from, tlm::tlm_phase& phase,
                                     sc_core::sc_time& delay) {
  if (!x.message) return FabricNode::request_in(x, from, phase, delay);
  LinkMode& mode = fabric().mode();
  if (mode.message_comes(x, from)) {
    if (x.channel == kComm) {
      segment_comes(x, from);
    } else {
      timeline().at(x.time_ns + mode.message_drain_ns(*x.route, x.nbytes), credit_order(),
                    call<&PeDma::credit_here>(*this, x));
    }
  }
  return phase == tlm::BEGIN_REQ ? FabricPort::accepted(phase) : tlm::TLM_ACCEPTED;
}

/// Over some networks (virtual channels) a segment may be reported before one that was sent earlier.
void PeDma::segment_comes(FabricTransaction& x, FabricPort& from) {
  const auto& s = *static_cast<QueueSegment*>(x.context);
  if (arrivals_.size() <= s.receiver_port) arrivals_.resize(s.receiver_port + 1);
  Arrivals& a = arrivals_[s.receiver_port];
  if (s.launch > a.launch) a = {s.launch, 0, 0, {}, {}};
  if (s.launch < a.launch) return segment_arrives(x, from);  // left over: its receiver has ended
  if (s.number != a.next) {
    a.early.emplace(s.number, std::pair(&x, &from));
    return;
  }
  segment_follows(a, x, from);
  for (; !a.early.empty() && a.early.begin()->first == a.next; a.early.erase(a.early.begin()))
    segment_follows(a, *a.early.begin()->second.first, *a.early.begin()->second.second);
}

/// A header that would arrive before its predecessor in the queue arrives with that one, immediately after it.
void PeDma::segment_follows(Arrivals& a, FabricTransaction& x, FabricPort& from) {
  if (Timeline::to_fs(x.time_ns) < Timeline::to_fs(a.last_ns)) {
    x.link_queue_ns += a.last_ns - x.time_ns;
    x.time_ns = a.last_ns;
    x.own_order = a.order;
  }
  a.last_ns = x.time_ns;
  a.order = x.own_order;
  ++a.next;
  segment_arrives(x, from);
}

void PeDma::segment_arrives(FabricTransaction& x, FabricPort& from) {
  timeline().at(x.time_ns, fabric().mode().arrival_order(x, from, this), call<&PeDma::segment_here>(*this, x));
}

void PeDma::segment_here(FabricTransaction& x) {
  auto& s = *static_cast<QueueSegment*>(x.context);
  s.times().arrival_ns = x.time_ns;
  s.drain_ns = fabric().mode().message_drain_ns(*x.route, x.nbytes);
  fabric().mode().complete_account(x);
  s.account.overhead_ns = x.overhead_ns;
  s.account.wire_ns = x.wire_ns;
  s.account.link_queue_ns = x.link_queue_ns;
  s.account.store_forward_ns = x.store_forward_ns;
  s.account.drain_ns = x.drain_ns + s.drain_ns;
  if (observers()) observers()->post_done(*this, x, x.time_ns);
  x.payload.release();
  ipcq_->send(s.arriving);
}

/// A receive that waits for it is done before the slot can be taken again.
void PeDma::credit_here(FabricTransaction& x) {
  const double now = timeline().now_ns();
  if (observers()) observers()->post_done(*this, x, now);
  auto& s = *static_cast<QueueSegment*>(x.context);
  if (!s.credited) return credit_counts(x);
  timeline().at(now, credit_order(), std::exchange(s.credited, {}));
  timeline().at(now, credit_order(), call<&PeDma::credit_counts>(*this, x));
}

void PeDma::credit_counts(FabricTransaction& x) {
  auto& s = *static_cast<QueueSegment*>(x.context);
  x.payload.release();
  ipcq_->send(s.credit_back);
}

/// For a segment; a credit has no bytes.
void PeDma::message_bytes(const FabricTransaction& x, uint8_t* bytes) const {
  auto& s = *static_cast<QueueSegment*>(x.context);
  if (x.channel != kComm || !s.message->value) return;
  System::of(*this).known_bytes(*s.message->value, s.offset, s.nbytes, bytes);
}

KERNBENCH_REGISTER_COMPONENT(PeDma)

}  // namespace kernbench::pe
