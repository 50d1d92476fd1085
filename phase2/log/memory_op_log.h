// The op log in memory: tokens packed, so that keeping millions of records costs the simulation little.
#pragma once

#include <cstdint>
#include <deque>
#include <memory>
#include <vector>

#include "kernbench/phase2/log/op_record.h"

namespace kernbench {

class MemoryOpLog : public OpLogSink {
 public:
  MemoryOpLog() = default;
  MemoryOpLog(const MemoryOpLog&) = delete;
  MemoryOpLog& operator=(const MemoryOpLog&) = delete;

  void record(OpRecord&&) override;
  /// All records so far, in order of completion; the reference holds until the next record. Unpacks what has come since
  /// the last call: not from two threads at once.
  const std::vector<OpRecord>& records() const;

 private:
  /// A token's record in 56 bytes of its 184; or, at the stage kWhole, the place of any other one, and of a token with
  /// numbers beyond these fields, among whole_.
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

}  // namespace kernbench
