#include "kernbench/phase2/memory/memory_image.h"

#include <fmt/format.h>

#include <cstring>
#include <memory>
#include <stdexcept>

#include "kernbench/phase2/op/address_text.h"
#include "kernbench/phase2/op/runs.h"

namespace kernbench {
namespace {

/// Written neighbours up to this size are copied together, so that many small stores do not leave many extents; what
/// is written in a larger one is copied out of it in blocks of this size.
constexpr uint64_t kSmall = 4096;

/// Of buffers that the image alone makes and hands to nobody but with their extents: where only one extent holds such
/// a block it is written in place.
struct BlockDeleter {
  void operator()(const uint8_t* bytes) const { delete[] bytes; }
};

template <class F>
SharedBytes make_block(uint64_t n, const F& fill) {
  std::unique_ptr<uint8_t[]> bytes(new uint8_t[n]);
  fill(bytes.get());
  const uint8_t* data = bytes.get();
  return {std::shared_ptr<const uint8_t>(bytes.release(), BlockDeleter()), data, n, nullptr};
}

bool is_own_block(const SharedBytes& bytes) {
  return bytes.hold.use_count() == 1 && std::get_deleter<BlockDeleter>(bytes.hold);
}

std::string told(MemoryImage::SpaceKey key, uint64_t addr) {
  std::string s = std::string(name_of(key.space)) + " address " + address_text(addr);
  if (key.pe != kNoPe) s += " of PE " + std::to_string(key.pe);
  return s;
}

void check_wrap(MemoryImage::SpaceKey key, uint64_t addr, uint64_t n) {
  if (n && addr + (n - 1) < addr) {
    throw std::out_of_range(fmt::format("{}: {} bytes leave the 64-bit address range", told(key, addr), n));
  }
}

/// Removes [addr, addr + n), splitting the extents at its ends. Returns what follows the hole.
MemoryImage::Extents::iterator carve(MemoryImage::Extents& m, uint64_t addr, uint64_t n) {
  auto it = m.lower_bound(addr);
  if (it != m.begin()) {
    auto before = std::prev(it);
    const uint64_t size = before->second.size;
    const uint64_t head = addr - before->first;
    if (size > head) {
      if (size - head > n) {
        it = m.emplace_hint(it, addr + n, before->second.part(head + n, size - head - n));
        before->second = before->second.part(0, head);
        return it;
      }
      before->second = before->second.part(0, head);
    }
  }
  while (it != m.end() && it->first - addr < n) {
    const uint64_t used = n - (it->first - addr);
    if (it->second.size > used) {
      MemoryImage::Extent rest = it->second.part(used, it->second.size - used);
      it = m.erase(it);
      return m.emplace_hint(it, addr + n, std::move(rest));
    }
    it = m.erase(it);
  }
  return it;
}

/// Whether b continues a without a seam: the same buffer, list or producer's output.
bool continues(const MemoryImage::Extent& a, const MemoryImage::Extent& b) {
  if (a.list || b.list) return a.list == b.list && a.list_offset + a.size == b.list_offset;
  if (a.pending.producer || b.pending.producer) {
    return a.pending.producer == b.pending.producer && a.pending.offset + a.size == b.pending.offset;
  }
  return !a.bytes.hold.owner_before(b.bytes.hold) && !b.bytes.hold.owner_before(a.bytes.hold) &&
         a.bytes.place + a.size == b.bytes.place && a.bytes.later == b.bytes.later;
}

/// The extent that holds a whole range, if its bytes are real; else the end.
template <class Extents>
auto holder_of(Extents& m, uint64_t addr, uint64_t n) {
  auto it = m.upper_bound(addr);
  if (it == m.begin()) return m.end();
  --it;
  const uint64_t offset = addr - it->first;
  return it->second.real() && offset <= it->second.size && n <= it->second.size - offset ? it : m.end();
}

void grow(MemoryImage::Extent& e, uint64_t by) {
  e.size += by;
  if (e.real()) e.bytes.size = e.size;
}

}  // namespace

MemoryImage::Extent MemoryImage::Extent::part(uint64_t offset, uint64_t part_size) const {
  Extent p = *this;
  p.size = part_size;
  if (p.list) {
    p.list_offset += offset;
  } else if (p.pending.producer) {
    p.pending.offset += offset;
  } else {
    p.bytes.place += offset;
    p.bytes.size = part_size;
  }
  return p;
}

MemoryImage::List::List(const MemoryImage& image, SpaceKey key, uint64_t addr, uint64_t nbytes) {
  const auto take_at = [&](uint64_t at, uint64_t n, const Extent* e, uint64_t offset) {
    if (e) {
      pieces_.push_back({at - addr, e->part(offset, n)});
    } else {
      whole_ = false;
    }
  };
  image.for_each_extent(key, addr, nbytes, take_at);
  for (const Piece& p : pieces_) {
    if (p.extent.list) depth_ = std::max(depth_, p.extent.list->depth_ + 1);
  }
  if (depth_ <= kDeepest) return;
  depth_ = 1;
  pieces_.clear();
  image.for_each_piece(key, addr, nbytes, take_at);
}

std::pair<const MemoryImage::List::Piece*, const MemoryImage::List::Piece*> MemoryImage::List::within(
    uint64_t offset, uint64_t nbytes) const {
  const auto first = std::partition_point(pieces_.begin(), pieces_.end(),
                                          [&](const Piece& p) { return p.offset + p.extent.size <= offset; });
  const auto last =
      std::partition_point(first, pieces_.end(), [&](const Piece& p) { return p.offset < offset + nbytes; });
  return {pieces_.data() + (first - pieces_.begin()), pieces_.data() + (last - pieces_.begin())};
}

SharedBytes SharedBytes::copy_of(const void* p, uint64_t n) {
  return made_by(n, [&](uint8_t* to) {
    if (n) std::memcpy(to, p, n);
  });
}

SharedBytes SharedBytes::take(Bytes&& b) {
  auto owner = std::make_shared<const Bytes>(std::move(b));
  return {owner, owner->data(), owner->size()};
}

const MemoryImage::Extents* MemoryImage::find(SpaceKey key) const {
  auto it = spaces_.find(key);
  return it == spaces_.end() ? nullptr : &it->second;
}

std::vector<MemoryImage::SpaceKey> MemoryImage::spaces() const {
  std::vector<SpaceKey> keys;
  for (const auto& [key, extents] : spaces_) keys.push_back(key);
  return keys;
}

size_t MemoryImage::extent_count() const {
  size_t n = 0;
  for (const auto& [key, extents] : spaces_) n += extents.size();
  return n;
}

MemoryImage::RangeState MemoryImage::state_of(SpaceKey key, uint64_t addr, uint64_t nbytes) const {
  RangeState s;
  for_each_piece(key, addr, nbytes, [&](uint64_t at, uint64_t, const Extent* e, uint64_t) {
    if (s.state == State::unwritten) return;
    if (!e) {
      s = {State::unwritten, at, nullptr};
    } else if (e->pending.producer && s.state == State::real) {
      s = {State::pending, at, e->pending.producer};
    }
  });
  return s;
}

MemoryImage::RangeState MemoryImage::state_of(const TensorRef& t) const {
  RangeState s;
  if (!t.scattered() && is_one_real_extent(key_of(t), t.addr, t.span_bytes())) return s;
  for_each_run(without_repeats(t), [&](uint64_t addr, uint64_t n) {
    if (s.state == State::unwritten) return;
    RangeState r = state_of(key_of(t), addr, n);
    if (r.state == State::unwritten || (r.state == State::pending && s.state == State::real)) s = std::move(r);
  });
  return s;
}

void MemoryImage::put(Extents& m, uint64_t addr, Extent&& e) {
  if (e.size == 0) return;
  auto next = carve(m, addr, e.size);
  const uint64_t end = addr + e.size;
  const bool joins_next = next != m.end() && next->first == end && continues(e, next->second);
  if (next != m.begin()) {
    auto before = std::prev(next);
    if (before->first + before->second.size == addr && continues(before->second, e)) {
      grow(before->second, e.size);
      if (joins_next) {
        grow(before->second, next->second.size);
        m.erase(next);
      }
      return;
    }
  }
  if (joins_next) {
    grow(e, next->second.size);
    next = m.erase(next);
  }
  m.emplace_hint(next, addr, std::move(e));
}

void MemoryImage::absorb_small(Extents& m, Extents::iterator it) {
  if (it == m.begin()) return;
  auto before = std::prev(it);
  const Extent& a = before->second;
  const Extent& b = it->second;
  if (!a.real() || !b.real() || before->first + a.size != it->first || a.size + b.size > kSmall) return;
  SharedBytes both = make_block(a.size + b.size, [&](uint8_t* to) {
    std::memcpy(to, a.bytes.data(), a.size);
    std::memcpy(to + a.size, b.bytes.data(), b.size);
  });
  before->second.size = both.size;
  before->second.bytes = std::move(both);
  m.erase(it);
}

void MemoryImage::write(SpaceKey key, uint64_t addr, const void* bytes, uint64_t n) {
  if (n == 0 || n >= kSmall) return write_shared(key, addr, SharedBytes::copy_of(bytes, n));
  Extents& m = spaces_[key];
  if (const auto held = holder_of(m, addr, n); held != m.end()) {
    const Extent& e = held->second;
    const uint64_t offset = addr - held->first;
    if (is_own_block(e.bytes)) return void(std::memcpy(const_cast<uint8_t*>(e.bytes.place) + offset, bytes, n));
    const uint64_t begin = offset / kSmall * kSmall;
    const uint64_t end = std::min(e.size, (offset + n + kSmall - 1) / kSmall * kSmall);
    return write_shared(key, held->first + begin, make_block(end - begin, [&](uint8_t* to) {
                          std::memcpy(to, e.bytes.data() + begin, end - begin);
                          std::memcpy(to + (offset - begin), bytes, n);
                        }));
  }
  write_shared(key, addr, SharedBytes::copy_of(bytes, n));
  auto it = std::prev(m.upper_bound(addr));
  if (auto next = std::next(it); next != m.end()) absorb_small(m, next);
  absorb_small(m, it);
}

void MemoryImage::place(SpaceKey key, uint64_t addr, Extent e) {
  check_wrap(key, addr, e.size);
  put(spaces_[key], addr, std::move(e));
}

void MemoryImage::write_shared(SpaceKey key, uint64_t addr, SharedBytes bytes) {
  Extent e;
  e.size = bytes.size;
  e.bytes = std::move(bytes);
  place(key, addr, std::move(e));
}

void MemoryImage::bind_pending(SpaceKey key, uint64_t addr, uint64_t n, PendingSource source) {
  Extent e;
  e.size = n;
  e.pending = std::move(source);
  place(key, addr, std::move(e));
}

void MemoryImage::erase(SpaceKey key, uint64_t addr, uint64_t n) {
  auto it = spaces_.find(key);
  if (it != spaces_.end() && n) carve(it->second, addr, n);
}

void MemoryImage::read(SpaceKey key, uint64_t addr, void* out, uint64_t n, uint8_t fill) const {
  auto* to = static_cast<uint8_t*>(out);
  for_each_piece(key, addr, n, [&](uint64_t at, uint64_t len, const Extent* e, uint64_t offset) {
    if (!e) {
      std::memset(to, fill, len);
    } else if (e->pending.producer) {
      throw std::logic_error(told(key, at) + " is pending: " + e->pending.producer->name + " makes it in Phase 2");
    } else {
      std::memcpy(to, e->bytes.data() + offset, len);
    }
    to += len;
  });
}

std::pair<const MemoryImage::Extent*, uint64_t> MemoryImage::extent_with(SpaceKey key, uint64_t addr,
                                                                         uint64_t n) const {
  const Extents* m = find(key);
  if (!m) return {};
  const auto holder = holder_of(*m, addr, n);
  if (holder == m->end()) return {};
  return {&holder->second, addr - holder->first};
}

const uint8_t* MemoryImage::view(SpaceKey key, uint64_t addr, uint64_t n) const {
  const auto [extent, offset] = extent_with(key, addr, n);
  return extent ? extent->bytes.data() + offset : nullptr;
}

Bytes MemoryImage::gather(const TensorRef& t) const {
  Bytes out(t.nbytes());
  gather(t, out.data());
  return out;
}

void MemoryImage::gather(const TensorRef& t, uint8_t* to) const {
  const SpaceKey key = key_of(t);
  // Short runs mostly lie in one extent: look it up once for all of them.
  const uint8_t* all = t.scattered() ? nullptr : view(key, t.addr, t.span_bytes());
  for_each_run(t, [&](uint64_t addr, uint64_t n) {
    if (all) {
      std::memcpy(to, all + (addr - t.addr), n);
    } else {
      read(key, addr, to, n);
    }
    to += n;
  });
}

namespace {

/// The rows of a tensor, one behind the other; shares what it copies them from.
class LaterRows final : public LaterBytes {
 public:
  LaterRows(SharedBytes from, const TensorRef& rows) : from_(std::move(from)), rows_(rows), to_(new uint8_t[nbytes()]) {
    rows_.translation = nullptr;
  }
  uint64_t nbytes() const { return rows_.nbytes(); }
  const uint8_t* place() const { return to_.get(); }

 private:
  void fill() const override {
    const uint8_t* bytes = from_.data();
    uint8_t* to = to_.get();
    for_each_run(rows_, [&](uint64_t addr, uint64_t n) {
      std::memcpy(to, bytes + (addr - rows_.addr), n);
      to += n;
    });
  }
  SharedBytes from_;  ///< from the first element on
  TensorRef rows_;
  std::unique_ptr<uint8_t[]> to_;
};

}  // namespace

SharedBytes MemoryImage::gathered_later(const TensorRef& t) const {
  if (t.scattered()) return {};
  const uint64_t span = t.span_bytes();
  const auto [extent, offset] = extent_with(key_of(t), t.addr, span);
  if (!extent) return {};
  const auto rows = std::make_shared<const LaterRows>(extent->bytes.part(offset, span), t);
  return {rows, rows->place(), rows->nbytes(), rows.get()};
}

void MemoryImage::transfer(const TensorRef& from, const TensorRef& to) {
  if (from.nbytes() != to.nbytes()) {
    throw std::invalid_argument(fmt::format("transfer of {} bytes into {} bytes", from.nbytes(), to.nbytes()));
  }
  // All pieces are taken before any is placed: source and destination may overlap.
  struct Piece {
    Extent extent;
    bool written;
  };
  std::vector<Piece> pieces;
  for_each_run(from, [&](uint64_t addr, uint64_t n) {
    for_each_extent(key_of(from), addr, n, [&](uint64_t, uint64_t len, const Extent* e, uint64_t offset) {
      if (e) {
        if (!pieces.empty() && pieces.back().written) {
          Extent next = e->part(offset, len);
          if (continues(pieces.back().extent, next)) {
            grow(pieces.back().extent, len);
          } else {
            pieces.push_back({std::move(next), true});
          }
        } else {
          pieces.push_back({e->part(offset, len), true});
        }
      } else {
        Extent hole;
        hole.size = len;
        pieces.push_back({std::move(hole), false});
      }
    });
  });
  Extents& m = spaces_[key_of(to)];
  size_t i = 0;
  uint64_t used = 0;
  for_each_run(to, [&](uint64_t addr, uint64_t n) {
    check_wrap(key_of(to), addr, n);
    while (n) {
      const Piece& p = pieces[i];
      const uint64_t len = std::min(n, p.extent.size - used);
      if (p.written) {
        put(m, addr, p.extent.part(used, len));
      } else {
        carve(m, addr, len);
      }
      addr += len;
      n -= len;
      used += len;
      if (used == p.extent.size) {
        ++i;
        used = 0;
      }
    }
  });
}

std::string MemoryImage::nearest(SpaceKey key, uint64_t addr) const {
  const Extents* m = find(key);
  if (!m || m->empty()) return "";
  auto after = m->upper_bound(addr);
  auto it = after;
  if (after == m->end()) {
    it = std::prev(after);
  } else if (after != m->begin()) {
    auto before = std::prev(after);
    const uint64_t end = before->first + before->second.size;
    const uint64_t gap_before = addr < end ? 0 : addr - end;
    if (gap_before <= after->first - addr) it = before;
  }
  // Ranges that touch are one to the reader, whatever buffers hold them.
  uint64_t lo = it->first, hi = it->first + it->second.size;
  for (auto b = it; b != m->begin();) {
    --b;
    if (b->first + b->second.size != lo) break;
    lo = b->first;
  }
  for (auto a = std::next(it); a != m->end() && a->first == hi; ++a) hi = a->first + a->second.size;
  return "nearest written range: [" + address_text(lo) + ", " + address_text(hi) + ")";
}

}  // namespace kernbench
