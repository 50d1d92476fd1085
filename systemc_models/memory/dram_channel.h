// SPDX-License-Identifier: Apache-2.0
// Models: a DRAM channel with its controller: two bounded queues, writes that wait until they are drained, a row bus
// and a column bus that the channel's pseudo-channels share, refresh. It goes from command to command: what it does
// next and when follows from the earliest cycles that DramBanks knows, so cycles without a command cost nothing. Does
// not model: power-down, ECC, refresh commands that are postponed or pulled in. Plain C++: no SystemC here.
#pragma once

#include <memory>
#include <vector>

#include "kernbench/systemc_models/core/ring.h"
#include "kernbench/systemc_models/memory/dram_history.h"
#include "kernbench/systemc_models/memory/dram_policies.h"

namespace kernbench::memory {

/// Bursts in a channel's queues. Writes are drained from `write_high` on, or where no read waits, until at most
/// `write_low` are left and a read waits, or none is. While reads wait a drain sends at most `drain` writes, and the
/// next one begins only when the reads that waited at its end have been served.
struct DramQueues {
  uint32_t reads = 64, writes = 64;
  uint32_t write_high = 48, write_low = 16;
  uint32_t drain = 32;
};

/// Who is not passed over for ever. A bank works for its oldest request, whatever the scheduler says, once `row_hits`
/// others have gone before it, or where it has waited for `max_age` cycles.
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

/// What has been done; commands, and bursts. A burst that hit found its row open when it was first considered.
struct DramCounts {
  uint64_t reads = 0, writes = 0, activates = 0, precharges = 0, refreshes = 0, bank_refreshes = 0;
  uint64_t row_hits = 0, row_misses = 0, row_conflicts = 0;
  uint64_t forwarded = 0;  ///< reads that the write queue answered
  DramCounts& operator+=(const DramCounts&);
};

class DramChannel {
 public:
  /// Who is told what becomes of bursts.
  class Client {
   public:
    virtual ~Client() = default;
    /// The controller works for the burst from this cycle on: its first command, a write's place in the queue.
    virtual void burst_begins(void* owner, Cycle) = 0;
    /// A read's data have come, at a cycle not before the present; a write has its place in the queue. `bus`: number of
    /// its data bus in the memory.
    virtual void burst_done(void* owner, uint64_t number, uint32_t bus, Cycle) = 0;
  };

  /// `index`: of the channel in its memory.
  DramChannel(const DramConfig&, uint16_t index, Client&);

  /// A burst that wants a place in its queue from cycle `ready` on. `now` never goes back; all that was due before it
  /// has been done.
  void arrive(Cycle now, Cycle ready, const DramPlace&, bool write, void* owner, uint64_t number);
  /// When run() is to be called: kNoCycle while nobody asks anything of it.
  Cycle next() const { return busy() ? next_ : kNoCycle; }
  /// Does what is due up to `now`.
  void run(Cycle now);
  bool busy() const { return waiting_[0].size() + waiting_[1].size() + queued_[0] + queued_[1] > 0; }
  /// Bursts without a place in a queue.
  size_t waiting(bool write) const { return waiting_[write].size(); }
  const DramCounts& counts() const { return counts_; }
  void observe(DramCommandObserver* observer) { observer_ = observer; }
  /// All rows are closed.
  void forget_rows() { banks_.forget_rows(); }
  /// What the data buses do from now on, unless it is kept already.
  void keep_history(Cycle now);
  const DramHistory& history(uint32_t pc) const { return buses_[pc].history; }
  bool history_is_long() const;
  void forget_before(Cycle);

 private:
  struct Waiting {
    Cycle ready;
    DramPlace place;
    void* owner;
    uint64_t number;
  };
  struct List {  // of a bank's requests in one direction
    DramRequest *oldest = nullptr, *youngest = nullptr;
    DramRequest* chosen = nullptr;  ///< by the scheduler; null: it is to be asked
    uint32_t passed = 0;            ///< requests that have gone before the oldest, one after the other
  };
  struct Stack {
    Cycle refresh_due = kNoCycle;
    uint32_t refresh_bank = 0;        ///< per bank: the next one, of the stack ID
    Cycle single_refresh = kNoCycle;  ///< when it can go, once it is due and the bank is closed
    // The last refresh: since when banks waited for it, and until when.
    Cycle away_from = 0, away_to = 0;
    uint32_t refreshed_bank = 0;  ///< per bank: the last one, of the channel
  };
  /// A command, and when it can go onto its bus.
  struct Plan {
    Cycle start = kNoCycle;
    uint64_t age = 0;  ///< refreshes before all requests
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

  /// A pseudo-channel's data bus, and the last burst on it.
  struct Bus {
    DramHistory history;
    bool used = false, write = false;
    Cycle last = 0;
    uint32_t group = 0;  ///< number of its bank group in the channel
  };

  void step(Cycle);
  bool admit(Cycle);
  void enqueue(Cycle, const Waiting&, bool write);
  bool forwards(const DramPlace&) const;
  void choose_direction();
  DramRequest* choose(const List&, Cycle from, int64_t open_row) const;
  void plan(Cycle from);
  void plan_in_direction(Cycle from);
  void plan_after(Cycle from, bool row, bool column);
  void plan_rows(Cycle from);
  void plan_columns(Cycle from);
  template <class These, class Do>
  void for_banks(const These&, const Do&) const;
  void plan_arrived(Cycle from);
  void plan_refresh(Cycle from, uint32_t stack);
  void plan_bank(Cycle from, uint32_t bank);
  bool blocked(Cycle from, uint32_t bank) const;
  void issue(const Plan&);
  void issue_column(const Plan&);
  void remember(const Plan&);
  void remember_wait(const Plan&, Bus&, uint32_t group);
  uint32_t bus_of(const DramPlace& p) const { return index_ * config_.geometry.pseudo_channels + p.pc; }
  bool others_of_row(const DramRequest&) const;
  void remove(DramRequest&);
  void tell(DramOp, Cycle, const DramPlace&) const;
  DramPlace place_of_stack(uint32_t stack) const;
  DramPlace place_of_bank(uint32_t bank) const;

  const DramConfig config_;
  const DramTiming& t_;
  const uint16_t index_;
  Client& client_;
  DramCommandObserver* observer_ = nullptr;
  DramBanks banks_;
  Ring<Waiting> waiting_[2];  ///< reads, writes
  size_t queued_[2] = {};
  std::vector<const DramRequest*> arrived_;  ///< into the queues, at this cycle
  std::vector<DramRequest> requests_;
  std::vector<DramRequest*> idle_requests_;
  std::vector<List> lists_[2];        ///< by bank
  std::vector<uint64_t> active_[2];   ///< a bit for each bank that has requests
  std::vector<uint64_t> for_column_;  ///< of those planned: whose next command is for the column bus
  std::vector<Cycle> column_floor_;   ///< by stack ID, while the column bus is planned
  std::vector<uint64_t> column_age_;  ///< of such a bank: its request's
  std::vector<Stack> stacks_;
  const Cycle refresh_interval_;
  Cycle refresh_due_ = kNoCycle;     ///< the next one that does not block banks yet
  bool refreshing_ = false;          ///< one is due
  bool draining_ = false;            ///< writes are served
  uint32_t drained_ = 0;             ///< by this drain, while reads waited
  uint64_t served_first_ = 0;        ///< reads up to this age, before the next drain
  size_t owed_ = 0;                  ///< so many of them wait
  std::vector<Cycle> forward_free_;  ///< by pseudo-channel: when the write queue can answer the next read
  Cycle row_free_ = 0, column_free_ = 0;
  Plan row_, column_;
  std::vector<Bus> buses_;  ///< by pseudo-channel; empty: nothing is remembered
  Cycle next_ = kNoCycle;
  uint64_t age_ = 0;
  DramCounts counts_;
};

}  // namespace kernbench::memory
