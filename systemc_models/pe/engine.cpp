#include "kernbench/systemc_models/pe/engine.h"

#include <algorithm>

#include "kernbench/systemc_models/pe/pe_scheduler.h"
#include "kernbench/systemc_models/pe/pe_tcm.h"

namespace kernbench {

void AccelSlot::request(Request r) {
  if (taken_) {
    waiting_.push_back(r);
    return;
  }
  taken_ = true;
  r.engine->slot_granted(r.unit, r.server);
}

void AccelSlot::release() {
  taken_ = false;
  if (waiting_.empty()) return;
  const Request r = waiting_.front();
  waiting_.pop_front();
  taken_ = true;
  r.engine->slot_granted(r.unit, r.server);
}

Engine::Engine(sc_core::sc_module_name name, const ComponentConfig& config, const EngineParameters& parameters)
    : Component(name, config, parameters), queue_depth_(parameters.queue_depth) {
  command_in.register_nb_transport_fw(this, &Engine::nb_transport_fw);
  command_out.register_nb_transport_bw(this, &Engine::nb_transport_bw);
}

void Engine::add_unit(Stage stage, unsigned servers, bool needs_slot) {
  if (unit_count_ == kStages) throw std::logic_error(id() + ": has more units than there are stages");
  Unit& u = *context().arena().make<Unit>();
  u.stage = stage;
  u.depth = queue_depth_;
  u.needs_slot = needs_slot;
  u.server_count = static_cast<uint16_t>(servers);
  u.servers = context().arena().make<Server>(servers);
  u.engine = this;
  units_[unit_count_++] = &u;
}

void Engine::join(Pe& pe) {
  pe_ = &pe;
  if (pe.tcm) {
    pe.tcm_read_bw_gbs = pe.tcm->read_bw_gbs();
    pe.tcm_write_bw_gbs = pe.tcm->write_bw_gbs();
  }
  for (uint8_t unit = 0; unit < unit_count_; ++unit) units_[unit]->pe = &pe;
}

void Engine::set_next(Stage stage, int port, Engine* engine) {
  next_[static_cast<int>(stage)] = {engine, engine ? engine->units_[engine->unit_of(stage)] : nullptr, port};
}

Engine::~Engine() {
  for (uint8_t unit = 0; unit < unit_count_; ++unit) units_[unit]->~Unit();
}

bool Engine::serves(Stage s) const {
  return std::any_of(units_, units_ + unit_count_, [s](const Unit* u) { return u->stage == s; });
}

uint8_t Engine::unit_of(Stage stage) const {
  uint8_t unit = 0;
  while (units_[unit]->stage != stage) ++unit;
  return unit;
}

tlm::tlm_sync_enum Engine::nb_transport_fw(int port, PeItem& item, tlm::tlm_phase& phase, sc_core::sc_time&) {
  if (phase != tlm::BEGIN_REQ) return tlm::TLM_ACCEPTED;
  const uint8_t unit = unit_of(item.stage());
  Unit& u = *units_[unit];
  if (!has_room(u)) {
    u.waiting.push_back({&item, nullptr, {port}});
    return tlm::TLM_ACCEPTED;
  }
  u.queue.push_back(&item);
  take_next(unit);
  return tlm::TLM_COMPLETED;
}

bool Engine::offer(PeItem& item, ItemSender& sender) {
  const uint8_t unit = unit_of(item.stage());
  Unit& u = *units_[unit];
  if (!has_room(u)) {
    u.waiting.push_back({&item, &sender, {0}});
    return false;
  }
  u.queue.push_back(&item);
  take_next(unit);
  return true;
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
    u.queue.push_back(&driver_item(*r));
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

/// Tells an observer what the server does from now on.
void Engine::tell(const Unit& u, uint16_t server) const {
  if (!pe_->observer) return;
  const Server& s = u.servers[server];
  pe_->observer->server_changed(*pe_, u.stage, server, s.activity, s.activity == Activity::idle ? nullptr : s.item,
                                s.op_id, s.since_ns);
}

void Engine::take_next(uint8_t unit) {
  Unit& u = *units_[unit];
  for (uint16_t s = 0; s < u.server_count && !u.queue.empty(); ++s) {
    Server& server = u.servers[s];
    if (server.activity != Activity::idle) continue;
    change(u, s, Activity::waits_for_slot, timeline().now_ns());
    server.item = u.queue.front();
    u.queue.pop_front();
    tell(u, s);
    if (u.needs_slot) {
      pe_->accel_slot.request({this, unit, s});
    } else {
      start_service(unit, s);
    }
    if (!u.waiting.empty() && u.queue.size() < u.depth) {
      const Waiting w = u.waiting.front();
      if (!w.item) {
        if (MemoryRequest* next = w.request->take_next_in_line()) {
          u.waiting.front().request = next;
        } else {
          u.waiting.pop_front();
        }
        u.queue.push_back(&driver_item(*w.request));
        continue;
      }
      u.waiting.pop_front();
      u.queue.push_back(w.item);
      if (w.sender) {
        w.sender->accepted(*w.item);
        continue;
      }
      tlm::tlm_phase phase = tlm::END_REQ;
      sc_core::sc_time delay = sc_core::SC_ZERO_TIME;
      command_in[w.port]->nb_transport_bw(*w.item, phase, delay);
    }
  }
  if (pe_->observer) pe_->observer->queue_changed(*pe_, u.stage, u.queue.size(), timeline().now_ns());
}

void Engine::slot_granted(uint8_t unit, uint16_t server) {
  start_service(unit, server);
}

void Engine::start_service(uint8_t unit, uint16_t server) {
  Unit& u = *units_[unit];
  Server& s = u.servers[server];
  change(u, server, Activity::service, timeline().now_ns());
  s.item->unit = unit;
  s.item->server = server;
  s.op_id = s.item->command ? begin_service(*s.item) : 0;
  tell(u, server);
  begin(unit, server);
}

void Engine::begin(uint8_t unit, uint16_t server) {
  Server& s = units_[unit]->servers[server];
  s.work = work(*s.item);
  timeline().at(s.since_ns + s.work.ns, stage_order(*pe_, s.item->stage()), &Engine::service_ended, units_[unit],
                s.item);
}

void Engine::service_ended(void* unit, void* item) {
  Unit& u = *static_cast<Unit*>(unit);
  const auto& i = *static_cast<PeItem*>(item);
  u.engine->finish(i.unit, i.server, u.servers[i.server].work);
}

void Engine::finish(uint8_t unit, uint16_t server, const Work& work) {
  Unit& u = *units_[unit];
  Server& s = u.servers[server];
  const double now = timeline().now_ns(), t_start = s.since_ns;
  u.bytes += work.bytes;
  u.flops += work.flops;
  ++u.ops;
  change(u, server, Activity::queue_full, now);  // it takes nothing until the item is handed on
  tell(u, server);
  if (s.item->command) end_service(*s.item, s.op_id, t_start, now);
  if (u.needs_slot) pe_->accel_slot.release();
  hand_on(unit, server);
}

void Engine::hand_on(uint8_t unit, uint16_t server) {
  Unit& u = *units_[unit];
  Server& s = u.servers[server];
  PeItem& item = *s.item;
  if (item.last_stage()) {
    s.item = nullptr;
    if (item.command) {
      pe_->scheduler->item_done(item);
    } else {
      driver_item_done(item);
    }
  } else {
    if (item.stage() == Stage::dma_read && pe_->observer) pe_->observer->tile_ready(*pe_, item, s.since_ns);
    const Next& next = next_[static_cast<int>(item.next_stage())];
    ++item.stage_at;
    if (next.engine) {
      if (!next.engine->offer(item, *this)) return;  // full: hold it
    } else {
      tlm::tlm_phase phase = tlm::BEGIN_REQ;
      sc_core::sc_time delay = sc_core::SC_ZERO_TIME;
      if (command_out[next.port]->nb_transport_fw(item, phase, delay) == tlm::TLM_ACCEPTED) return;
    }
    s.item = nullptr;
  }
  change(u, server, Activity::idle, timeline().now_ns());
  tell(u, server);
  take_next(unit);
}

tlm::tlm_sync_enum Engine::nb_transport_bw(int, PeItem& item, tlm::tlm_phase&, sc_core::sc_time&) {
  accepted(item);
  return tlm::TLM_COMPLETED;
}

void Engine::accepted(PeItem& item) {
  const uint8_t unit = item.unit;
  const uint16_t server = item.server;
  change(*units_[unit], server, Activity::idle, timeline().now_ns());
  tell(*units_[unit], server);
  units_[unit]->servers[server].item = nullptr;
  take_next(unit);
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

std::vector<Engine::Statistics> Engine::statistics() const {
  std::vector<Statistics> v;
  for (uint8_t unit = 0; unit < unit_count_; ++unit) {
    const Unit& u = *units_[unit];
    Statistics s;
    s.stage = u.stage;
    s.servers = u.server_count;
    s.ops = u.ops;
    s.bytes = u.bytes;
    s.flops = u.flops;
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

}  // namespace kernbench
