// SPDX-License-Identifier: Apache-2.0
// A DRAM controller without a platform, in cycles. It cuts transfers into bursts, passes them to the channels by the
// address mapping, and reports when each transfer is done. hbm_dram.h attaches it to a platform. Plain C++, no SystemC.
#pragma once

#include <deque>
#include <map>
#include <memory>
#include <vector>

#include "kernbench/systemc_models/fabric/access.h"
#include "kernbench/systemc_models/memory/dram_channel.h"

namespace kernbench::memory {

/// Belongs to its owner and must live until it is done.
struct DramTransfer {
  bool write = false;
  bool atomic = false;  ///< a write whose bursts are read first; each write burst is queued when its data have been
                        ///< read
  uint64_t offset = 0;  ///< its first byte in the memory
  Rows rows;
  Cycle ready = 0;              ///< earliest cycle at which the controller may start it
  Cycle begin = kNoCycle;       ///< actual start
  uint32_t last_bus = 0;        ///< data bus of the burst that was done last
  Cycle done = 0;               ///< for a read: all data have arrived; for a write: all bursts are in their queues
  uint64_t open = 1;            ///< unfinished bursts, plus 1 until it is completely cut
  void* context = nullptr;      ///< for the owner
  Cycle first_data = kNoCycle;  ///< for a read: arrival of the first burst
  uint64_t came = 0;            ///< for a read: number of bytes that have arrived without a gap
  Cycle came_at = 0;            ///< arrival of the last of them
  // Progress of cutting, and arrived bursts of a read.
  uint64_t row = 0, at = 0, cut = 0;  ///< next position: row, bytes in it; bursts
  uint64_t bytes_cut = 0;
  struct Burst {
    uint64_t bytes;
    Cycle end;
  };
  std::deque<Burst> bursts;       ///< from the first one that has not arrived
  uint64_t first_burst = 0;       ///< its number
  std::vector<DramPlace> places;  ///< of an atomic's bursts, by number
  bool reads() const { return !write || atomic; }
};

class DramController : private DramChannel::Client {
 public:
  DramController(const DramConfig&, const std::string& mapping);

  static constexpr uint64_t kAll = ~uint64_t{0};
  /// The first `bytes` of a transfer may be cut into bursts. Call it repeatedly for a write whose data arrive
  /// gradually, finally with kAll. `now` must not decrease, and run() must have been called for all earlier cycles.
  void submit(DramTransfer&, Cycle now, uint64_t bytes = kAll);
  /// The next cycle for run(); kNoCycle: none.
  Cycle next() const;
  /// Executes everything due up to `now`. Returns the transfers whose end is now known, in the order in which it became
  /// known.
  const std::vector<DramTransfer*>& run(Cycle now);
  /// The reads for which the last run() found further arrived bytes.
  const std::vector<DramTransfer*>& came() const { return came_; }
  const DramConfig& config() const { return config_; }
  const DramMapping& mapping() const { return *mapping_; }
  DramCounts counts() const;
  void observe(DramCommandObserver*);
  /// Closes all rows.
  void forget_rows();

  // Use of the data buses, for observers (dram_history.h). Buses are numbered channel by channel.
  /// Records it from now on, unless it is recorded already.
  void keep_history(Cycle now);
  DramTimes spent(uint32_t bus, Cycle from, Cycle to) const;
  bool history_is_long() const;
  void forget_before(Cycle);

 private:
  static constexpr size_t kCutAhead = 4096;  ///< reads, or writes, that wait for the queues; later ones are not cut yet
  static constexpr uint64_t kWritesBack = ~uint64_t{0};  ///< number for the write bursts of an atomic
  void cut(Cycle now, bool write);
  struct Piece {
    DramTransfer* transfer;
    uint64_t bytes;  ///< limit up to which it may be cut
  };
  bool cut_one(const Piece&, Cycle now);
  DramPlace place_of(uint64_t offset) const;
  void end_of(DramTransfer&);
  void write_back(Cycle now);
  void burst_begins(void* owner, Cycle) override;
  void burst_done(void* owner, uint64_t number, uint32_t bus, Cycle) override;

  const DramConfig config_;
  const std::unique_ptr<const DramMapping> mapping_;
  std::vector<std::unique_ptr<DramChannel>> channels_;
  std::deque<Piece> uncut_[2];  ///< reads, writes
  std::vector<DramTransfer*> ended_, told_, came_;
  /// For atomics: bursts to write in the cycle in which their data have been read.
  struct WriteBack {
    DramTransfer* transfer;
    uint64_t number;
  };
  std::multimap<Cycle, WriteBack> to_write_back_;
};

}  // namespace kernbench::memory
