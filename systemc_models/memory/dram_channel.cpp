// SPDX-License-Identifier: Apache-2.0
#include "kernbench/systemc_models/memory/dram_channel.h"

#include <algorithm>
#include <stdexcept>

namespace kernbench::memory {

DramCounts& DramCounts::operator+=(const DramCounts& o) {
  reads += o.reads;
  writes += o.writes;
  activates += o.activates;
  precharges += o.precharges;
  refreshes += o.refreshes;
  bank_refreshes += o.bank_refreshes;
  row_hits += o.row_hits;
  row_misses += o.row_misses;
  row_conflicts += o.row_conflicts;
  forwarded += o.forwarded;
  return *this;
}

DramChannel::DramChannel(const DramConfig& config, uint16_t index, Client& client)
    : config_(config),
      t_(config_.timing),
      index_(index),
      room_{config.queues.reads, config.queues.writes},
      closes_always_(config.policies.page->closes(true)),
      closes_last_(config.policies.page->closes(false)),
      client_(client),
      banks_(config.timing, config.geometry),
      stacks_(banks_.stacks()),
      refresh_interval_(config.policies.refresh->interval(config.timing, banks_.banks_of_stack())) {
  for (const bool write : {false, true}) {
    lists_[write].resize(banks_.count());
    active_[write].resize((banks_.count() + 63) / 64);
  }
  for_column_.resize(banks_.count());
  forward_free_.resize(config.geometry.pseudo_channels);
  if (refresh_interval_ == kNoCycle) return;
  // Staggered over the stack IDs, so that they are not all unavailable at once.
  const auto n = static_cast<Cycle>(stacks_.size());
  for (Cycle s = 0; s < n; ++s) stacks_[static_cast<size_t>(s)].refresh_due = refresh_interval_ * (s + 1) / n;
  plan(0);
  next_ = refresh_due_;
}

void DramChannel::arrive(Cycle now, Cycle ready, const DramPlace& place, bool write, void* owner, uint64_t number) {
  while (next_ < now) step(next_);
  if (idle_requests_.empty()) idle_requests_.push_back(&requests_.emplace_back());
  DramRequest& r = *idle_requests_.back();
  idle_requests_.pop_back();
  r.place = place;
  r.bank = banks_.bank_of(place);
  r.write = write;
  r.found = DramRequest::Found::open_row;
  r.owner = owner;
  r.number = number;
  r.asked = ready;
  r.next = nullptr;
  Waiting& waiting = waiting_[write];
  (waiting.count++ > 0 ? waiting.last->next : waiting.first) = &r;
  waiting.last = &r;
  next_ = std::min(next_, ready);
}

void DramChannel::run(Cycle now) {
  while (next_ <= now) step(next_);
}

void DramChannel::step(Cycle now) {
  if (admit(now) || now >= refresh_due_) plan_arrived(now);
  const bool row = row_.start == now, column = column_.start == now;
  if (column) issue_column(column_);
  if (row) issue(row_);
  // A new request in the last position of a queue may have moved from there.
  if (row || column) plan_after(now + 1, row, column);
  next_ = std::min({row_.start, column_.start, refresh_due_});
  for (const bool write : {false, true}) {
    if (waiting_[write].count > 0 && queued_[write] < room_[write])
      next_ = std::min(next_, std::max(waiting_[write].first->asked, now + 1));
  }
}

/// Returns true if the queues have changed.
bool DramChannel::admit(Cycle now) {
  bool any = false;
  arrived_.clear();
  for (const bool write : {true, false}) {  // writes first, so that a read finds earlier written data
    Waiting& waiting = waiting_[write];
    while (waiting.count > 0 && waiting.first->asked <= now && queued_[write] < room_[write]) {
      DramRequest& r = *waiting.first;
      waiting.first = r.next;
      --waiting.count;
      enqueue(now, r);
      any = true;
    }
  }
  return any;
}

void DramChannel::enqueue(Cycle now, DramRequest& r) {
  if (!r.write && queued_[1] > 0 && forwards(r)) {
    ++counts_.forwarded;
    Cycle& free = forward_free_[r.place.pc];
    const Cycle begin = std::max(now, free);
    free = begin + t_.tBURST;
    idle_requests_.push_back(&r);
    client_.burst_begins(r.owner, begin);
    return client_.burst_done(r.owner, r.number, bus_of(r.place), begin + 1);
  }
  r.age = ++age_;
  r.since = r.begun = now;
  List& list = lists_[r.write][r.bank];
  r.before = list.youngest;
  r.next = nullptr;
  (list.youngest ? list.youngest->next : list.oldest) = &r;
  list.youngest = &r;
  list.chosen = nullptr;
  active_[r.write][r.bank / 64] |= bit(r.bank);
  ++queued_[r.write];
  arrived_.push_back(&r);
  if (!r.write) return;
  client_.burst_begins(r.owner, now);
  client_.burst_done(r.owner, r.number, bus_of(r.place), now);
}

bool DramChannel::forwards(const DramRequest& read) const {
  for (const DramRequest* r = lists_[1][read.bank].oldest; r; r = r->next) {
    if (r->place == read.place) return true;
  }
  return false;
}

/// Returns true if it changes.
bool DramChannel::choose_direction() {
  const bool drained = draining_;
  const size_t reads = queued_[0], writes = queued_[1];
  const DramQueues& q = config_.queues;
  if (!draining_) {
    draining_ = reads == 0 ? writes > 0 : writes >= q.write_high && owed_ == 0;
    drained_ = 0;
  } else if (writes == 0 || (reads > 0 && (writes <= q.write_low || drained_ >= q.drain))) {
    draining_ = false;
    served_first_ = age_;
    owed_ = reads;
  }
  return draining_ != drained;
}

DramRequest* DramChannel::choose(const List& list, Cycle from, int64_t open_row) const {
  const DramFairness& f = config_.fairness;
  if (list.passed >= f.row_hits || from - list.oldest->since >= f.max_age) return list.oldest;
  return config_.policies.scheduler->next_of_bank(list.oldest, open_row);
}

bool DramChannel::blocked(Cycle from, uint32_t bank) const {
  const Stack& s = stacks_[banks_.stack_of_bank(bank)];
  if (s.refresh_due > from) return false;
  return config_.policies.refresh->all_banks() || bank % banks_.banks_of_stack() == s.refresh_bank;
}

/// Determines the next command of each bus, if no request arrives. While a refresh is due, each step plans anew: the
/// banks that wait for it get no command.
void DramChannel::plan(Cycle from) {
  row_ = {};
  refresh_due_ = kNoCycle;
  refreshing_ = false;
  for (uint32_t s = 0; s < stacks_.size(); ++s) {
    if (stacks_[s].refresh_due <= from) {
      plan_refresh(from, s);
      refreshing_ = true;
    } else {
      refresh_due_ = std::min(refresh_due_, stacks_[s].refresh_due);
    }
  }
  columns_.clear();
  std::fill(for_column_.begin(), for_column_.end(), nullptr);
  for_banks([&](uint32_t bank) {
    if (refreshing_ && blocked(from, bank)) return;
    look(from, bank);
    if (!for_column_[bank]) plan_row(from, bank);
  });
  plan_columns(from);
}

/// Returns true if that is necessary.
bool DramChannel::plan_anew(Cycle from) {
  const bool anew = choose_direction() || refreshing_ || from >= refresh_due_;
  if (anew) plan(from);
  return anew;
}

/// The same after commands, each of which changes what its own bank may get. For the other banks the kept choices
/// remain, and so does the next command of a bus that sent none.
void DramChannel::plan_after(Cycle from, bool row, bool column) {
  if (plan_anew(from)) return;
  const uint32_t of_row = row_.bank, of_column = column_.bank;
  if (row) look(from, of_row);
  if (column) look(from, of_column);
  if (row) plan_rows(from);
  if (!row && for_row(of_column)) plan_row(from, of_column);
  if (column) plan_columns(from);
  if (!column && for_column_[of_row]) plan_column(from, of_row);
}

/// The same after arrivals, which change the choices of their banks.
void DramChannel::plan_arrived(Cycle from) {
  if (plan_anew(from)) return;
  bool row = false, column = false;  // the planned command was of one of these banks
  for (const DramRequest* r : arrived_) {
    row = row || (row_.request && row_.bank == r->bank);
    column = column || (column_.request && column_.bank == r->bank);
  }
  for (const DramRequest* r : arrived_) {
    if (r->write != draining_ || lists_[draining_][r->bank].chosen) continue;
    look(from, r->bank);
    const bool for_column = for_column_[r->bank];
    if (for_column && !column) plan_column(from, r->bank);
    if (!for_column && !row) plan_row(from, r->bank);
  }
  if (row) plan_rows(from);
  if (column) plan_columns(from);
}

/// All banks with requests in the served direction.
template <class Do>
void DramChannel::for_banks(const Do& work) const {
  const std::vector<uint64_t>& active = active_[draining_];
  for (size_t word = 0; word < active.size(); ++word) {
    for (uint64_t bits = active[word]; bits != 0; bits &= bits - 1)
      work(static_cast<uint32_t>(word * 64) + static_cast<uint32_t>(__builtin_ctzll(bits)));
  }
}

/// Chooses a bank's next request, if that is not known, and the bus of its next command.
void DramChannel::look(Cycle from, uint32_t bank) {
  List& list = lists_[draining_][bank];
  const int64_t open = banks_.open_row(bank);
  if (!list.chosen && list.oldest) {
    list.chosen = choose(list, from, open);
    if (!list.chosen || list.chosen->bank != bank || list.chosen->write != draining_)
      throw std::logic_error("the DRAM scheduler chose none of the bank's requests");
  }
  DramRequest* const now = list.chosen && open == list.chosen->place.row ? list.chosen : nullptr;
  DramRequest*& before = for_column_[bank];
  if (before == now) return;
  if (!before) columns_.push_back(nullptr);
  auto at = std::find(columns_.begin(), columns_.end(), before);
  before = now;
  if (!now) {
    columns_.erase(at);
    return;
  }
  for (; at + 1 != columns_.end() && at[1]->age < now->age; ++at) *at = at[1];
  for (; at != columns_.begin() && at[-1]->age > now->age; --at) *at = at[-1];
  *at = now;
}

/// The row bus, for all banks whose next command uses it.
void DramChannel::plan_rows(Cycle from) {
  row_ = {};
  for_banks([&](uint32_t bank) {
    if (!for_column_[bank]) plan_row(from, bank);
  });
}

/// The column bus: the oldest of those with the earliest start.
void DramChannel::plan_columns(Cycle from) {
  from = std::max(from, column_free_);
  column_ = {};
  for (DramRequest* r : columns_) {
    const Cycle start = std::max(from, banks_.earliest_column(r->bank, draining_));
    if (start >= column_.start) continue;
    column_.start = start;
    column_.request = r;
    if (start == from) break;
  }
  if (!column_.request) return;
  column_.age = column_.request->age;
  column_.bank = column_.request->bank;
}

void DramChannel::plan_column(Cycle from, uint32_t bank) {
  const Cycle start = std::max({from, column_free_, banks_.earliest_column(bank, draining_)});
  column_.consider(start, *for_column_[bank], draining_ ? DramOp::WR : DramOp::RD);
}

void DramChannel::plan_refresh(Cycle from, uint32_t stack) {
  Plan p;
  p.stack = stack;
  from = std::max(from, row_free_);
  stacks_[stack].single_refresh = kNoCycle;
  if (config_.policies.refresh->all_banks()) {
    p.op = banks_.any_open(stack) ? DramOp::PREA : DramOp::REF;
    p.start = std::max(from, p.op == DramOp::PREA ? banks_.earliest_pre_all(stack) : banks_.earliest_ref(stack));
  } else {
    p.bank = stack * banks_.banks_of_stack() + stacks_[stack].refresh_bank;
    p.op = banks_.open_row(p.bank) == DramBanks::kClosed ? DramOp::REFSB : DramOp::PRE;
    p.start = std::max(from, p.op == DramOp::PRE ? banks_.earliest_pre(p.bank) : banks_.earliest_act(p.bank));
    if (p.op == DramOp::REFSB) stacks_[stack].single_refresh = p.start;
  }
  row_.consider(p);
}

void DramChannel::plan_row(Cycle from, uint32_t bank) {
  DramRequest& r = *lists_[draining_][bank].chosen;
  from = std::max(from, row_free_);
  if (banks_.open_row(bank) != DramBanks::kClosed)
    return row_.consider(std::max(from, banks_.earliest_pre(bank)), r, DramOp::PRE);
  Cycle start = std::max(from, banks_.earliest_act(bank) - (t_.tACT - 1));
  // A due refresh takes priority over new rows.
  const Cycle refresh = stacks_[banks_.stack_of_bank(bank)].single_refresh;
  if (refresh != kNoCycle && start + t_.tACT - 1 + t_.tRRDL > refresh) start = std::max(start, refresh);
  row_.consider(start, r, DramOp::ACT);
}

/// A write began when it entered the queue. Its owner may be gone since.
void DramChannel::issue(const Plan& p) {
  const Cycle cycle = p.start + (p.op == DramOp::ACT ? t_.tACT - 1 : 0);
  row_free_ = cycle + 1;
  Stack& stack = stacks_[p.stack];
  switch (p.op) {
    case DramOp::ACT:
      banks_.act(p.bank, cycle, p.request->place.row);
      ++counts_.activates;
      if (p.request->found == DramRequest::Found::open_row) {
        p.request->found = DramRequest::Found::closed_bank;
        p.request->begun = p.start;
        if (!p.request->write) client_.burst_begins(p.request->owner, p.start);
      }
      for (auto& lists : lists_) lists[p.bank].chosen = nullptr;
      return tell(p.op, cycle, p.request->place);
    case DramOp::PRE:
      if (p.request && p.request->found != DramRequest::Found::other_row) {
        if (p.request->found == DramRequest::Found::open_row) p.request->begun = p.start;
        p.request->found = DramRequest::Found::other_row;
        if (!p.request->write) client_.burst_begins(p.request->owner, p.start);
      }
      banks_.pre(p.bank, cycle);
      ++counts_.precharges;
      for (auto& lists : lists_) lists[p.bank].chosen = nullptr;
      return tell(p.op, cycle, place_of_bank(p.bank));
    case DramOp::PREA:
      banks_.pre_all(p.stack, cycle);
      ++counts_.precharges;
      for (auto& lists : lists_) {
        for (List& list : lists) list.chosen = nullptr;
      }
      return tell(p.op, cycle, place_of_stack(p.stack));
    case DramOp::REF:
      banks_.ref(p.stack, cycle);
      ++counts_.refreshes;
      stack.away_from = stack.refresh_due;
      stack.away_to = cycle + t_.tRFC;
      stack.refresh_due += refresh_interval_;
      return tell(p.op, cycle, place_of_stack(p.stack));
    default:
      banks_.ref_single(p.bank, cycle);
      ++counts_.bank_refreshes;
      stack.away_from = stack.refresh_due;
      stack.away_to = cycle + t_.tRFCSB;
      stack.refreshed_bank = p.bank;
      stack.refresh_due += refresh_interval_;
      stack.single_refresh = kNoCycle;
      stack.refresh_bank = (stack.refresh_bank + 1) % banks_.banks_of_stack();
      return tell(p.op, cycle, place_of_bank(p.bank));
  }
}

void DramChannel::issue_column(const Plan& p) {
  DramRequest& r = *p.request;
  column_free_ = p.start + 1;
  if (!buses_.empty()) remember(p);
  const bool close = closes_always_ || (closes_last_ && !others_of_row(r));
  banks_.column(p.bank, r.write, close, p.start);
  ++(r.write ? counts_.writes : counts_.reads);
  if (close) {
    ++counts_.precharges;
    for (auto& lists : lists_) lists[p.bank].chosen = nullptr;
  }
  switch (r.found) {
    case DramRequest::Found::open_row:
      ++counts_.row_hits;
      if (!r.write) client_.burst_begins(r.owner, p.start);
      break;
    case DramRequest::Found::closed_bank:
      ++counts_.row_misses;
      break;
    case DramRequest::Found::other_row:
      ++counts_.row_conflicts;
      break;
  }
  const DramOp plain = r.write ? DramOp::WR : DramOp::RD, closing = r.write ? DramOp::WRA : DramOp::RDA;
  tell(close ? closing : plain, p.start, r.place);
  if (!r.write) client_.burst_done(r.owner, r.number, bus_of(r.place), p.start + t_.tCL + t_.tBURST);
  remove(r);
}

void DramChannel::keep_history(Cycle now) {
  if (!buses_.empty()) return;
  const DramHistory fresh(now, {t_.tCCDS, t_.tCL});
  buses_.resize(config_.geometry.pseudo_channels, Bus{fresh});
}

bool DramChannel::history_is_long() const {
  return std::any_of(buses_.begin(), buses_.end(), [](const Bus& b) { return b.history.is_long(); });
}

void DramChannel::forget_before(Cycle cycle) {
  for (Bus& b : buses_) b.history.forget_before(cycle);
}

/// Records the data bus's time since its last burst, which is the wait of this one.
void DramChannel::remember(const Plan& p) {
  Bus& bus = buses_[p.request->place.pc];
  const uint32_t group = p.bank / config_.geometry.banks;
  if (bus.used) bus.history.add(std::min(p.start, bus.last + t_.tCCDS), DramTime::bus);
  if (bus.history.end() < p.start) remember_wait(p, bus, group);
  bus.used = true;
  bus.write = p.request->write;
  bus.last = p.start;
  bus.group = group;
}

void DramChannel::remember_wait(const Plan& p, Bus& bus, uint32_t group) {
  const DramRequest& r = *p.request;
  const auto until = [&](Cycle end, DramTime what) { bus.history.add(std::min(end, p.start), what); };
  const bool hit = r.found == DramRequest::Found::open_row;
  if (hit && bus.used && group == bus.group && bus.write == r.write && p.start == bus.last + t_.tCCDL)
    return until(p.start, DramTime::banks);
  until(r.asked, DramTime::queue);  // no request needed the bus
  if (bus.used && bus.write != r.write) {
    const Cycle data_end = t_.tCWL + t_.tBURST;
    until(bus.last + (r.write ? t_.tRTW : data_end + (group == bus.group ? t_.tWTRL : t_.tWTRS)), DramTime::turnaround);
  }
  // If its row commands began as soon as it had an entry, an earlier entry would have started them earlier.
  if (r.asked < r.since && (hit ? p.start : r.begun) <= r.since + 1)
    until(bus.history.end() + r.since - r.asked, DramTime::queue);
  const DramTime own = r.found == DramRequest::Found::other_row     ? DramTime::banks
                       : r.found == DramRequest::Found::closed_bank ? DramTime::rows
                                                                    : DramTime::bus;
  const Stack& stack = stacks_[banks_.stack_of_bank(p.bank)];
  if (config_.policies.refresh->all_banks() || stack.refreshed_bank == p.bank) {
    until(stack.away_from, own);
    until(stack.away_to, DramTime::refresh);
  }
  if (hit && bus.used && group == bus.group) until(bus.last + t_.tCCDL, DramTime::banks);
  until(p.start, own);
}

bool DramChannel::others_of_row(const DramRequest& r) const {
  for (const auto& lists : lists_) {
    for (const DramRequest* o = lists[r.bank].oldest; o; o = o->next) {
      if (o != &r && o->place.row == r.place.row) return true;
    }
  }
  return false;
}

void DramChannel::remove(DramRequest& r) {
  List& list = lists_[r.write][r.bank];
  list.passed = list.oldest == &r ? 0 : list.passed + 1;
  if (r.write) {
    drained_ += queued_[0] > 0;
  } else {
    owed_ -= owed_ > 0 && r.age <= served_first_;
  }
  (r.before ? r.before->next : list.oldest) = r.next;
  (r.next ? r.next->before : list.youngest) = r.before;
  list.chosen = nullptr;
  if (!list.oldest) active_[r.write][r.bank / 64] &= ~bit(r.bank);
  --queued_[r.write];
  idle_requests_.push_back(&r);
}

void DramChannel::tell(DramOp op, Cycle cycle, const DramPlace& place) const {
  if (observer_) observer_->command({op, cycle, place});
}

DramPlace DramChannel::place_of_stack(uint32_t stack) const {
  DramPlace p;
  p.channel = index_;
  p.pc = static_cast<uint16_t>(stack / config_.geometry.stack_ids);
  p.stack_id = static_cast<uint16_t>(stack % config_.geometry.stack_ids);
  return p;
}

DramPlace DramChannel::place_of_bank(uint32_t bank) const {
  DramPlace p = place_of_stack(banks_.stack_of_bank(bank));
  const uint32_t of_stack = bank % banks_.banks_of_stack();
  p.group = static_cast<uint16_t>(of_stack / config_.geometry.banks);
  p.bank = static_cast<uint16_t>(of_stack % config_.geometry.banks);
  return p;
}

}  // namespace kernbench::memory
