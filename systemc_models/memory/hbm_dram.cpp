// SPDX-License-Identifier: Apache-2.0
#include "kernbench/systemc_models/memory/hbm_dram.h"

#include <algorithm>

#include "kernbench/systemc_models/core/registry.h"
#include "kernbench/systemc_models/memory/bursts.h"

namespace kernbench::memory {
namespace {

DramConfig without_refresh(DramConfig c) {
  c.policies.refresh = DramRefreshPolicy::registry().make("none");
  return c;
}

}  // namespace

DramConfig HbmDramParameters::config() const {
  const DramPreset& p = dram_preset(preset);
  DramConfig c{p.timing,
               p.geometry,
               {read_queue, write_queue, write_high, write_low, write_drain.value_or(write_high - write_low)},
               {DramScheduler::registry().make(scheduler), DramPagePolicy::registry().make(page_policy),
                DramRefreshPolicy::registry().make(refresh)},
               {row_hits, max_age}};
  for_each_timing([&](const char*, Number HbmDramParameters::*given, uint32_t DramTiming::*value, const char*,
                      std::optional<Resource>,
                      const char*) { c.timing.*value = (this->*given).value_or(c.timing.*value); });
  DramGeometry& g = c.geometry;
  g.channels = channels;
  g.pseudo_channels = pseudo_channels.value_or(g.pseudo_channels);
  g.stack_ids = stack_ids.value_or(g.stack_ids);
  g.bank_groups = bank_groups.value_or(g.bank_groups);
  g.banks = banks.value_or(g.banks);
  g.page_bytes = page_bytes.value_or(g.page_bytes);
  g.burst_bytes = burst_bytes.value_or(g.burst_bytes);
  return c;
}

Attributes HbmDramParameters::resolved(const Attributes& given) {
  const DramConfig c = parameters_of<HbmDramParameters>().from(given).config();
  Attributes all = given;
  const auto set = [&](const char* name, uint32_t value) {
    if (!all.find(name)) all.set(name, AttrValue(int64_t{value}));
  };
  for_each_timing([&](const char* name, Number HbmDramParameters::*, uint32_t DramTiming::*value, const char*,
                      std::optional<Resource>, const char*) { set(name, c.timing.*value); });
  const DramGeometry& g = c.geometry;
  for (const auto& [name, value] : {std::pair("pseudo_channels", g.pseudo_channels),
                                    {"stack_ids", g.stack_ids},
                                    {"bank_groups", g.bank_groups},
                                    {"banks", g.banks},
                                    {"page_bytes", g.page_bytes},
                                    {"burst_bytes", g.burst_bytes}})
    set(name, value);
  return all;
}

std::optional<AttrFault> HbmDramParameters::fault_together() const {
  if (write_high > write_queue)
    return AttrFault{"write_high", "found " + std::to_string(write_high) + "; legal: at most write_queue " +
                                       std::to_string(write_queue)};
  if (write_low >= write_high)
    return AttrFault{"write_low", "found " + std::to_string(write_low) + "; legal: less than write_high " +
                                      std::to_string(write_high)};
  const DramConfig c = config();
  if (const auto fault = fault_of(c.timing, c.geometry)) return AttrFault{fault->attribute, fault->text};
  const DramTiming& t = c.timing;
  const Cycle between = c.policies.refresh->interval(t, c.geometry.banks_of_stack_id());
  const uint64_t least = c.policies.refresh->all_banks() ? t.tRFC + row_cycles(t) : t.tRREFD + t.tRP;
  if (between < static_cast<Cycle>(least))
    return AttrFault{"refresh", "found '" + refresh + "', every " + std::to_string(between) +
                                    " cycles; legal: an interval of at least " + std::to_string(least)};
  try {
    DramMapping::from(mapping, c.geometry);
  } catch (const std::invalid_argument& e) {
    return AttrFault{"mapping", e.what()};
  }
  return std::nullopt;
}

HbmDram::HbmDram(sc_core::sc_module_name name, const ComponentConfig& config, const Parameters& parameters)
    : MemoryTarget(name, config, checked(parameters)),
      dram_(parameters.config(), parameters.mapping),
      tck_ps_(dram_.config().timing.tCK_ps),
      alone_(without_refresh(parameters.config()), parameters.mapping) {}

/// The first cycle that begins at or after the time.
Cycle HbmDram::cycle_from(double t_ns) const {
  const uint64_t tck_fs = uint64_t{dram_.config().timing.tCK_ps} * 1000;
  return static_cast<Cycle>((Timeline::to_fs(t_ns) + tck_fs - 1) / tck_fs);
}

double HbmDram::most_gbs(double edge_bw_gbs) const {
  const DramConfig& c = dram_.config();
  const double all =
      c.geometry.channels * c.geometry.pseudo_channels * (c.geometry.burst_bytes * 1000.0) / (tck_ps_ * c.timing.tCCDS);
  return edge_bw_gbs > 0 ? std::min(edge_bw_gbs, all) : all;
}

uint64_t HbmDram::address_period(uint64_t, uint64_t) const {
  const uint64_t period = dram_.mapping().period();
  return period > 0 ? period : kNoPeriod;
}

Service HbmDram::zero_load(const Request& q) const {
  DramTransfer t;
  t.write = q.write;
  t.atomic = q.is_atomic();
  t.offset = q.address - base();
  t.rows = q.rows;
  const auto run_before = [&](Cycle end) {
    for (Cycle next = alone_.next(); next < end; next = alone_.next()) {
      alone_.run(next);
      alone_now_ = next;
    }
  };
  // With flits, a write's bytes arrive evenly over the link to the memory, and are cut as they arrive.
  const bool comes = q.write && !t.atomic && !fabric().mode().data_follow_header() && q.route.write_bw > 0;
  const uint64_t flit = fabric().timing().flit_bytes;
  const Cycle first = alone_now_;
  const auto cycle_of = [&](uint64_t bytes) {
    return first + (comes ? cycle_from(static_cast<double>(bytes) / q.route.write_bw) : 0);
  };
  for (uint64_t bytes = flit; comes && bytes < q.nbytes; bytes += flit) {
    run_before(cycle_of(bytes));
    alone_.submit(t, cycle_of(bytes), bytes);
  }
  const Cycle begin = cycle_of(q.nbytes);
  run_before(begin);
  alone_.submit(t, begin);
  run_before(kNoCycle);
  alone_.forget_rows();
  // Longer than any time between two commands.
  alone_now_ = std::max(alone_now_, begin) + (Cycle{1} << 32);
  Service s;
  s.header_leaves_ns = s.overhead_ns = overhead_ns();
  s.drain_ns = end_ns(t, ns_of(begin), data_path_ns(q));
  s.finish_ns = s.overhead_ns + s.drain_ns;
  return s;
}

HbmDram::Transfer& HbmDram::begin_transfer(FabricTransaction& x) {
  if (idle_.empty()) {
    transfers_.push_back(std::make_unique<Transfer>());
    idle_.push_back(transfers_.back().get());
  }
  Transfer& t = *idle_.back();
  idle_.pop_back();
  t = {};
  t.write = x.write;
  t.atomic = x.is_atomic();
  t.offset = x.address - base();
  t.rows = x.rows;
  t.context = &x;
  return t;
}

void HbmDram::data_comes(FabricTransaction& x, uint64_t nbytes) {
  if (observers()) dram_.keep_history(cycle_from(x.time_ns));
  Transfer*& coming = coming_[&x];
  if (!coming) coming = &begin_transfer(x);
  Transfer& t = *coming;
  t.ready = cycle_from(x.time_ns + overhead_ns());
  dram_.submit(t, cycle_from(x.time_ns), nbytes);
  wake();
}

Service HbmDram::take(FabricTransaction& x) {
  const auto coming = coming_.find(&x);
  Transfer& t = coming == coming_.end() ? begin_transfer(x) : *coming->second;
  if (coming != coming_.end()) coming_.erase(coming);
  const double queued = x.time_ns + overhead_ns();
  if (observers()) dram_.keep_history(cycle_from(x.time_ns));
  t.queued_ns = queued;
  t.ready = cycle_from(queued);
  if (x.mover && !x.is_atomic()) x.mover->served(x, queued);
  dram_.submit(t, cycle_from(x.time_ns));
  wake();
  Service s;
  s.later = true;
  return s;
}

/// Commands of a cycle follow all arrivals of its instant.
void HbmDram::wake() {
  const Cycle next = dram_.next();
  if (next >= armed_) return;
  armed_ = next;
  timeline().at(ns_of(next), Order(Order::kArbitration, index(), 0), call<&HbmDram::due>(*this));
}

void HbmDram::due() {
  const Cycle now = cycle_from(timeline().now_ns());
  if (now != armed_) return;  // an earlier entry was added meanwhile
  armed_ = kNoCycle;
  const std::vector<DramTransfer*>& ended = dram_.run(now);
  for (DramTransfer* t : dram_.came()) {
    watch(*t);
    data_came(*static_cast<FabricTransaction*>(t->context), t->came, ns_of(t->came_at));
  }
  for (DramTransfer* t : ended) finish(static_cast<Transfer&>(*t));
  wake();
}

/// Read data use the path from the first data on, write data from the arrival.
double HbmDram::end_ns(const DramTransfer& t, double zero_ns, double path_ns) const {
  const double path_from = t.write ? 0 : ns_of(t.first_data - dram_.config().timing.tBURST) - zero_ns;
  return std::max(ns_of(t.done) - zero_ns, path_from + path_ns);
}

/// The response is sent so that its last byte leaves with the last data. The first data of a read may have left long
/// before.
void HbmDram::finish(Transfer& t) {
  auto& x = *static_cast<FabricTransaction*>(t.context);
  watch(t);
  const double queued = t.queued_ns, path = data_path_ns(Request(x));
  Service s;
  s.finish_ns = queued + end_ns(t, queued, path);
  s.header_leaves_ns = x.write ? s.finish_ns : std::max(timeline().now_ns(), s.finish_ns - path);
  const double begin = std::max(queued, ns_of(t.begin));
  s.overhead_ns = overhead_ns();
  s.queue_ns = begin - queued;
  s.drain_ns = s.finish_ns - begin;
  idle_.push_back(&t);
  answer(x, s);
}

/// Called before observers query the transfer's time.
void HbmDram::watch(const DramTransfer& t) {
  if (!observers()) return;
  waited_[static_cast<const FabricTransaction*>(t.context)] = {t.last_bus, t.done};
  if (!dram_.history_is_long()) return;
  Cycle oldest = kNoCycle;
  for (const auto& open : transfers_) {
    if (open->open > 0) oldest = std::min(oldest, open->ready);
  }
  dram_.forget_before(oldest);
}

std::vector<TimeShare> HbmDram::spent(const FabricTransaction& x, double from_ns, double to_ns) const {
  const auto it = waited_.find(&x);
  if (it == waited_.end()) return {};
  const Cycle from = cycle_from(from_ns), to = std::min(cycle_from(to_ns), it->second.end);
  std::vector<TimeShare> all = {{Resource::memory, std::clamp(ns_of(from), from_ns, to_ns) - from_ns}};
  const DramTimes times = dram_.spent(it->second.bus, from, std::max(from, to));
  for (size_t i = 0; i < times.size(); ++i) all.push_back({kDramTimes[i], ns_of(times[i])});
  return all;
}

uint64_t HbmDram::moved_bytes(const FabricTransaction& x) const {
  return bytes_of_bursts(x.address - base(), x.rows, Divisor(dram_.config().geometry.burst_bytes));
}

std::vector<MemoryCounter> HbmDram::counters() const {
  const DramCounts c = dram_.counts();
  const auto count = [](uint64_t n) { return static_cast<double>(n); };
  const double bus_ns = ns_of(static_cast<Cycle>((c.reads + c.writes) * dram_.config().timing.tBURST));
  return {{"read_bursts", count(c.reads)},
          {"write_bursts", count(c.writes)},
          {"activates", count(c.activates)},
          {"precharges", count(c.precharges)},
          {"refreshes", count(c.refreshes)},
          {"bank_refreshes", count(c.bank_refreshes)},
          {"row_hits", count(c.row_hits)},
          {"row_misses", count(c.row_misses)},
          {"row_conflicts", count(c.row_conflicts)},
          {"forwarded_bursts", count(c.forwarded)},
          {"data_bus_ns", bus_ns}};
}

KERNBENCH_REGISTER_COMPONENT(HbmDram)

}  // namespace kernbench::memory
