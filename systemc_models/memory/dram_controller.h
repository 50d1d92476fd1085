// SPDX-License-Identifier: Apache-2.0
// A DRAM controller by itself, in cycles: cuts transfers into bursts, hands them to the channels by the address
// mapping, and says when each transfer is done. hbm_dram.h puts it onto a platform. Plain C++: no SystemC here.
#pragma once

#include <deque>
#include <map>
#include <memory>
#include <vector>

#include "kernbench/systemc_models/fabric/access.h"
#include "kernbench/systemc_models/memory/dram_channel.h"

namespace kernbench::memory {

/// Of its owner; alive until it is done.
struct DramTransfer {
  bool write = false;
  bool atomic = false;  ///< a write whose bursts are read before: each asks for its place when its data have come
  uint64_t offset = 0;  ///< of its first byte in the memory
  Rows rows;
  Cycle ready = 0;              ///< when the controller may begin with it
  Cycle begin = kNoCycle;       ///< when it did
  uint32_t last_bus = 0;        ///< data bus of the burst that was done last
  Cycle done = 0;               ///< data of a read have come, a write's all have a place in their queues
  uint64_t open = 1;            ///< bursts that are not done; 1 more while it is not cut to its end
  void* context = nullptr;      ///< the owner's
  Cycle first_data = kNoCycle;  ///< of a read: when the first burst has come
  uint64_t came = 0;            ///< of a read: all bytes before have come
  Cycle came_at = 0;            ///< when the last of them did
  // How it is cut, and which of a read's bursts have come.
  uint64_t row = 0, at = 0, cut = 0;  ///< how far it has been cut: row, bytes of it; bursts
  uint64_t bytes_cut = 0;
  struct Burst {
    uint64_t bytes;
    Cycle end;
  };
  std::deque<Burst> bursts;       ///< from the first on that has not come
  uint64_t first_burst = 0;       ///< its number
  std::vector<DramPlace> places;  ///< of an atomic's bursts, by number
  bool reads() const { return !write || atomic; }
};

class DramController : private DramChannel::Client {
 public:
  DramController(const DramConfig&, const std::string& mapping);

  static constexpr uint64_t kAll = ~uint64_t{0};
  /// All of a transfer before `bytes` may be cut into bursts; of a write whose data come bit by bit several times, with
  /// kAll at last. `now`: never goes back. What was due before it has been done.
  void submit(DramTransfer&, Cycle now, uint64_t bytes = kAll);
  /// When run() is to be called; kNoCycle: never.
  Cycle next() const;
  /// Does what is due up to `now`; the transfers whose end is known now, in the order in which that came to be known.
  const std::vector<DramTransfer*>& run(Cycle now);
  /// The reads of which more bytes have come to be known by the last run().
  const std::vector<DramTransfer*>& came() const { return came_; }
  const DramConfig& config() const { return config_; }
  const DramMapping& mapping() const { return *mapping_; }
  DramCounts counts() const;
  void observe(DramCommandObserver*);
  /// All rows are closed.
  void forget_rows();

  // What the data buses did, for observers (dram_history.h); numbered channel by channel.
  /// From now on, unless it is kept already.
  void keep_history(Cycle now);
  DramTimes spent(uint32_t bus, Cycle from, Cycle to) const;
  bool history_is_long() const;
  void forget_before(Cycle);

 private:
  static constexpr size_t kCutAhead =
      4096;  ///< reads, or writes, that wait for places in queues; what is behind is not cut yet
  static constexpr uint64_t kWritesBack = ~uint64_t{0};  ///< the number of an atomic's bursts when they are written
  void cut(Cycle now, bool write);
  struct Piece {
    DramTransfer* transfer;
    uint64_t bytes;  ///< up to which it may be cut
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
  /// Of atomics: bursts that are to be written when their data have come, by that cycle.
  struct WriteBack {
    DramTransfer* transfer;
    uint64_t number;
  };
  std::multimap<Cycle, WriteBack> to_write_back_;
};

}  // namespace kernbench::memory
