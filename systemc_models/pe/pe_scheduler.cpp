// SPDX-License-Identifier: Apache-2.0
#include "kernbench/systemc_models/pe/pe_scheduler.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <stdexcept>

#include "kernbench/systemc_models/core/registry.h"
#include "kernbench/systemc_models/memory/system.h"

namespace kernbench::pe {
PeScheduler::PeScheduler(sc_core::sc_module_name name, const ComponentConfig& config, const Parameters& parameters)
    : Component(name, config, checked(parameters)),
      PeBlock(static_cast<Component&>(*this)),
      items_(context().arena()) {}

ImplSpec PeScheduler::spec() {
  return spec_of<Parameters>("builtin.pe_scheduler", "pe_scheduler",
                             "a PE's scheduler, which dispatches commands and feeds tiles")
      .overhead_is(Resource::scheduler);
}

// ---- validation

void PeScheduler::check_part(const TilePart& part, bool write) const {
  RouteSource& routes = System::of(*this).routes();
  const uint32_t dma = pe_->dma;
  if (part.translation) {
    for (const Translation::Piece& p : part.translation->pieces) routes.route(dma, p.addr, p.nbytes, write);
    return;
  }
  routes.route(dma, part.addr, part.rows.span(), write);
}

void PeScheduler::validate(PeCommand& c) const {
  if (c.ranged || (c.desc && c.desc->ranged)) return;  // its groups, or ranges, lie in memories
  if (c.type == CommandType::load || c.type == CommandType::store) {
    check_part(c.dma, c.type == CommandType::store);
    return;
  }
  if (c.type != CommandType::composite) return;
  const CompositePlan& p = c.plan;
  const uint64_t tile = p.tile_bytes(), reserved = pe_->tcm->reserved_bytes();
  c.tile_bytes = tile;
  c.window = static_cast<int64_t>(reserved / tile);
  if (c.window == 0) {
    throw AccessError(pe_->id + ": a tile of " + std::to_string(tile) + " bytes (inputs and output, " +
                      std::to_string(p.tm) + " x " + std::to_string(p.tn) +
                      (p.gemm ? " x " + std::to_string(p.tk) : "") + ") does not fit the reserved TCM of " +
                      std::to_string(reserved) + " bytes: use smaller tiles or a larger reserved_mb");
  }
  check_tiles(c);
}

/// A matrix inside one memory needs no further check; otherwise every tile's part must be.
void PeScheduler::check_tiles(PeCommand& c) const {
  const CompositePlan& p = c.plan;
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
    constexpr uint64_t kMost = std::numeric_limits<uint64_t>::max();
    if (whole.rows.span() == kMost || whole.rows.span() - 1 > kMost - whole.addr) {
      throw AccessError(
          fmt::format("{}: a matrix of {} x {} at {:#x}, {} bytes from row to row, runs over the end of all addresses",
                      pe_->id, rows, cols, x.addr, x.row_bytes));
    }
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

// ---- dispatch

tlm::tlm_sync_enum PeScheduler::item_in(PeItem& item, PePort& in, tlm::tlm_phase& phase) {
  PeCommand& c = *item.command;
  c.submitted_by = &in;
  submissions_.submit(c);
  if (c.overheads_paid) {
    dispatch(c);
  } else {
    timeline().at(timeline().now_ns() + overhead_ns(), front_order(*pe_), call<&PeScheduler::dispatch>(*this, c));
  }
  phase = tlm::END_REQ;
  return tlm::TLM_UPDATED;
}

void PeScheduler::dispatch(PeCommand& c) {
  submissions_.take(c);
  c.queued_ns = timeline().now_ns();
  if (c.type != CommandType::composite) return dispatch_simple(c, pe_->stage_of(c.type, c.op));
  c.tiles = c.plan.tiles();
  c.tiles_n = c.plan.tiles_n();
  c.tiles_k = c.plan.tiles_k();
  in_flight_.add(c, CommandState::waits_for_feed, Stage::dma_read);
  feed_queue_.push_back(&c);
  feed();
}

void PeScheduler::dispatch_simple(PeCommand& c, Stage stage) {
  PeItem& item = c.item;
  item.command = &c;
  item.in_flight = true;
  item.stage_count = 1;
  item.stage_at = 0;
  item.stages[0] = stage;
  if (pe_->observer) pe_->observer->sub_command_dispatched(*pe_, item, c.queued_ns);
  in_flight_.add(c, CommandState::at_engine, stage);
  // If it is refused, it waits for space and blocks no other command. If it is taken, it may already be done and
  // deleted: a gather without ranges.
  if (!next_[stage].send(item)) in_flight_.set(c, CommandState::waits_for_room);
}

// ---- feeding

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

/// Created on first use, when the PE's blocks are connected.
TileBuffers& PeScheduler::buffers() {
  if (!buffers_) buffers_.emplace(pe_->tcm->reserved_bytes());
  return *buffers_;
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
      in_flight_.set(c, CommandState::fed);
      feed_queue_.pop_front();
      continue;
    }
    if (c.fed == 0) in_flight_.set(c, CommandState::feeds);
    if (c.tile_bytes > buffers().free_bytes()) break;
    PeItem& tile = make_tile(c, c.fed);
    if (c.op_id == 0) c.op_id = begin_service(c);
    refused_ = &tile;  // fed when there is space
    if (!next_[tile.stage()].send(tile)) break;
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
  tile.buffer = buffers().take(c.tile_bytes);
  if (c.fed++ == 0) c.first_fed_ns = tile.fed_ns;
}

tlm::tlm_sync_enum PeScheduler::answer_in(PeItem& item, PePort&, tlm::tlm_phase& phase) {
  if (phase == tlm::END_REQ) {
    accepted(item);
  } else {
    item_done(item);
  }
  return tlm::TLM_COMPLETED;
}

void PeScheduler::accepted(PeItem& item) {
  if (&item != refused_) return in_flight_.set(*item.command, CommandState::at_engine);
  refused_ = nullptr;
  fed(*item.command, item);
  feed();
}

void PeScheduler::item_done(PeItem& item) {
  if (!item.in_flight) throw std::logic_error(id() + ": an item was reported as done twice");
  item.in_flight = false;
  PeCommand& c = *item.command;
  if (!item.token) return complete(c);
  items_.give_back(item);
  buffers().give_back(std::move(item.buffer));
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
  in_flight_.remove(c);
  completions_.publish(c);
  while (!completions_.empty()) {
    PeCommand& done = completions_.take();
    done.submitted_by->complete(done.item);
  }
}

// ---- who waits for whom

std::string PeScheduler::waits(const InflightTable::Entry& e) const {
  const PeCommand& c = *e.command;
  const std::string name = c.desc ? c.desc->name : std::string("a command");
  const std::string engine(name_of(e.engine));
  const std::string tiles =
      std::to_string(c.fed) + " of " + std::to_string(c.tiles) + " tiles fed, " + std::to_string(c.completed) + " done";
  switch (e.state) {
    case CommandState::waits_for_room:
      return name + " waits for room before " + engine;
    case CommandState::at_engine:
      return name + " is at " + engine;
    case CommandState::waits_for_feed:
      return name + " waits for the feed loop";
    case CommandState::feeds:
      return name + " is fed: " + tiles;
    case CommandState::fed:
      return name + " has been fed: " + tiles;
  }
  return name;
}

std::vector<std::string> PeScheduler::waiting() const {
  constexpr size_t kMost = 4;  // number of commands in the message
  std::vector<std::string> lines;
  if (submissions_.size() > 0) lines.push_back(std::to_string(submissions_.size()) + " commands submitted");
  lines.push_back(std::to_string(in_flight_.entries().size()) + " commands in flight");
  for (size_t i = 0; i < in_flight_.entries().size() && i < kMost; ++i) lines.push_back(waits(in_flight_.entries()[i]));
  if (feed_queue_.empty()) return lines;
  if (refused_) {
    lines.push_back("feed loop waits for room before " + std::string(name_of(refused_->stage())));
  } else {
    lines.push_back("feed loop waits for reserved TCM: " + std::to_string(tiles_in_flight_) + " tiles in flight, " +
                    std::to_string(buffers_->free_bytes()) + " of " + std::to_string(buffers_->capacity()) +
                    " bytes free, the next tile takes " + std::to_string(feed_queue_.front()->tile_bytes));
  }
  return lines;
}

KERNBENCH_REGISTER_COMPONENT(PeScheduler)

}  // namespace kernbench::pe
