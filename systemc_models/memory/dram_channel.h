// SPDX-License-Identifier: Apache-2.0
// Models a DRAM channel with its controller: two bounded queues, buffered writes that are drained in groups, a row bus
// and a column bus that the channel's pseudo-channels share, and refresh. It advances from command to command: the next
// command and its cycle follow from the earliest cycles in DramBanks, so cycles without a command cost nothing. Does
// not model power-down, ECC, or postponed and pulled-in refresh commands. Plain C++, no SystemC.
#pragma once

#include <deque>
#include <memory>
#include <vector>

#include "kernbench/systemc_models/memory/dram_history.h"
#include "kernbench/systemc_models/memory/dram_policies.h"

namespace kernbench::memory {

/// Numbers of bursts in a channel's queues. A drain of writes starts at `write_high` writes, or if no read waits. It
/// ends at `write_low` or fewer writes if a read waits, or when no write is left. While reads wait, a drain sends at
/// most `drain` writes. The next one starts only after the reads that waited at its end were served.
struct DramQueues {
  uint32_t reads = 64, writes = 64;
  uint32_t write_high = 48, write_low = 16;
  uint32_t drain = 32;
};

/// Limits against starvation. Regardless of the scheduler, a bank serves its oldest request after `row_hits` others
/// have passed it, or when it has waited for `max_age` cycles.
struct DramFairness {
  uint32_t row_hits = 16;
  Cycle max_age = 1000;
};

struct DramConfig {
  DramTiming timing;
  DramGeometry geometry;
  DramQueues queues;
  DramPolicies policies;
  DramFairness fairness;
};

/// Counts of commands and of bursts. A burst is a hit if its row was open when it was first considered.
struct DramCounts {
  uint64_t reads = 0, writes = 0, activates = 0, precharges = 0, refreshes = 0, bank_refreshes = 0;
  uint64_t row_hits = 0, row_misses = 0, row_conflicts = 0;
  uint64_t forwarded = 0;  ///< reads answered by the write queue
  DramCounts& operator+=(const DramCounts&);
};

class DramChannel {
 public:
  /// Receives the progress of bursts.
  class Client {
   public:
    virtual ~Client() = default;
    /// From this cycle on the controller works on the burst: its first command, or for a write its entry into the
    /// queue.
    virtual void burst_begins(void* owner, Cycle) = 0;
    /// The data of a read arrive, at the current cycle or later; or a write has entered its queue. `bus`: number of its
    /// data bus in the memory.
    virtual void burst_done(void* owner, uint64_t number, uint32_t bus, Cycle) = 0;
  };

  /// `index`: number of the channel in its memory.
  DramChannel(const DramConfig&, uint16_t index, Client&);

  /// Adds a burst that wants to enter its queue from cycle `ready` on. `now` must not decrease, and run() must have
  /// been called for all earlier cycles.
  void arrive(Cycle now, Cycle ready, const DramPlace&, bool write, void* owner, uint64_t number);
  /// The next cycle for run(); kNoCycle while there are no requests.
  Cycle next() const { return busy() ? next_ : kNoCycle; }
  /// Executes everything due up to `now`.
  void run(Cycle now);
  bool busy() const { return waiting_[0].count + waiting_[1].count + queued_[0] + queued_[1] > 0; }
  /// Bursts outside the queue.
  size_t waiting(bool write) const { return waiting_[write].count; }
  const DramCounts& counts() const { return counts_; }
  void observe(DramCommandObserver* observer) { observer_ = observer; }
  /// Closes all rows.
  void forget_rows() { banks_.forget_rows(); }
  /// Records the use of the data buses from now on, unless it is recorded already.
  void keep_history(Cycle now);
  const DramHistory& history(uint32_t pc) const { return buses_[pc].history; }
  bool history_is_long() const;
  void forget_before(Cycle);

 private:
  struct Waiting {  // bursts outside the queue, in one direction
    DramRequest *first = nullptr, *last = nullptr;
    size_t count = 0;
  };
  struct List {  // requests of a bank in one direction
    DramRequest *oldest = nullptr, *youngest = nullptr;
    DramRequest* chosen = nullptr;  ///< selected by the scheduler; null: not selected yet
    uint32_t passed = 0;            ///< consecutive requests that passed the oldest
  };
  /// A command and its earliest cycle on its bus.
  struct Plan {
    Cycle start = kNoCycle;
    uint64_t age = 0;  ///< refreshes come before all requests
    DramOp op = DramOp::ACT;
    uint32_t bank = 0, stack = 0;
    DramRequest* request = nullptr;
    bool is_later_than(Cycle s, uint64_t a) const { return s < start || (s == start && a < age); }
    void consider(const Plan& p) {
      if (is_later_than(p.start, p.age)) *this = p;
    }
    void consider(Cycle s, DramRequest& r, DramOp o) {
      if (is_later_than(s, r.age)) *this = {s, r.age, o, r.bank, 0, &r};
    }
  };

  struct Stack {
    Cycle refresh_due = kNoCycle;
    uint32_t refresh_bank = 0;        ///< for per-bank refresh: the next bank of the stack ID
    Cycle single_refresh = kNoCycle;  ///< earliest cycle, once it is due and the bank is closed
    // The last refresh: when banks began to wait for it, and its end.
    Cycle away_from = 0, away_to = 0;
    uint32_t refreshed_bank = 0;  ///< for per-bank refresh: the last bank, of the channel
  };

  /// A pseudo-channel's data bus, and the last burst on it.
  struct Bus {
    DramHistory history;
    bool used = false, write = false;
    Cycle last = 0;
    uint32_t group = 0;  ///< number of its bank group in the channel
  };

  void step(Cycle);
  bool admit(Cycle);
  void enqueue(Cycle, DramRequest&);
  bool forwards(const DramRequest&) const;
  bool choose_direction();
  DramRequest* choose(const List&, Cycle from, int64_t open_row) const;
  void plan(Cycle from);
  bool plan_anew(Cycle from);
  void plan_after(Cycle from, bool row, bool column);
  void plan_arrived(Cycle from);
  template <class Do>
  void for_banks(const Do&) const;
  void look(Cycle from, uint32_t bank);
  void plan_refresh(Cycle from, uint32_t stack);
  void plan_rows(Cycle from);
  void plan_row(Cycle from, uint32_t bank);
  void plan_columns(Cycle from);
  void plan_column(Cycle from, uint32_t bank);
  bool blocked(Cycle from, uint32_t bank) const;
  void issue(const Plan&);
  void issue_column(const Plan&);
  void remember(const Plan&);
  void remember_wait(const Plan&, Bus&, uint32_t group);
  static uint64_t bit(uint32_t bank) { return uint64_t{1} << bank % 64; }
  bool for_row(uint32_t bank) const { return lists_[draining_][bank].oldest && !for_column_[bank]; }
  uint32_t bus_of(const DramPlace& p) const { return index_ * config_.geometry.pseudo_channels + p.pc; }
  bool others_of_row(const DramRequest&) const;
  void remove(DramRequest&);
  void tell(DramOp, Cycle, const DramPlace&) const;
  DramPlace place_of_stack(uint32_t stack) const;
  DramPlace place_of_bank(uint32_t bank) const;

  const DramConfig config_;
  const DramTiming& t_;
  const uint16_t index_;
  const size_t room_[2];                    ///< of the queues: for reads, for writes
  const bool closes_always_, closes_last_;  ///< rows, by the row policy: at each burst, at the last for the row
  Client& client_;
  DramCommandObserver* observer_ = nullptr;
  DramBanks banks_;
  Waiting waiting_[2];  ///< for reads, for writes
  size_t queued_[2] = {};
  std::vector<const DramRequest*> arrived_;  ///< entered the queues in this cycle
  std::deque<DramRequest> requests_;
  std::vector<DramRequest*> idle_requests_;
  std::vector<List> lists_[2];            ///< by bank
  std::vector<uint64_t> active_[2];       ///< one bit for each bank with requests
  std::vector<DramRequest*> columns_;     ///< chosen, with an open row: for the column bus, oldest first
  std::vector<DramRequest*> for_column_;  ///< these by bank, or null
  std::vector<Stack> stacks_;
  const Cycle refresh_interval_;
  Cycle refresh_due_ = kNoCycle;     ///< the next refresh that does not block banks yet
  bool refreshing_ = false;          ///< a refresh is due
  bool draining_ = false;            ///< writes are being served
  uint32_t drained_ = 0;             ///< writes of this drain while reads waited
  uint64_t served_first_ = 0;        ///< reads up to this age are served before the next drain
  size_t owed_ = 0;                  ///< number of these reads that wait
  std::vector<Cycle> forward_free_;  ///< by pseudo-channel: earliest cycle of the write queue's next answer to a read
  Cycle row_free_ = 0, column_free_ = 0;
  Plan row_, column_;
  std::vector<Bus> buses_;  ///< by pseudo-channel; empty: no history is kept
  Cycle next_ = kNoCycle;
  uint64_t age_ = 0;
  DramCounts counts_;
};

}  // namespace kernbench::memory
