// SPDX-License-Identifier: Apache-2.0
// Byte-addressed memory of a simulated system (data rules §1, §2).
//
// Each space is a sparse 64-bit address range; each PE has its own range for TCM. The state is in bytes. A range is
// unwritten, real (has bytes) or pending (an op makes its bytes in Phase 2). Storage is a map of extents that refer to
// shared immutable buffers. So placing, loading and snapshotting copies no bulk data; a write into part of an extent
// splits it.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <iterator>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "kernbench/phase2/memory/blocked_map.h"
#include "kernbench/phase2/op/op.h"

namespace kernbench::phase2 {

/// Bytes that are produced on first access, by any thread.
class LaterBytes {
 public:
  virtual ~LaterBytes() = default;
  void make() const {
    if (made_.load(std::memory_order_acquire)) return;
    const std::lock_guard lock(filling_);
    if (made_.load(std::memory_order_relaxed)) return;
    fill();
    made_.store(true, std::memory_order_release);
  }

 private:
  virtual void fill() const = 0;
  mutable std::mutex filling_;
  mutable std::atomic<bool> made_{false};
};

/// A buffer that extents share. `hold` owns the bytes.
struct SharedBytes {
  std::shared_ptr<const void> hold;
  const uint8_t* place = nullptr;  ///< first byte; use data() to read it
  uint64_t size = 0;
  const LaterBytes* later = nullptr;  ///< in `hold`: produces all bytes; null: they exist
  const uint8_t* data() const {
    if (later) later->make();
    return place;
  }
  SharedBytes part(uint64_t offset, uint64_t nbytes) const { return {hold, place + offset, nbytes, later}; }
  static SharedBytes copy_of(const void* p, uint64_t n);
  /// A new buffer, initially undefined; `fill(uint8_t*)` writes all bytes.
  template <class F>
  static SharedBytes made_by(uint64_t n, const F& fill) {
    std::shared_ptr<uint8_t[]> buffer(new uint8_t[n]);
    fill(buffer.get());
    return {std::shared_ptr<const void>(buffer, buffer.get()), buffer.get(), n};
  }
  static SharedBytes take(Bytes&& b);
};

/// The op that will compute the bytes of a pending range (not the store that moves them).
struct PendingSource {
  std::shared_ptr<const OpDesc> producer;
  uint64_t offset = 0;  ///< offset of the range's first byte in the producer's (contiguous) output
};

class MemoryImage {
 public:
  struct SpaceKey {
    Space space = Space::hbm;
    uint32_t pe = kNoPe;
    bool operator<(const SpaceKey& o) const { return space != o.space ? space < o.space : pe < o.pe; }
    bool operator==(const SpaceKey& o) const { return space == o.space && pe == o.pe; }
  };
  static SpaceKey key_of(const TensorRef& r) { return {r.space, r.pe}; }

  enum class State { real, pending, unwritten };
  /// State of a range: unwritten if any byte is unwritten, else pending if any byte is pending, else real.
  struct RangeState {
    State state = State::real;
    uint64_t first_bad = 0;                  ///< address of the first unwritten or pending byte
    std::shared_ptr<const OpDesc> producer;  ///< of the first pending byte
  };
  RangeState state_of(SpaceKey, uint64_t addr, uint64_t nbytes) const;
  /// The same over all rows of a (strided) tensor.
  RangeState state_of(const TensorRef&) const;

  /// Makes [addr, addr + n) real. The overload with a shared buffer copies nothing.
  void write(SpaceKey, uint64_t addr, const void* bytes, uint64_t n);
  void write_shared(SpaceKey, uint64_t addr, SharedBytes bytes);
  /// Makes the range pending.
  void bind_pending(SpaceKey, uint64_t addr, uint64_t n, PendingSource);
  /// Removes the range (a freed TCM allocation).
  void erase(SpaceKey, uint64_t addr, uint64_t n);

  /// Copies real bytes out; unwritten bytes read as `fill`. std::logic_error for a pending byte.
  void read(SpaceKey, uint64_t addr, void* out, uint64_t n, uint8_t fill = 0) const;
  /// A pointer to the bytes if one extent holds all of them and they are real, else null.
  const uint8_t* view(SpaceKey, uint64_t addr, uint64_t n) const;
  /// Whether view() is not null, without access to the bytes.
  bool is_one_real_extent(SpaceKey key, uint64_t addr, uint64_t n) const {
    return extent_with(key, addr, n).first != nullptr;
  }
  /// Elements of a strided tensor in row-major order. std::logic_error for a pending byte.
  Bytes gather(const TensorRef&) const;
  /// The same into t.nbytes() bytes at `to`.
  void gather(const TensorRef& t, uint8_t* to) const;

  /// For a tensor whose rows lie in one real extent: the result of gather(), produced on first access. Empty (size 0)
  /// for other tensors.
  SharedBytes gathered_later(const TensorRef&) const;

  /// Copies the state (real, pending or unwritten) of `from` to `to`, row by row, sharing buffers: the effect of a load
  /// or store. Both have the same number of bytes.
  void transfer(const TensorRef& from, const TensorRef& to);

  /// An independent copy that shares all buffers.
  MemoryImage snapshot() const { return *this; }

  /// "nearest written range: [0x…, 0x…)" for error messages; empty if nothing is written in that space.
  std::string nearest(SpaceKey, uint64_t addr) const;

  class List;
  /// Contents of a range: real bytes, a part of an op's future output, or a part of a list of such pieces. Many ranges
  /// may share a list. for_each_piece() visits the pieces, never a list.
  class Extent {
   public:
    explicit Extent(SharedBytes bytes)
        : hold_(std::move(bytes.hold)), place_(bytes.place), later_(bytes.later), size_(bytes.size) {}
    Extent(PendingSource source, uint64_t size)
        : hold_(std::move(source.producer)), offset_(source.offset), size_(size), kind_(Kind::pending) {}
    Extent(std::shared_ptr<const List> list, uint64_t offset, uint64_t size)
        : hold_(std::move(list)), offset_(offset), size_(size), kind_(Kind::list) {}

    uint64_t size() const { return size_; }
    bool real() const { return kind_ == Kind::real; }
    /// For real bytes: the first byte. The extent keeps them alive.
    const uint8_t* data() const {
      if (later_) later_->make();
      return place_;
    }
    const std::shared_ptr<const void>& hold() const { return hold_; }
    SharedBytes bytes() const { return {hold_, place_, size_, later_}; }
    /// For pending bytes: the op that makes them; else null.
    const OpDesc* producer() const {
      return kind_ == Kind::pending ? static_cast<const OpDesc*>(hold_.get()) : nullptr;
    }
    std::shared_ptr<const OpDesc> shared_producer() const {
      return kind_ == Kind::pending ? std::static_pointer_cast<const OpDesc>(hold_) : nullptr;
    }
    const List* list() const { return kind_ == Kind::list ? static_cast<const List*>(hold_.get()) : nullptr; }
    /// Offset of its first byte in the producer's output or in the list.
    uint64_t offset() const { return offset_; }

    /// The `part_size` bytes from `offset`.
    Extent part(uint64_t offset, uint64_t part_size) const;
    void drop_front(uint64_t n);
    void resize(uint64_t n) { size_ = n; }
    /// Whether b continues it seamlessly: in the same buffer, list or producer's output.
    bool goes_on_in(const Extent& b) const;

   private:
    enum class Kind : uint8_t { real, pending, list };
    std::shared_ptr<const void> hold_;  ///< a buffer's owner, an OpDesc or a List
    union {
      const uint8_t* place_;
      uint64_t offset_;
    };
    const LaterBytes* later_ = nullptr;
    uint64_t size_ = 0;
    Kind kind_ = Kind::real;
  };
  using Extents = BlockedMap<Extent>;

  /// Calls f(addr, nbytes, extent, offset in extent) for the pieces of a range in address order; `extent` is null for
  /// unwritten pieces.
  template <class F>
  void for_each_piece(SpaceKey, uint64_t addr, uint64_t nbytes, F&& f) const;
  /// The same for all written pieces of a space, and for all spaces with written pieces.
  template <class F>
  void for_each_piece(SpaceKey, F&& f) const;
  std::vector<SpaceKey> spaces() const;
  /// The same for the stored extents of a range, including lists.
  template <class F>
  void for_each_extent(SpaceKey, uint64_t addr, uint64_t nbytes, F&& f) const;

  /// Stores the extent at [addr, addr + extent.size()).
  void place(SpaceKey, uint64_t addr, Extent);

  /// Removes a complete space (the TCM of a PE, after a run).
  void drop(SpaceKey key) { spaces_.erase(key); }

  /// Number of extents over all spaces, after splits and merges.
  size_t extent_count() const;

 private:
  struct HashOfSpace {
    size_t operator()(SpaceKey k) const { return k.pe + (static_cast<size_t>(k.space) << 32); }
  };
  const Extents* find(SpaceKey) const;
  /// The real extent that holds the complete range (null if there is none), and the range's offset in it.
  std::pair<const Extent*, uint64_t> extent_with(SpaceKey, uint64_t addr, uint64_t n) const;
  void put(Extents&, uint64_t addr, Extent&&);
  void absorb_small(Extents&, uint64_t addr);

  std::unordered_map<SpaceKey, Extents, HashOfSpace> spaces_;
};

/// A sequence of pieces, with holes where nothing is written. Immutable. Ranges that were copied from one another share
/// it, so each costs one extent.
class MemoryImage::List {
 public:
  struct Piece {
    uint64_t offset;  ///< offset of its first byte in the list
    Extent extent;
  };
  /// The contents of a range. Nested lists are flattened beyond a certain depth.
  List(const MemoryImage&, SpaceKey, uint64_t addr, uint64_t nbytes);
  /// From pieces without holes and without lists.
  explicit List(std::vector<Piece> pieces) : pieces_(std::move(pieces)) {}
  /// Up to this many pieces are stored separately in a memory; more become a list.
  static constexpr size_t kFew = 4;

  /// The stored pieces that overlap [offset, offset + nbytes).
  std::pair<const Piece*, const Piece*> within(uint64_t offset, uint64_t nbytes) const;
  /// Whether every byte is written.
  bool whole() const { return whole_; }
  /// Calls f(addr, nbytes, extent, offset in extent) for the pieces of [offset, offset + nbytes), placed from `addr`
  /// on. Nested lists are resolved.
  template <class F>
  void for_each_piece(uint64_t offset, uint64_t nbytes, uint64_t addr, const F& f) const;

 private:
  static constexpr uint32_t kDeepest = 16;
  std::vector<Piece> pieces_;
  uint32_t depth_ = 1;
  bool whole_ = true;
};

/// Calls f for a part of an extent, or for the pieces of its list.
template <class F>
void for_each_piece_of(const MemoryImage::Extent& e, uint64_t offset, uint64_t nbytes, uint64_t addr, const F& f) {
  if (const MemoryImage::List* list = e.list()) {
    list->for_each_piece(e.offset() + offset, nbytes, addr, f);
  } else {
    f(addr, nbytes, &e, offset);
  }
}

template <class F>
void MemoryImage::List::for_each_piece(uint64_t offset, uint64_t nbytes, uint64_t addr, const F& f) const {
  const auto [first, last] = within(offset, nbytes);
  const uint64_t end = offset + nbytes;
  uint64_t at = offset;
  for (const Piece* p = first; p != last; ++p) {
    if (p->offset > at) f(addr + (at - offset), p->offset - at, static_cast<const Extent*>(nullptr), uint64_t{0});
    at = std::max(at, p->offset);
    const uint64_t n = std::min(end, p->offset + p->extent.size()) - at;
    for_each_piece_of(p->extent, at - p->offset, n, addr + (at - offset), f);
    at += n;
  }
  if (at < end) f(addr + (at - offset), end - at, static_cast<const Extent*>(nullptr), uint64_t{0});
}

template <class F>
void MemoryImage::for_each_piece(SpaceKey key, uint64_t addr, uint64_t nbytes, F&& f) const {
  for_each_extent(key, addr, nbytes, [&](uint64_t at, uint64_t n, const Extent* e, uint64_t offset) {
    if (e) {
      for_each_piece_of(*e, offset, n, at, f);
    } else {
      f(at, n, e, offset);
    }
  });
}

template <class F>
void MemoryImage::for_each_piece(SpaceKey key, F&& f) const {
  const Extents* extents = find(key);
  if (!extents) return;
  for (const auto& [addr, e] : *extents) for_each_piece_of(e, 0, e.size(), addr, f);
}

template <class F>
void MemoryImage::for_each_extent(SpaceKey key, uint64_t addr, uint64_t nbytes, F&& f) const {
  const Extents* extents = find(key);
  uint64_t at = addr, left = nbytes;
  if (extents) {
    auto it = extents->upper_bound(at);
    if (it != extents->begin()) {
      const auto before = std::prev(it);
      if (at - before->first < before->second.size()) it = before;
    }
    for (; left && it != extents->end() && (it->first < addr || it->first - addr < nbytes); ++it) {
      if (it->first > at) {
        f(at, it->first - at, static_cast<const Extent*>(nullptr), uint64_t{0});
        left -= it->first - at;
        at = it->first;
      }
      const uint64_t offset = at - it->first;
      const uint64_t n = std::min(left, it->second.size() - offset);
      f(at, n, &it->second, offset);
      at += n;
      left -= n;
    }
  }
  if (left) f(at, left, static_cast<const Extent*>(nullptr), uint64_t{0});
}

/// The immediate effects of data rules §1 on memory. Called for stores, composites and compute ops at their submission,
/// for loads at their completion, and for atomics when they take effect at their memory. Returns whether Phase 2 must
/// run the op. That holds for compute ops, and for loads and stores that cannot be done by moving bytes: with a pending
/// mask, or with a pending source under a mask or in short strided rows. Their output range is then pending, with the
/// op as producer. Callers must check errors (unwritten source of a load) first, with state_of(). std::invalid_argument
/// for different sizes.
bool apply_effect(const std::shared_ptr<const OpDesc>&, MemoryImage&);
/// The same; a load of real rows shorter than `share_from` bytes copies them into one buffer instead of sharing each
/// row.
bool apply_effect(const std::shared_ptr<const OpDesc>&, MemoryImage&, uint64_t share_from);

}  // namespace kernbench::phase2
