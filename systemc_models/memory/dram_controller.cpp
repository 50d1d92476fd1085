// SPDX-License-Identifier: Apache-2.0
#include "kernbench/systemc_models/memory/dram_controller.h"

#include <algorithm>
#include <stdexcept>
#include <string>

namespace kernbench::memory {

DramController::DramController(const DramConfig& config, const std::string& mapping)
    : config_(config), mapping_(DramMapping::from(mapping, config.geometry)) {
  for (uint32_t c = 0; c < config.geometry.channels; ++c)
    channels_.push_back(
        std::make_unique<DramChannel>(config_, static_cast<uint16_t>(c), static_cast<DramChannel::Client&>(*this)));
}

void DramController::submit(DramTransfer& t, Cycle now, uint64_t bytes) {
  uncut_[!t.reads()].push_back({&t, bytes});
  cut(now, !t.reads());
}

void DramController::cut(Cycle now, bool write) {
  std::deque<Piece>& uncut = uncut_[write];
  while (!uncut.empty() && cut_one(uncut.front(), now)) {
    const Piece p = uncut.front();
    uncut.pop_front();
    if (p.bytes == kAll) end_of(*p.transfer);
  }
}

/// A user-defined mapping may return anything.
DramPlace DramController::place_of(uint64_t offset) const {
  const DramGeometry& g = config_.geometry;
  const DramPlace p = mapping_->place_of(offset);
  if (p.channel >= g.channels || p.pc >= g.pseudo_channels || p.stack_id >= g.stack_ids || p.group >= g.bank_groups ||
      p.bank >= g.banks)
    throw std::logic_error("the DRAM mapping's place of offset " + std::to_string(offset) + " is outside the memory");
  return p;
}

/// Returns true if the transfer is cut to its end; a partial transfer is cut as far as its bursts have arrived.
/// Adjacent rows are one range.
bool DramController::cut_one(const Piece& piece, Cycle now) {
  DramTransfer& t = *piece.transfer;
  const uint64_t burst = config_.geometry.burst_bytes;
  const bool touch = t.rows.stride == t.rows.bytes;
  const std::vector<AccessRange>* list = t.rows.ranges;
  const uint64_t ranges = list ? list->size() : touch ? 1 : t.rows.count;
  const bool write = !t.reads();
  size_t waiting = 0;
  for (const auto& c : channels_) waiting += c->waiting(write);
  for (; t.row < ranges; ++t.row, t.at = 0) {
    const uint64_t first = t.offset + (list ? (*list)[t.row].offset : t.row * t.rows.stride);
    const uint64_t bytes = list ? (*list)[t.row].nbytes : touch ? t.rows.count * t.rows.bytes : t.rows.bytes;
    while (t.at < bytes) {
      if (waiting++ >= kCutAhead) return false;
      const uint64_t at = first + t.at;
      const DramPlace place = place_of(at);
      const uint64_t end = std::min(bytes, (at / burst + 1) * burst - first);
      if (end - t.at > piece.bytes - t.bytes_cut) return true;
      if (!t.write) t.bursts.push_back({end - t.at, kNoCycle});
      if (t.atomic) t.places.push_back(place);
      channels_[place.channel]->arrive(now, std::max(now, t.ready), place, write, &t, t.cut++);
      ++t.open;
      t.bytes_cut += end - t.at;
      t.at = end;
    }
  }
  return true;
}

Cycle DramController::next() const {
  Cycle next = to_write_back_.empty() ? kNoCycle : to_write_back_.begin()->first;
  for (const auto& c : channels_) next = std::min(next, c->next());
  return next;
}

const std::vector<DramTransfer*>& DramController::run(Cycle now) {
  came_.clear();
  write_back(now);
  for (const auto& c : channels_) {
    if (c->next() <= now) c->run(now);
  }
  for (const bool write : {true, false}) cut(now, write);  // as in a channel: reads find earlier written data
  told_.clear();
  std::swap(told_, ended_);
  return told_;
}

void DramController::write_back(Cycle now) {
  for (; !to_write_back_.empty() && to_write_back_.begin()->first <= now;
       to_write_back_.erase(to_write_back_.begin())) {
    const WriteBack w = to_write_back_.begin()->second;
    const DramPlace& place = w.transfer->places[w.number];
    channels_[place.channel]->arrive(now, now, place, true, w.transfer, kWritesBack);
  }
}

void DramController::burst_begins(void* owner, Cycle cycle) {
  auto& t = *static_cast<DramTransfer*>(owner);
  t.begin = std::min(t.begin, cycle);
}

void DramController::burst_done(void* owner, uint64_t number, uint32_t bus, Cycle cycle) {
  auto& t = *static_cast<DramTransfer*>(owner);
  if (cycle >= t.done) t.last_bus = bus;
  t.done = std::max(t.done, cycle);
  if (t.atomic && number != kWritesBack) {
    to_write_back_.insert({cycle, {&t, number}});
    return;
  }
  if (!t.write) {
    t.first_data = std::min(t.first_data, cycle);
    t.bursts[number - t.first_burst].end = cycle;
    if (number == t.first_burst) came_.push_back(&t);
    for (; !t.bursts.empty() && t.bursts.front().end != kNoCycle; t.bursts.pop_front(), ++t.first_burst) {
      t.came += t.bursts.front().bytes;
      t.came_at = std::max(t.came_at, t.bursts.front().end);
    }
  }
  end_of(t);
}

void DramController::end_of(DramTransfer& t) {
  if (--t.open == 0) ended_.push_back(&t);
}

DramCounts DramController::counts() const {
  DramCounts sum;
  for (const auto& c : channels_) sum += c->counts();
  return sum;
}

void DramController::observe(DramCommandObserver* observer) {
  for (const auto& c : channels_) c->observe(observer);
}

void DramController::keep_history(Cycle now) {
  for (const auto& c : channels_) c->keep_history(now);
}

DramTimes DramController::spent(uint32_t bus, Cycle from, Cycle to) const {
  const uint32_t buses = config_.geometry.pseudo_channels;
  return channels_[bus / buses]->history(bus % buses).spent(from, to);
}

bool DramController::history_is_long() const {
  return std::any_of(channels_.begin(), channels_.end(), [](const auto& c) { return c->history_is_long(); });
}

void DramController::forget_before(Cycle cycle) {
  for (const auto& c : channels_) c->forget_before(cycle);
}

void DramController::forget_rows() {
  for (const auto& c : channels_) c->forget_rows();
}

}  // namespace kernbench::memory
