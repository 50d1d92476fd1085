#include "kernbench/systemc_models/pe/pe_dma.h"

#include <utility>

#include "kernbench/phase2/op/address_text.h"

#include "kernbench/systemc_models/core/registry.h"
#include "kernbench/systemc_models/pe/carried_access.h"

namespace kernbench {
namespace {

/// The next part of the item's memory that the DMA moves; false: none is left.
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
      items_(context().arena()) {
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
  item_at(unit, server).part = 0;
  if (!next_transaction(unit, server)) finish(unit, server, {});
}

/// Starts the item's next transaction; false if it has none left.
bool PeDma::next_transaction(uint8_t unit, uint16_t server) {
  PeItem& item = item_at(unit, server);
  if (!item.command) {
    if (item.part++ > 0) return false;
    const MemoryRequest& r = *item.request;
    start({unit == kWrite, r.address, r.nbytes, {1, r.nbytes, 0}, r.issue_ns, unit, &item});
    return true;
  }
  if (!item.token && item.command->carried) return next_range(unit, item);
  TilePart part;
  if (item.translated_bytes == 0 && !next_part(item, part)) return false;
  if (item.translated_bytes > 0 || part.translation) {
    next_piece(unit, item, part);
  } else {
    start_part({unit == kWrite, part.addr, part.nbytes, part.rows, timeline().now_ns(), unit, &item});
  }
  return true;
}

/// Starts the next transaction of a part that was reached through virtual addresses, after its look-up.
void PeDma::next_piece(uint8_t unit, PeItem& item, const TilePart& part) {
  if (item.translated_bytes == 0) item.translated = part;
  const PieceTransaction x = transaction_at(item.translated, item.translated_bytes);
  item.translated_bytes += x.physical.nbytes;
  if (item.translated_bytes == item.translated.nbytes) item.translated_bytes = 0;
  item.asked_address = x.virtual_addr;
  item.asked_rows = x.physical.rows;
  look_up_and_start(item, {unit == kWrite, x.physical.addr, x.physical.nbytes, x.physical.rows, timeline().now_ns(),
                           unit, &item});
}

/// What is asked_address of the item costs its look-up before the access begins.
void PeDma::look_up_and_start(PeItem& item, Access a) {
  const double look_up_ns = mmu_->ask(item);
  a.issue_ns += look_up_ns;
  if (look_up_ns == 0) return start_part(a);
  looking_up_[&item] = a;
  timeline().at(a.issue_ns, stage_order(pe(), item.stage()), call<&PeDma::looked_up>(*this, item));
}

/// Of what passes a foreign block, each range is a transaction of its own, with its data.
bool PeDma::next_range(uint8_t unit, PeItem& item) {
  CarriedAccess::Range* r = item.command->carried->next();
  if (!r) return false;
  Access a{unit == kWrite, r->address, r->nbytes, {1, r->nbytes, 0}, timeline().now_ns(), unit, &item};
  a.mover = r;
  item.asked_address = r->asked_address;
  item.asked_rows = r->asked_rows;
  r->looks_up ? look_up_and_start(item, a) : start_part(a);
  return true;
}

void PeDma::looked_up(PeItem& item) {
  start_part(looking_up_.extract(&item).mapped());
}

/// Of a command's item: who observes can tell whose it is.
void PeDma::start_part(const Access& a) {
  if (pe().observer)
    pe().observer->transaction_starts(pe(), *static_cast<const PeItem*>(a.context), timeline().now_ns());
  start(a);
}

Order PeDma::done_order(const FabricTransaction& x) const {
  return stage_order(pe(), x.write ? Stage::dma_write : Stage::dma_read);
}

std::string PeDma::op_of(const FabricTransaction& x) const {
  return x.posted ? std::string() : static_cast<const PeItem*>(x.context)->to_string();
}

uint64_t PeDma::op_id_of(const FabricTransaction& x) const {
  if (x.posted) return 0;
  const PeItem& item = *static_cast<const PeItem*>(x.context);
  return op_id_at(item.unit, item.server);
}

const MemoryRequest* PeDma::request_of(const FabricTransaction& x) const {
  return x.posted ? nullptr : static_cast<const PeItem*>(x.context)->request;
}

/// A command is told, and by it the kernel.
void PeDma::transaction_failed(FabricTransaction& x, const std::string& why) {
  PeCommand* command = static_cast<PeItem*>(x.context)->command;
  if (!command) return FabricInitiator::transaction_failed(x, why);
  if (command->fault.empty()) command->fault = why;
}

void PeDma::transaction_done(FabricTransaction& x) {
  PeItem& item = *static_cast<PeItem*>(x.context);
  if (x.went_outside && item.command && item.command->fault.empty()) check_passed(item, x);
  transaction_served(item, x);
  if (!item.command) {
    MemoryRequest& r = *item.request;
    r.done(r, x);
  }
  if (!next_transaction(item.unit, item.server)) finish(item.unit, item.server, {});
}

/// What came of an access that passed a foreign block. A composite's operands and results are Phase 2's, so a block has
/// to pass its tiles on as they are.
void PeDma::check_passed(const PeItem& item, FabricTransaction& x) {
  PeCommand& command = *item.command;
  if (x.mover) {
    command.fault = command.carried->ended(x);
  } else if (x.memory_arrival == 0 || x.moved) {
    command.fault = id() + ": " + op_of(x) + ": " + (x.write ? "write of " : "read of ") +
                    std::to_string(x.nbytes) + " bytes at " + address_text(x.address) + ": a foreign block has " +
                    (x.moved ? "changed its address" : "answered it itself, or without its extensions") +
                    "; expected the tiles of a composite to be passed on as they are";
  }
}

/// The item is known from the second step on.
void PeDma::ask_for_done(const FabricTransaction& x, int step) const {
  FabricInitiator::ask_for_done(x, step);
  if (step == 1) fetch_lines(&items_, 1);
  if (step > 1) ask_for_finish(*static_cast<const PeItem*>(x.context), step - 1);
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
  post({s.route, s.receiver_dma, s.nbytes, kComm, &s});
}

void PeDma::send_credit(QueueSegment& s) {
  post({s.credit_route, s.sender_dma, s.credit_bytes, kCredit, &s});
}

void PeDma::message_left(FabricTransaction& x, double free_ns) {
  if (x.channel == kComm) comm_.free_at(free_ns);
}

tlm::tlm_sync_enum PeDma::request_in(FabricTransaction& x, FabricPort& from, tlm::tlm_phase& phase,
                                     sc_core::sc_time& delay) {
  if (!x.posted) return FabricNode::request_in(x, from, phase, delay);
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

/// Over some networks (virtual channels) a segment may be told here before one that was sent before it.
void PeDma::segment_comes(FabricTransaction& x, FabricPort& from) {
  const auto& s = *static_cast<QueueSegment*>(x.context);
  if (arrivals_.size() <= s.receiver_port) arrivals_.resize(s.receiver_port + 1);
  Arrivals& a = arrivals_[s.receiver_port];
  if (s.launch > a.launch) a = {s.launch, 0, 0, {}, {}};
  if (s.launch < a.launch) return segment_arrives(x, from);  // left over: nobody receives it
  if (s.number != a.next) {
    a.early.emplace(s.number, std::pair(&x, &from));
    return;
  }
  segment_follows(a, x, from);
  for (; !a.early.empty() && a.early.begin()->first == a.next; a.early.erase(a.early.begin()))
    segment_follows(a, *a.early.begin()->second.first, *a.early.begin()->second.second);
}

/// A header that would be here before the one before it in its queue comes with that one, right behind it.
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

/// A receive that waits for it is done before the slot can be taken anew.
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

/// Of a segment; a credit has none to show.
void PeDma::message_bytes(const FabricTransaction& x, uint8_t* bytes) const {
  auto& s = *static_cast<QueueSegment*>(x.context);
  if (x.channel != kComm || !s.message->value) return;
  s.message->value->copy(s.offset, s.nbytes, bytes);
}

KERNBENCH_REGISTER_COMPONENT(PeDma)

}  // namespace kernbench
