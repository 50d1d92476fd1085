// SPDX-License-Identifier: Apache-2.0
#include "kernbench/systemc_models/pe/engine.h"

#include <algorithm>

#include "kernbench/systemc_models/core/own_class.h"

namespace kernbench::pe {

Engine::Engine(sc_core::sc_module_name name, const ComponentConfig& config, const EngineParameters& parameters)
    : Component(name, config, parameters),
      PeBlock(static_cast<Component&>(*this)),
      queue_depth_(parameters.queue_depth) {}

uint8_t Engine::add_unit(Stage stage, unsigned servers, bool needs_slot) {
  if (unit_count_ == kMostUnits) throw std::logic_error(id() + ": has more units than there can be");
  Unit& u = *context().arena().make<Unit>();
  u.stage = stage;
  u.depth = queue_depth_;
  u.needs_slot = needs_slot;
  u.server_count = static_cast<uint16_t>(servers);
  u.servers = context().arena().make<Server>(servers);
  u.engine = this;
  units_[unit_count_] = &u;
  stages_[unit_count_] = stage;
  return unit_count_++;
}

void Engine::called_by(PePort& in, PeBlock& before) {
  if (dynamic_cast<SchedulerRole*>(&before)) scheduler_ = &in;
}

void Engine::leads_to(PePort& out, PeBlock& next) {
  if (dynamic_cast<TcmRole*>(&next)) {
    tcm_ = &out;
    return;
  }
  next_.add(out, next);
}

Engine::~Engine() {
  for (uint8_t unit = 0; unit < unit_count_; ++unit) units_[unit]->~Unit();
}

bool Engine::serves(Stage s) const {
  return std::find(stages_, stages_ + unit_count_, s) != stages_ + unit_count_;
}

uint8_t Engine::unit_of(Stage stage) const {
  uint8_t unit = 0;
  while (stages_[unit] != stage) ++unit;
  return unit;
}

tlm::tlm_sync_enum Engine::item_in(PeItem& item, PePort& in, tlm::tlm_phase& phase) {
  const uint8_t unit = unit_of(item.stage());
  Unit& u = *units_[unit];
  if (!has_room(u)) {
    u.waiting.push_back({&item, {&in}});
    return tlm::TLM_ACCEPTED;
  }
  queue(u, item);
  take_next(unit);
  phase = tlm::END_REQ;
  return tlm::TLM_UPDATED;
}

void Engine::queue(Unit& u, PeItem& item) {
  u.queue.push_back(&item);
  if (pe_->observer) pe_->observer->item_queued(*pe_, u.stage, item, timeline().now_ns());
}

void Engine::enqueue(uint8_t unit, MemoryRequest& request) {
  Unit& u = *units_[unit];
  for (MemoryRequest* r = &request; r;) {
    if (!has_room(u)) {
      Waiting w;
      w.request = r;
      u.waiting.push_back(w);
      return;
    }
    MemoryRequest* next = r->take_next_in_line();
    queue(u, driver_item(*r));
    take_next(unit);
    r = next;
  }
}

void Engine::change(Unit& u, uint16_t server, Activity next, double now) {
  Server& s = u.servers[server];
  const double length = now - s.since_ns;
  u.by_activity[static_cast<int>(s.activity)] += length;
  if (length > 0 && pe_->observer) {
    pe_->observer->activity(*pe_, u.stage, server, s.activity, s.activity == Activity::idle ? nullptr : s.item, s.op_id,
                            s.since_ns, now);
  }
  s.activity = next;
  s.since_ns = now;
}

void Engine::tell_observer(const Unit& u, uint16_t server) const {
  const Server& s = u.servers[server];
  pe_->observer->server_changed(*pe_, u.stage, server, s.activity, s.activity == Activity::idle ? nullptr : s.item,
                                s.op_id, s.since_ns);
}

void Engine::take_next(uint8_t unit) {
  Unit& u = *units_[unit];
  for (uint16_t s = 0; s < u.server_count && !u.queue.empty();) {
    Server& server = u.servers[s];
    if (server.activity != Activity::idle) {
      ++s;
      continue;
    }
    // An item that needs no slot does not wait. Its server is reported to observers all the same.
    if (u.needs_slot || pe_->observer) change(u, s, Activity::waits_for_slot, timeline().now_ns());
    server.item = u.queue.front();
    u.queue.pop_front();
    tell(u, s);
    if (u.needs_slot) {
      pe_->accel_slot.request(*this, unit, s);
    } else {
      start_service(unit, s);
    }
    if (!u.waiting.empty() && u.queue.size() < u.depth) take_waiting(u);
    // It may be idle again, because a command without ranges is done at once.
  }
  if (pe_->observer) pe_->observer->queue_changed(*pe_, u.stage, u.queue.size(), timeline().now_ns());
}

/// The first waiting item gets the space.
void Engine::take_waiting(Unit& u) {
  const Waiting w = u.waiting.front();
  if (w.item) {
    u.waiting.pop_front();
    queue(u, *w.item);
    w.from->accept(*w.item);
    return;
  }
  if (MemoryRequest* next = w.request->take_next_in_line()) {
    u.waiting.front().request = next;
  } else {
    u.waiting.pop_front();
  }
  queue(u, driver_item(*w.request));
}

void Engine::start_service(uint8_t unit, uint16_t server) {
  Unit& u = *units_[unit];
  Server& s = u.servers[server];
  change(u, server, Activity::service, timeline().now_ns());
  s.item->unit = unit;
  s.item->server = server;
  s.op_id = s.item->command ? begin_service(*s.item) : 0;
  if (s.op_id > 0 && !s.item->token) s.item->command->served_as = s.op_id;
  tell(u, server);
  try {
    begin(unit, server);
  } catch (const TimeBeyondRange& e) {
    throw RunError(id() + ": " + s.item->to_string() + ": " + e.what());
  }
}

void Engine::begin(uint8_t unit, uint16_t server) {
  Server& s = units_[unit]->servers[server];
  s.work = ask_own(*this, "work()", [&] { return work(*s.item); });
  checked_ns(*this, "work(): ns", s.work.ns);
  timeline().at(s.since_ns + s.work.ns, stage_order(*pe_, s.item->stage()),
                call<&Unit::service_ended>(*units_[unit], *s.item));
}

void Engine::finish(uint8_t unit, uint16_t server, const Work& work) {
  Unit& u = *units_[unit];
  Server& s = u.servers[server];
  const double now = timeline().now_ns(), t_start = s.since_ns;
  u.bytes += work.bytes;
  u.flops += work.flops;
  u.peak_ns += work.peak_ns;
  ++u.ops;
  change(u, server, Activity::queue_full, now);  // the server takes nothing until the item is handed on
  tell(u, server);
  if (s.item->command && !s.item->recorded_in_parts()) end_service(*s.item, s.op_id, t_start, now);
  if (u.needs_slot) pe_->accel_slot.release();
  hand_on(unit, server);
}

void Engine::hand_on(uint8_t unit, uint16_t server) {
  const Server& s = units_[unit]->servers[server];
  PeItem& item = *s.item;
  if (!item.last_stage()) {
    if (item.stage() == Stage::dma_read && pe_->observer) pe_->observer->tile_ready(*pe_, item, s.since_ns);
    ++item.stage_at;
    if (!next_[item.stage()].send(item)) return;  // full: keep the item
  } else if (item.command) {
    scheduler_->complete(item);
  } else {
    driver_item_done(item);
  }
  become_idle(unit, server);
}

/// Call it after the item has left the server.
void Engine::become_idle(uint8_t unit, uint16_t server) {
  Unit& u = *units_[unit];
  change(u, server, Activity::idle, timeline().now_ns());
  u.servers[server].item = nullptr;
  tell(u, server);
  take_next(unit);
}

/// The next queue has space for the item that a server holds.
tlm::tlm_sync_enum Engine::answer_in(PeItem& item, PePort&, tlm::tlm_phase&) {
  become_idle(item.unit, item.server);
  return tlm::TLM_COMPLETED;
}

void Engine::transaction_served(const PeItem& item, const FabricTransaction& x) {
  Unit& u = *units_[item.unit];
  u.bytes += x.nbytes;
  u.link_wait_ns += x.link_queue_ns;
  u.memory_wait_ns += x.memory_queue_ns;
  if (pe_->observer && item.command) {
    pe_->observer->transaction(*pe_, u.stage, item.server, item, x.grant_ns, x.done_ns, x.link_queue_ns,
                               x.memory_queue_ns);
  }
}

void Engine::settle(double end_ns) {
  for (uint8_t unit = 0; unit < unit_count_; ++unit) {
    Unit& u = *units_[unit];
    for (uint16_t s = 0; s < u.server_count; ++s) {
      if (end_ns > u.servers[s].since_ns) change(u, s, u.servers[s].activity, end_ns);
    }
  }
}

std::vector<StageStatistics> Engine::statistics() const {
  std::vector<StageStatistics> v;
  for (uint8_t unit = 0; unit < unit_count_; ++unit) {
    const Unit& u = *units_[unit];
    StageStatistics s;
    s.stage = u.stage;
    s.servers = u.server_count;
    s.queue_depth = u.depth;
    s.needs_slot = u.needs_slot;
    s.ops = u.ops;
    s.bytes = u.bytes;
    s.flops = u.flops;
    s.peak_ns = u.peak_ns;
    s.idle_ns = u.by_activity[static_cast<int>(Activity::idle)];
    s.slot_wait_ns = u.by_activity[static_cast<int>(Activity::waits_for_slot)];
    s.busy_ns = u.by_activity[static_cast<int>(Activity::service)];
    s.queue_full_ns = u.by_activity[static_cast<int>(Activity::queue_full)];
    s.link_wait_ns = u.link_wait_ns;
    s.memory_wait_ns = u.memory_wait_ns;
    v.push_back(s);
  }
  return v;
}

std::vector<std::string> Engine::waiting() const {
  std::vector<std::string> lines;
  for (uint8_t unit = 0; unit < unit_count_; ++unit) {
    const Unit& u = *units_[unit];
    const std::string stage(name_of(u.stage));
    for (uint16_t server = 0; server < u.server_count; ++server) {
      const Server& s = u.servers[server];
      switch (s.activity) {
        case Activity::idle:
          break;
        case Activity::waits_for_slot:
          lines.push_back(stage + " waits for the accel_slot");
          break;
        case Activity::service:
          lines.push_back(stage + " is in service");
          break;
        case Activity::queue_full:
          lines.push_back(stage + " holds an item: the next queue is full");
          break;
      }
    }
    if (!u.queue.empty() || !u.waiting.empty()) {
      lines.push_back(stage + " has " + std::to_string(u.queue.size()) + " of " + std::to_string(u.depth) +
                      " places taken, " + std::to_string(u.waiting.size()) + " wait for room");
    }
  }
  return lines;
}

}  // namespace kernbench::pe
