#include "kernbench/systemc_models/pe/pe_scheduler.h"

#include <algorithm>
#include <stdexcept>

#include "kernbench/systemc_models/core/registry.h"
#include "kernbench/systemc_models/pe/engine.h"
#include "kernbench/systemc_models/pe/pe_tcm.h"

namespace kernbench {

PeScheduler::PeScheduler(sc_core::sc_module_name name, const ComponentConfig& config, const Parameters& parameters)
    : Component(name, config, checked(parameters)), items_(context().arena()) {
  command_in.register_nb_transport_fw(this, &PeScheduler::nb_transport_fw);
  command_out.register_nb_transport_bw(this, &PeScheduler::nb_transport_bw);
}

ImplSpec PeScheduler::spec() {
  return spec_of<Parameters>("builtin.pe_scheduler", "pe_scheduler", "a PE's sole dispatcher and feeder of tiles");
}

void PeScheduler::join(Pe& pe, RouteSource& routes, uint32_t dma_node) {
  pe_ = &pe;
  routes_ = &routes;
  dma_node_ = dma_node;
  pe.scheduler = this;
}

void PeScheduler::check_part(const TilePart& part, bool write) const {
  if (part.translation) {
    for (const Translation::Piece& p : part.translation->pieces) routes_->route(dma_node_, p.addr, p.nbytes, write);
    return;
  }
  const uint64_t span = part.rows.count > 1 ? (part.rows.count - 1) * part.rows.stride + part.rows.bytes : part.nbytes;
  routes_->route(dma_node_, part.addr, span, write);
}

void PeScheduler::validate(PeCommand& c) const {
  if (c.type == CommandType::load || c.type == CommandType::store) {
    check_part(c.dma, c.type == CommandType::store);
    return;
  }
  if (c.type != CommandType::composite) return;
  const CompositePlan& p = c.plan;
  const uint64_t tile = p.tile_bytes(), reserved = pe_->tcm->reserved_bytes();
  c.tile_bytes = tile;
  c.window = tile ? static_cast<int64_t>(reserved / tile) : p.tiles();
  if (c.window == 0) {
    throw AccessError(pe_->id + ": a tile of " + std::to_string(tile) + " bytes (inputs and output, " +
                      std::to_string(p.tm) + " x " + std::to_string(p.tn) +
                      (p.gemm ? " x " + std::to_string(p.tk) : "") + ") does not fit the reserved TCM of " +
                      std::to_string(reserved) + " bytes: use smaller tiles or a larger reserved_mb");
  }
  // A matrix that lies in one memory as a whole is fine; else every tile's part must.
  PeItem tile_item;
  tile_item.command = &c;
  tile_item.token = true;
  const auto check_operand = [&](const TileOperand& x, int64_t rows, int64_t cols, bool write, auto part) {
    if (!x.in_memory) return;
    if (x.transposed) std::swap(rows, cols);
    TilePart whole;
    whole.addr = x.addr;
    whole.rows = {static_cast<uint64_t>(rows), static_cast<uint64_t>(cols) * x.element_bytes, x.row_bytes};
    whole.nbytes = whole.rows.count * whole.rows.bytes;
    whole.translation = x.translation;
    try {
      check_part(whole, write);
      return;
    } catch (const AccessError&) {
    }
    for (int64_t i = 0; i < p.tiles_m(); ++i) {
      for (int64_t j = 0; j < p.tiles_n(); ++j) {
        for (int64_t k = 0; k < p.tiles_k(); ++k) {
          tile_item.i = i;
          tile_item.j = j;
          tile_item.k = k;
          tile_item.tile_m = std::min(p.tm, p.m - i * p.tm);
          tile_item.tile_n = std::min(p.tn, p.n - j * p.tn);
          tile_item.tile_k = std::min(p.tk, p.k - k * p.tk);
          check_part(part(tile_item), write);
        }
      }
    }
  };
  for (size_t x = 0; x < p.inputs.size(); ++x) {
    const int64_t rows = p.gemm && x == 1 ? p.k : p.m, cols = p.gemm && x == 0 ? p.k : p.n;
    check_operand(p.inputs[x], rows, cols, false, [x](const PeItem& t) { return t.input_part(x); });
  }
  check_operand(p.output, p.m, p.n, true, [](const PeItem& t) { return t.output_part(); });
}

tlm::tlm_sync_enum PeScheduler::nb_transport_fw(int, PeItem& item, tlm::tlm_phase&, sc_core::sc_time&) {
  timeline().at(
      timeline().now_ns() + overhead_ns(), front_order(*pe_),
      [](void* self, void* command) { static_cast<PeScheduler*>(self)->dispatch(*static_cast<PeCommand*>(command)); },
      this, item.command);
  return tlm::TLM_COMPLETED;
}

bool PeScheduler::offer(PeItem& item) {
  const Next next = next_[static_cast<int>(item.stage())];
  if (next.engine) return next.engine->offer(item, *this);
  tlm::tlm_phase phase = tlm::BEGIN_REQ;
  sc_core::sc_time delay = sc_core::SC_ZERO_TIME;
  return command_out[next.port]->nb_transport_fw(item, phase, delay) == tlm::TLM_COMPLETED;
}

void PeScheduler::dispatch(PeCommand& c) {
  c.queued_ns = timeline().now_ns();
  in_flight_.push_back(&c);
  if (c.type == CommandType::composite) {
    c.tiles = c.plan.tiles();
    c.tiles_n = c.plan.tiles_n();
    c.tiles_k = c.plan.tiles_k();
    feed_queue_.push_back(&c);
    feed();
    return;
  }
  PeItem& item = c.item;
  item.command = &c;
  item.in_flight = true;
  item.stage_count = 1;
  item.stage_at = 0;
  switch (c.type) {
    case CommandType::load:
      item.stages[0] = Stage::dma_read;
      break;
    case CommandType::store:
      item.stages[0] = Stage::dma_write;
      break;
    case CommandType::gemm:
      item.stages[0] = Stage::gemm;
      break;
    default:
      item.stages[0] = Stage::math;
  }
  if (pe_->observer) pe_->observer->sub_command_dispatched(*pe_, item, c.queued_ns);
  offer(item);  // refused: it waits for room, and blocks nobody
}

PeItem& PeScheduler::make_tile(PeCommand& c, int64_t tile_id) {
  PeItem& t = items_.take();
  const CompositePlan& p = c.plan;
  const int64_t nk = c.tiles_k, nn = c.tiles_n;
  t.command = &c;
  t.token = true;
  t.in_flight = true;
  t.tile_id = static_cast<uint32_t>(tile_id);
  t.k = tile_id % nk;
  t.j = tile_id / nk % nn;
  t.i = tile_id / nk / nn;
  t.tile_m = std::min(p.tm, p.m - t.i * p.tm);
  t.tile_n = std::min(p.tn, p.n - t.j * p.tn);
  t.tile_k = std::min(p.tk, p.k - t.k * p.tk);
  t.last_k = t.k == nk - 1;
  t.last_output = tile_id == c.tiles - 1;
  t.stage_at = 0;
  t.stage_count = 0;
  const auto add = [&t](Stage s) { t.stages[t.stage_count++] = s; };
  if (std::any_of(p.inputs.begin(), p.inputs.end(), [](const TileOperand& x) { return x.in_memory; }))
    add(Stage::dma_read);
  add(Stage::fetch);
  if (p.gemm) add(Stage::gemm);
  if (!p.per_tile.empty() || (t.last_k && !p.per_output_tile.empty()) || (t.last_output && !p.once.empty()))
    add(Stage::math);
  if (t.last_k) {
    add(Stage::store);
    if (p.output.in_memory) add(Stage::dma_write);
  }
  return t;
}

void PeScheduler::change_feed(FeedActivity next, double now) {
  if (next == feed_activity_) return;
  if (now > feed_since_ns_ && pe_->observer) pe_->observer->feed(*pe_, feed_activity_, feed_since_ns_, now);
  feed_activity_ = next;
  feed_since_ns_ = now;
  if (pe_->observer) pe_->observer->feed_changed(*pe_, next, now);
}

void PeScheduler::settle(double end_ns) {
  if (end_ns > feed_since_ns_ && pe_->observer) pe_->observer->feed(*pe_, feed_activity_, feed_since_ns_, end_ns);
  feed_since_ns_ = end_ns;
}

void PeScheduler::feed() {
  if (feeding_ || refused_) return;
  feed_until_it_waits();
  change_feed(feed_queue_.empty() ? FeedActivity::idle
              : refused_          ? FeedActivity::waits_for_room
                                  : FeedActivity::waits_for_window,
              timeline().now_ns());
}

void PeScheduler::feed_until_it_waits() {
  feeding_ = true;
  while (!feed_queue_.empty()) {
    PeCommand& c = *feed_queue_.front();
    if (c.fed == c.tiles) {
      feed_queue_.pop_front();
      continue;
    }
    if (tiles_in_flight_ >= c.window) break;
    PeItem& tile = make_tile(c, c.fed);
    if (c.op_id == 0) c.op_id = begin_service(c);
    refused_ = &tile;  // not fed before there is room
    if (!offer(tile)) break;
    refused_ = nullptr;
    fed(c, tile);
  }
  feeding_ = false;
}

void PeScheduler::fed(PeCommand& c, PeItem& tile) {
  tile.fed_ns = timeline().now_ns();
  if (pe_->observer) {
    pe_->observer->sub_command_dispatched(*pe_, tile, tile.fed_ns);
    if (tile.stage() != Stage::dma_read) pe_->observer->tile_ready(*pe_, tile, tile.fed_ns);
  }
  ++tiles_in_flight_;
  if (pe_->observer) pe_->observer->tiles_changed(*pe_, tiles_in_flight_, tile.fed_ns);
  // At most `window` tiles are alive, so buffer · tile_bytes stays inside the reserved TCM.
  if (c.free_buffers.empty()) {
    tile.buffer = c.used_buffers++;
  } else {
    tile.buffer = c.free_buffers.back();
    c.free_buffers.pop_back();
  }
  if (c.fed++ == 0) c.first_fed_ns = tile.fed_ns;
}

tlm::tlm_sync_enum PeScheduler::nb_transport_bw(int, PeItem& item, tlm::tlm_phase&, sc_core::sc_time&) {
  accepted(item);
  return tlm::TLM_COMPLETED;
}

void PeScheduler::accepted(PeItem& item) {
  if (&item != refused_) return;  // a simple command has got its place
  refused_ = nullptr;
  fed(*item.command, item);
  feed();
}

void PeScheduler::item_done(PeItem& item) {
  if (!item.in_flight) throw std::logic_error(id() + ": an item was reported as done twice");
  item.in_flight = false;
  PeCommand& c = *item.command;
  if (!item.token) {
    complete(c);
    return;
  }
  items_.give_back(item);
  c.free_buffers.push_back(item.buffer);
  --tiles_in_flight_;
  if (pe_->observer) pe_->observer->tiles_changed(*pe_, tiles_in_flight_, timeline().now_ns());
  ++c.completed;
  feed();
  if (c.completed == c.tiles) {
    end_service(c, c.op_id, c.first_fed_ns, timeline().now_ns());
    complete(c);
  }
}

void PeScheduler::complete(PeCommand& c) {
  c.done_ns = timeline().now_ns();
  if (pe_->observer) pe_->observer->command_complete(*pe_, c, c.done_ns);
  const auto it = std::find(in_flight_.begin(), in_flight_.end(), &c);
  *it = in_flight_.back();
  in_flight_.pop_back();
  if (c.on_done) c.on_done(c.context, c);
}

std::string PeScheduler::feed_state() const {
  if (feed_queue_.empty()) return {};
  const PeCommand& c = *feed_queue_.front();
  if (refused_) return "feed loop waits for room before " + std::string(name_of(refused_->stage()));
  return "feed loop waits for the window: " + std::to_string(tiles_in_flight_) + " tiles in flight of " +
         std::to_string(c.window);
}

KERNBENCH_REGISTER_COMPONENT(PeScheduler)

}  // namespace kernbench
