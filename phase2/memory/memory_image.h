// Byte-addressed memory of a simulated system (data contract §1, §2).
//
// Every space is a sparse 64-bit address range; TCM is one such range per PE. Canonical state is bytes.
// A range is unwritten, real (has bytes) or pending (an op will make its bytes in Phase 2). Storage is a
// map of extents that refer to shared immutable buffers, so that placing, loading and snapshotting bulk
// data copies nothing; a write into part of an extent splits it.
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

namespace kernbench {

/// Bytes that are made when they are first looked at, by whatever thread.
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

/// A buffer that extents share. `hold` keeps whatever owns the bytes alive.
struct SharedBytes {
  std::shared_ptr<const void> hold;
  const uint8_t* place = nullptr;  ///< of the first byte; read by data()
  uint64_t size = 0;
  const LaterBytes* later = nullptr;  ///< in `hold`: makes them all; null: they are there
  const uint8_t* data() const {
    if (later) later->make();
    return place;
  }
  SharedBytes part(uint64_t offset, uint64_t nbytes) const { return {hold, place + offset, nbytes, later}; }
  static SharedBytes copy_of(const void* p, uint64_t n);
  /// A new buffer, its bytes whatever the memory holds; `fill(uint8_t*)` writes all of them.
  template <class F>
  static SharedBytes made_by(uint64_t n, const F& fill) {
    std::shared_ptr<uint8_t[]> buffer(new uint8_t[n]);
    fill(buffer.get());
    return {std::shared_ptr<const void>(buffer, buffer.get()), buffer.get(), n};
  }
  static SharedBytes take(Bytes&& b);
};

/// Who will make the bytes of a pending range: the op that computes them (not the store that moves them).
struct PendingSource {
  std::shared_ptr<const OpDesc> producer;
  uint64_t offset = 0;  ///< of the range's first byte in the producer's (contiguous) output
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
  /// State of a range: unwritten if any byte is, else pending if any byte is, else real.
  struct RangeState {
    State state = State::real;
    uint64_t first_bad = 0;                  ///< address of the first unwritten or pending byte
    std::shared_ptr<const OpDesc> producer;  ///< of the first pending byte
  };
  RangeState state_of(SpaceKey, uint64_t addr, uint64_t nbytes) const;
  /// The same over every row of a (strided) tensor.
  RangeState state_of(const TensorRef&) const;

  /// Makes [addr, addr + n) real. The shared form copies nothing.
  void write(SpaceKey, uint64_t addr, const void* bytes, uint64_t n);
  void write_shared(SpaceKey, uint64_t addr, SharedBytes bytes);
  /// Makes the range pending.
  void bind_pending(SpaceKey, uint64_t addr, uint64_t n, PendingSource);
  /// Forgets the range (a freed TCM allocation).
  void erase(SpaceKey, uint64_t addr, uint64_t n);

  /// Copies real bytes out; unwritten bytes read as `fill`. Throws std::logic_error on a pending byte.
  void read(SpaceKey, uint64_t addr, void* out, uint64_t n, uint8_t fill = 0) const;
  /// A pointer to the bytes where one extent holds them all and they are real, else null.
  const uint8_t* view(SpaceKey, uint64_t addr, uint64_t n) const;
  /// Whether there is one, without a look at the bytes.
  bool is_one_real_extent(SpaceKey key, uint64_t addr, uint64_t n) const {
    return extent_with(key, addr, n).first != nullptr;
  }
  /// Elements of a strided tensor gathered in row-major order. Throws std::logic_error on a pending byte.
  Bytes gather(const TensorRef&) const;
  /// The same into t.nbytes() bytes at `to`.
  void gather(const TensorRef& t, uint8_t* to) const;

  /// Of a tensor whose rows lie in one real extent: what gather() gives, made at the first look. Empty (no size) where
  /// they do not.
  SharedBytes gathered_later(const TensorRef&) const;

  /// Moves state (real, pending or unwritten) of `from` to `to` element row by element row, sharing buffers: the
  /// effect of a load or of a store on memory. Both have the same number of bytes.
  void transfer(const TensorRef& from, const TensorRef& to);

  /// An independent copy that shares all buffers.
  MemoryImage snapshot() const { return *this; }

  /// "nearest written range: [0x…, 0x…)" for error messages; empty if nothing is written in that space.
  std::string nearest(SpaceKey, uint64_t addr) const;

  class List;
  /// What stands in a range: real bytes, a part of what an op will make, or a part of a list of such pieces, which many
  /// ranges may share. for_each_piece() shows the pieces, never a list.
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
    /// Of real bytes: the first, and what keeps them alive.
    const uint8_t* data() const {
      if (later_) later_->make();
      return place_;
    }
    const std::shared_ptr<const void>& hold() const { return hold_; }
    SharedBytes bytes() const { return {hold_, place_, size_, later_}; }
    /// Of pending bytes: who makes them; else null.
    const OpDesc* producer() const {
      return kind_ == Kind::pending ? static_cast<const OpDesc*>(hold_.get()) : nullptr;
    }
    std::shared_ptr<const OpDesc> shared_producer() const {
      return kind_ == Kind::pending ? std::static_pointer_cast<const OpDesc>(hold_) : nullptr;
    }
    const List* list() const { return kind_ == Kind::list ? static_cast<const List*>(hold_.get()) : nullptr; }
    /// Of its first byte in the producer's output or in the list.
    uint64_t offset() const { return offset_; }

    /// The `part_size` bytes from `offset`.
    Extent part(uint64_t offset, uint64_t part_size) const;
    void drop_front(uint64_t n);
    void resize(uint64_t n) { size_ = n; }
    /// Whether b goes on from its end without a seam: the same buffer, list or producer's output.
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

  /// Calls f(addr, nbytes, extent, offset in extent) for the pieces of a range in address order; `extent` is null
  /// where nothing is written.
  template <class F>
  void for_each_piece(SpaceKey, uint64_t addr, uint64_t nbytes, F&& f) const;
  /// The same for all that is written in a space, and the spaces in which something is.
  template <class F>
  void for_each_piece(SpaceKey, F&& f) const;
  std::vector<SpaceKey> spaces() const;
  /// The same for a range's extents as they are kept, lists too.
  template <class F>
  void for_each_extent(SpaceKey, uint64_t addr, uint64_t nbytes, F&& f) const;

  /// Makes [addr, addr + extent.size()) what the extent is.
  void place(SpaceKey, uint64_t addr, Extent);

  /// Forgets a whole space (the TCM of a PE, after a run).
  void drop(SpaceKey key) { spaces_.erase(key); }

  /// Of all spaces together: what placing, splitting and merging came to.
  size_t extent_count() const;

 private:
  struct HashOfSpace {
    size_t operator()(SpaceKey k) const { return k.pe + (static_cast<size_t>(k.space) << 32); }
  };
  const Extents* find(SpaceKey) const;
  /// The real extent that holds all of the range, null if there is none, and where in it the range begins.
  std::pair<const Extent*, uint64_t> extent_with(SpaceKey, uint64_t addr, uint64_t n) const;
  void put(Extents&, uint64_t addr, Extent&&);
  void absorb_small(Extents&, uint64_t addr);

  std::unordered_map<SpaceKey, Extents, HashOfSpace> spaces_;
};

/// Pieces one behind the other, with holes where nothing is written. Immutable: what many ranges hold that were copied
/// from one another costs each of them one extent.
class MemoryImage::List {
 public:
  struct Piece {
    uint64_t offset;  ///< of its first byte in the list
    Extent extent;
  };
  /// What a range holds. Lists inside lists are taken apart where they would lie too deep.
  List(const MemoryImage&, SpaceKey, uint64_t addr, uint64_t nbytes);
  /// Of pieces without holes, none of which is a list.
  explicit List(std::vector<Piece> pieces) : pieces_(std::move(pieces)) {}
  /// So many pieces stand in a memory one by one; of more a list.
  static constexpr size_t kFew = 4;

  /// The pieces that overlap [offset, offset + nbytes), as kept.
  std::pair<const Piece*, const Piece*> within(uint64_t offset, uint64_t nbytes) const;
  /// Whether every byte is written.
  bool whole() const { return whole_; }
  /// Calls f(addr, nbytes, extent, offset in extent) for the pieces of [offset, offset + nbytes), which stand from
  /// `addr` on, down to those that are no lists.
  template <class F>
  void for_each_piece(uint64_t offset, uint64_t nbytes, uint64_t addr, const F& f) const;

 private:
  static constexpr uint32_t kDeepest = 16;
  std::vector<Piece> pieces_;
  uint32_t depth_ = 1;
  bool whole_ = true;
};

/// Calls f for an extent's part, or for the pieces of its list.
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

/// The instant effects of data contract §1 on memory. Stores, composites and compute ops: called at their
/// submission. Loads: called at their completion. Atomics: when they take effect at their memory. Returns whether Phase
/// 2 must run the op: compute ops, and loads and stores that could not be done by moving bytes (a pending mask, a
/// pending source under a mask or in short strided runs); their output range is then pending with the op itself as
/// producer. Errors (unwritten source of a load) are the caller's to check before, with state_of(); sizes that differ
/// are std::invalid_argument.
bool apply_effect(const std::shared_ptr<const OpDesc>&, MemoryImage&);
/// The same; a load of real rows shorter than `share_from` bytes copies them into one buffer instead of sharing each.
bool apply_effect(const std::shared_ptr<const OpDesc>&, MemoryImage&, uint64_t share_from);

}  // namespace kernbench
