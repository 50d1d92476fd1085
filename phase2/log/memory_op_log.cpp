// SPDX-License-Identifier: Apache-2.0
#include "kernbench/phase2/log/memory_op_log.h"

#include <cstdlib>
#include <new>
#include <utility>

#include "kernbench/phase2/memory/bulk_bytes.h"

namespace kernbench::phase2 {
namespace {

constexpr size_t kFirstBytes = 64 * 1024, kBlockBytes = 2 << 20;  // large pages begin at multiples of 2 MiB

bool is_work_by_shape(Stage s) {
  return kind_of(s) != OpKind::memory;
}

}  // namespace

void MemoryOpLog::Free::operator()(Packed* p) const {
  std::free(p);
}

void MemoryOpLog::add_block() {
  const size_t nbytes = blocks_.empty() ? kFirstBytes : kBlockBytes;
  auto* p = static_cast<Packed*>(std::aligned_alloc(nbytes, nbytes));
  if (!p) throw std::bad_alloc();
  if (!blocks_.empty()) blocks_.back().end = next_;
  blocks_.push_back({std::unique_ptr<Packed[], Free>(p), p});
  ask_for_large_pages(p, nbytes);
  next_ = p;
  room_end_ = p + nbytes / sizeof(Packed);
}

void MemoryOpLog::keep_whole(Packed& p, OpRecord&& r) {
  p.op_id = static_cast<uint32_t>(whole_.size());
  p.stage = kWhole;
  whole_.push_back(std::move(r));
}

void MemoryOpLog::record(OpRecord&& r) {
  if (next_ == room_end_) add_block();
  Packed& p = *next_++;
  const TokenInfo& t = r.token;
  const bool by_shape = is_work_by_shape(t.stage);
  // In each row, values that do not fit its fields, including negative numbers, have one of the high bits set.
  const uint64_t beyond_16 = by_shape ? static_cast<uint64_t>(t.n) | static_cast<uint64_t>(t.k) : 0;
  const uint64_t beyond_32 =
      r.op_id | t.composite_op_id | t.buffer_offset | (by_shape ? static_cast<uint64_t>(t.m) : t.bytes);
  const bool more = r.desc || r.pending_on || r.foreign || !r.dependency_ids.empty() || !t.buffer_pieces.empty();
  if (!r.is_token || more || beyond_16 >> 16 || beyond_32 >> 32) {
    return keep_whole(p, std::move(r));
  }
  p.t_start = r.t_start;
  p.t_end = r.t_end;
  p.fed_ns = t.fed_ns;
  p.op_id = static_cast<uint32_t>(r.op_id);
  p.composite_op_id = static_cast<uint32_t>(t.composite_op_id);
  p.component = r.component;
  p.tile_id = t.tile_id;
  p.buffer_offset = static_cast<uint32_t>(t.buffer_offset);
  p.bytes_or_m = static_cast<uint32_t>(by_shape ? static_cast<uint64_t>(t.m) : t.bytes);
  p.n = static_cast<uint16_t>(t.n);
  p.k = static_cast<uint16_t>(t.k);
  p.stage = static_cast<uint32_t>(t.stage);
}

OpRecord MemoryOpLog::unpacked(const Packed& p) {
  OpRecord r;
  r.op_id = p.op_id;
  r.t_start = p.t_start;
  r.t_end = p.t_end;
  r.component = p.component;
  r.is_token = true;
  TokenInfo& t = r.token;
  t.stage = static_cast<Stage>(p.stage);
  t.tile_id = p.tile_id;
  t.composite_op_id = p.composite_op_id;
  t.fed_ns = p.fed_ns;
  t.buffer_offset = p.buffer_offset;
  if (is_work_by_shape(t.stage)) {
    t.m = p.bytes_or_m;
    t.n = p.n;
    t.k = p.k;
  } else {
    t.bytes = p.bytes_or_m;
  }
  return r;
}

const std::vector<OpRecord>& MemoryOpLog::records() const {
  if (blocks_.empty()) return records_;
  blocks_.back().end = next_;
  for (Block& b : blocks_) {
    for (const Packed* p = b.records.get(); p != b.end; ++p) {
      if (p->stage == kWhole) {
        records_.push_back(std::move(whole_[p->op_id]));
      } else {
        records_.push_back(unpacked(*p));
      }
    }
    b.records.reset();
  }
  blocks_.clear();
  whole_.clear();
  next_ = room_end_ = nullptr;
  return records_;
}

}  // namespace kernbench::phase2
