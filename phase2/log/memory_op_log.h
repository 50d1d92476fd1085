// SPDX-License-Identifier: Apache-2.0
// The op log in memory. Tokens are packed, so that millions of records cost little memory and time.
#pragma once

#include <cstdint>
#include <deque>
#include <memory>
#include <vector>

#include "kernbench/phase2/log/op_record.h"

namespace kernbench::phase2 {

class MemoryOpLog : public OpLogSink {
 public:
  MemoryOpLog() = default;
  MemoryOpLog(const MemoryOpLog&) = delete;
  MemoryOpLog& operator=(const MemoryOpLog&) = delete;

  void record(OpRecord&&) override;
  /// All records so far, in order of completion; valid until the next record. Unpacks the records since the last call,
  /// so two threads must not call it at the same time.
  const std::vector<OpRecord>& records() const;

 private:
  /// A token's record in 56 bytes instead of 184. With the stage kWhole, it is an index into whole_, for other records
  /// and for tokens whose numbers do not fit.
  struct Packed {
    double t_start, t_end, fed_ns;
    uint32_t op_id, composite_op_id, component, tile_id, buffer_offset;
    uint32_t bytes_or_m;
    uint16_t n, k;
    uint32_t stage;
  };
  static constexpr uint32_t kWhole = kMostStages;
  struct Free {
    void operator()(Packed* p) const;
  };
  struct Block {
    std::unique_ptr<Packed[], Free> records;
    Packed* end;
  };
  static OpRecord unpacked(const Packed&);
  void add_block();
  [[gnu::noinline]] void keep_whole(Packed&, OpRecord&&);

  mutable std::vector<OpRecord> records_;
  mutable std::vector<Block> blocks_;
  mutable std::deque<OpRecord> whole_;
  mutable Packed* next_ = nullptr;
  mutable Packed* room_end_ = nullptr;
};

}  // namespace kernbench::phase2
