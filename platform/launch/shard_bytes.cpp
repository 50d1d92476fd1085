// SPDX-License-Identifier: Apache-2.0
#include "kernbench/platform/launch/shard_bytes.h"

#include <deque>
#include <memory>

#include "kernbench/phase2/memory/bulk_bytes.h"

namespace kernbench::launch {
namespace {

void write_shard(const ShardPlan& plan, uint32_t p, const ElementSource& source, uint8_t* to) {
  for_each_run(plan, p, [&](int64_t in_whole, int64_t in_shard, int64_t count) {
    source(in_whole, count, to + static_cast<size_t>(in_shard) * size_of(plan.dtype));
  });
}

/// The buffer of some shards, initially without contents.
class LaterShards {
 public:
  LaterShards(const ShardPlan& plan, const std::vector<uint32_t>& shards, const ElementSource& source)
      : plan_(plan), source_(source) {
    uint64_t total = 0;
    for (const uint32_t p : shards) total += plan_.nbytes(p);
    buffer_.reset(new uint8_t[total]);
    ask_for_large_pages(buffer_.get(), total);
    uint8_t* to = buffer_.get();
    for (const uint32_t p : shards) {
      shards_.emplace_back(*this, p, to);
      to += plan_.nbytes(p);
    }
  }

  /// Each shard shares this buffer.
  std::vector<SharedBytes> all(const std::shared_ptr<const LaterShards>& self) const {
    std::vector<SharedBytes> bytes;
    for (const Shard& s : shards_) bytes.push_back({self, s.to, plan_.nbytes(s.number), &s});
    return bytes;
  }

 private:
  struct Shard final : LaterBytes {
    Shard(const LaterShards& all_of_them, uint32_t shard, uint8_t* begin)
        : all(all_of_them), number(shard), to(begin) {}
    void fill() const override { write_shard(all.plan_, number, all.source_, to); }
    const LaterShards& all;
    uint32_t number;
    uint8_t* to;
  };
  ShardPlan plan_;
  ElementSource source_;
  std::unique_ptr<uint8_t[]> buffer_;
  std::deque<Shard> shards_;
};

}  // namespace

std::vector<SharedBytes> later_shard_bytes(const ShardPlan& plan, const std::vector<uint32_t>& shards,
                                           const ElementSource& source) {
  const auto later = std::make_shared<const LaterShards>(plan, shards, source);
  return later->all(later);
}

std::vector<SharedBytes> shard_bytes(const ShardPlan& plan, const std::vector<uint32_t>& shards,
                                     const ElementSource& source) {
  std::vector<SharedBytes> all = later_shard_bytes(plan, shards, source);
  for (SharedBytes& bytes : all) {
    bytes.data();
    bytes.later = nullptr;
  }
  return all;
}

}  // namespace kernbench::launch
