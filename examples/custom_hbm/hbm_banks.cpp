// SPDX-License-Identifier: Apache-2.0
// Models: an HBM slice with banks whose rows stay open, one data bus, and a refresh of all banks at the end of every
// interval. A transaction's range is cut at pages; page p lies in bank p mod banks, row p / banks. A bank opens a row
// while the bus serves others.
// Does not model: read/write turn-round, activation windows.
#include <algorithm>
#include <cmath>
#include <vector>

#include "kernbench/kernel_api/plugin.h"
#include "kernbench/systemc_models/core/registry.h"
#include "kernbench/systemc_models/fabric/memory_target.h"

namespace {
using namespace kernbench;

struct HbmBanksParameters : HbmParameters {  // what YAML may say under attrs; `kernbench list components` shows it
  uint32_t banks = 16;
  uint64_t page_bytes = 1024;
  double row_miss_ns = 0, refresh_ns = 0, interval_ns = 0;
  template <class List>
  static void describe(List& list) {
    HbmParameters::describe(list);
    list.add(&HbmBanksParameters::banks, "banks", "", "rows that can be open at once").count();
    list.add(&HbmBanksParameters::page_bytes, "page_bytes", "bytes", "bytes of a row of one bank")
        .count()
        .direction(Direction::choice);
    list.add(&HbmBanksParameters::row_miss_ns, "row_miss_ns", "ns", "to close a row and open another")
        .positive()
        .direction(Direction::latency)
        .required();
    list.add(&HbmBanksParameters::refresh_ns, "refresh_ns", "ns", "how long a refresh takes; it closes all rows")
        .positive()
        .direction(Direction::latency)
        .required();
    list.add(&HbmBanksParameters::interval_ns, "interval_ns", "ns", "from one refresh to the next")
        .positive()
        .direction(Direction::rate)
        .required();
  }
};

struct Bank {
  uint64_t open_row = ~0ull;
  double free_ns = 0;
  double refreshed_ns = 0;
};
struct HbmBanksState {
  std::vector<Bank> banks;
  double bus_free_ns = 0;
};

class HbmBanks : public StatefulMemory<HbmBanksState> {
 public:
  using Parameters = HbmBanksParameters;
  using State = HbmBanksState;
  HbmBanks(sc_core::sc_module_name name, const ComponentConfig& c, const Parameters& p)
      : StatefulMemory(name, c, p, {std::vector<Bank>(p.banks), 0}),  // idle: rows closed, the bus free
        page_bytes_(p.page_bytes),
        row_miss_ns_(p.row_miss_ns),
        refresh_ns_(p.refresh_ns),
        interval_ns_(p.interval_ns) {}

  static ImplSpec spec() {
    return spec_of<Parameters>("custom.hbm_banks", "hbm_ctrl", "HBM slice with banks and refresh");
  }

 protected:
  /// The law of the memory: called in order of arrival, and on an idle state for the zero-load latency.
  Service serve(State& state, const Request& q) const override {
    const double queued = q.arrival_ns + overhead_ns(), start = std::max(queued, state.bus_free_ns);
    const auto [first, finish] = transfer(state, q, queued);
    Service s{first, finish};       // a read's response leaves; the end
    s.overhead_ns = overhead_ns();  // the account: its parts sum to the latency
    s.queue_ns = start - queued;
    s.drain_ns = finish - start;
    return s;
  }

 private:
  /// When the next refresh ends that a transfer at t_ns would meet, or t_ns; the last one that ended before it.
  double after_refresh(double t_ns) const {
    const double into = std::fmod(t_ns, interval_ns_);
    return into > interval_ns_ - refresh_ns_ ? t_ns + interval_ns_ - into : t_ns;
  }
  double last_refresh(double t_ns) const { return std::floor(t_ns / interval_ns_) * interval_ns_; }

  /// Begin of the first and end of the last page's time on the bus.
  std::pair<double, double> transfer(State& s, const Request& q, double queued_ns) const {
    const double bw =
        q.write ? q.route.write_bw : q.route.read_bw;  // of the narrowest edge of the way, GB/s = bytes/ns
    double first = -1;
    for (uint64_t row = 0; row < q.rows.count; ++row) {
      uint64_t at = q.address + row * q.rows.stride - base();
      for (uint64_t left = q.rows.bytes; left > 0;) {
        const uint64_t bytes = std::min(left, page_bytes_ - at % page_bytes_);
        const uint64_t page = at / page_bytes_;
        Bank& bank = s.banks[page % s.banks.size()];
        double ready = std::max(queued_ns, bank.free_ns);
        const bool closed = last_refresh(ready) > bank.refreshed_ns;
        if (closed || bank.open_row != page / s.banks.size()) ready += row_miss_ns_;
        const double start = after_refresh(std::max(ready, s.bus_free_ns));
        bank.open_row = page / s.banks.size();
        bank.refreshed_ns = last_refresh(start);
        s.bus_free_ns = bank.free_ns = start + (bw > 0 ? static_cast<double>(bytes) / bw : 0);
        if (first < 0) first = start;
        at += bytes;
        left -= bytes;
      }
    }
    return {first < 0 ? queued_ns : first, std::max(queued_ns, s.bus_free_ns)};
  }

  uint64_t page_bytes_;
  double row_miss_ns_, refresh_ns_, interval_ns_;
};

KERNBENCH_REGISTER_COMPONENT(HbmBanks)
}  // namespace

KERNBENCH_PLUGIN("hbm_banks")
