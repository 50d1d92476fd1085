// SPDX-License-Identifier: Apache-2.0
#include "kernbench/phase2/memory/memory_image.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <memory>
#include <optional>
#include <stdexcept>

#include "kernbench/phase2/op/address_text.h"
#include "kernbench/phase2/op/runs.h"

namespace kernbench::phase2 {
namespace {

/// Written neighbours up to this size are merged by copying, so that many small stores do not leave many extents. A
/// write into a larger extent copies a block of this size out of it.
constexpr uint64_t kSmall = 4096;

/// Marks buffers that only extents of the image refer to. If a single extent holds such a block, it is written in
/// place.
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

bool is_own_block(const std::shared_ptr<const void>& hold) {
  return hold.use_count() == 1 && std::get_deleter<BlockDeleter>(hold);
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

/// Splits extents at both ends of [addr, addr + n). Returns the extents inside.
std::pair<MemoryImage::Extents::iterator, MemoryImage::Extents::iterator> cut(MemoryImage::Extents& m, uint64_t addr,
                                                                              uint64_t n) {
  auto first = m.lower_bound(addr);
  if (first != m.begin()) {
    const auto before = std::prev(first);
    const uint64_t size = before->second.size();
    const uint64_t head = addr - before->first;
    if (size > head) {
      if (size - head > n) {
        MemoryImage::Extent rest = before->second.part(head + n, size - head - n);
        before->second.resize(head);
        first = m.insert(first, addr + n, std::move(rest));
        return {first, first};
      }
      before->second.resize(head);
    }
  }
  auto last = first;
  while (last != m.end() && last->first - addr < n) {
    const uint64_t used = n - (last->first - addr);
    if (last->second.size() > used) {
      last->second.drop_front(used);
      m.move(last, addr + n);
      break;
    }
    ++last;
  }
  return {first, last};
}

/// Removes [addr, addr + n).
void carve(MemoryImage::Extents& m, uint64_t addr, uint64_t n) {
  const auto [first, last] = cut(m, addr, n);
  m.erase(first, last);
}

/// The extent that holds the complete range with real bytes; else the end.
template <class Extents>
auto holder_of(Extents& m, uint64_t addr, uint64_t n) {
  auto it = m.upper_bound(addr);
  if (it == m.begin()) return m.end();
  --it;
  const uint64_t offset = addr - it->first;
  return it->second.real() && offset <= it->second.size() && n <= it->second.size() - offset ? it : m.end();
}

}  // namespace

MemoryImage::Extent MemoryImage::Extent::part(uint64_t offset, uint64_t part_size) const {
  Extent p = *this;
  p.drop_front(offset);
  p.size_ = part_size;
  return p;
}

void MemoryImage::Extent::drop_front(uint64_t n) {
  if (real()) {
    place_ += n;
  } else {
    offset_ += n;
  }
  size_ -= n;
}

bool MemoryImage::Extent::goes_on_in(const Extent& b) const {
  if (kind_ != b.kind_ || size_ + b.size_ < size_) return false;  // more than 2^64 bytes do not fit the size
  if (kind_ != Kind::real) return hold_ == b.hold_ && offset_ + size_ == b.offset_;
  return !hold_.owner_before(b.hold_) && !b.hold_.owner_before(hold_) && place_ + size_ == b.place_ &&
         later_ == b.later_;
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
    if (const List* inner = p.extent.list()) depth_ = std::max(depth_, inner->depth_ + 1);
  }
  if (depth_ <= kDeepest) return;
  depth_ = 1;
  pieces_.clear();
  image.for_each_piece(key, addr, nbytes, take_at);
}

std::pair<const MemoryImage::List::Piece*, const MemoryImage::List::Piece*> MemoryImage::List::within(
    uint64_t offset, uint64_t nbytes) const {
  const auto first = std::partition_point(pieces_.begin(), pieces_.end(),
                                          [&](const Piece& p) { return p.offset + p.extent.size() <= offset; });
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
  std::sort(keys.begin(), keys.end());
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
    } else if (e->producer() && s.state == State::real) {
      s = {State::pending, at, e->shared_producer()};
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
  const uint64_t n = e.size();
  if (n == 0) return;
  auto [first, last] = cut(m, addr, n);
  if (last != m.end() && last->first - addr == n && e.goes_on_in(last->second)) {
    e.resize(n + last->second.size());
    ++last;
  }
  if (first != m.begin()) {
    const auto before = std::prev(first);
    const uint64_t size = before->second.size();
    if (before->first + size == addr && before->second.goes_on_in(e)) {
      before->second.resize(size + e.size());
      m.erase(first, last);
      return;
    }
  }
  if (first == last) {
    m.insert(first, addr, std::move(e));
    return;
  }
  // Reuses the first replaced extent, which is usually the only one.
  first->second = std::move(e);
  m.move(first, addr);
  m.erase(std::next(first), last);
}

/// Merges the extent that begins there with the one before it, if both are small.
void MemoryImage::absorb_small(Extents& m, uint64_t addr) {
  const auto it = m.lower_bound(addr);
  if (it == m.begin() || it == m.end() || it->first != addr) return;
  const auto before = std::prev(it);
  const Extent& a = before->second;
  const Extent& b = it->second;
  if (!a.real() || !b.real() || before->first + a.size() != addr || a.size() + b.size() > kSmall) return;
  before->second = Extent(make_block(a.size() + b.size(), [&](uint8_t* to) {
    std::memcpy(to, a.data(), a.size());
    std::memcpy(to + a.size(), b.data(), b.size());
  }));
  m.erase(it);
}

void MemoryImage::write(SpaceKey key, uint64_t addr, const void* bytes, uint64_t n) {
  if (n == 0 || n >= kSmall) return write_shared(key, addr, SharedBytes::copy_of(bytes, n));
  Extents& m = spaces_[key];
  if (const auto held = holder_of(m, addr, n); held != m.end()) {
    const Extent& e = held->second;
    const uint64_t offset = addr - held->first;
    if (is_own_block(e.hold())) return void(std::memcpy(const_cast<uint8_t*>(e.data()) + offset, bytes, n));
    const uint64_t begin = offset / kSmall * kSmall;
    const uint64_t end = std::min(e.size(), (offset + n + kSmall - 1) / kSmall * kSmall);
    return write_shared(key, held->first + begin, make_block(end - begin, [&](uint8_t* to) {
                          std::memcpy(to, e.data() + begin, end - begin);
                          std::memcpy(to + (offset - begin), bytes, n);
                        }));
  }
  write_shared(key, addr, SharedBytes::copy_of(bytes, n));
  const auto it = std::prev(m.upper_bound(addr));
  const uint64_t begin = it->first, end = begin + it->second.size();
  absorb_small(m, end);
  absorb_small(m, begin);
}

void MemoryImage::place(SpaceKey key, uint64_t addr, Extent e) {
  check_wrap(key, addr, e.size());
  put(spaces_[key], addr, std::move(e));
}

void MemoryImage::write_shared(SpaceKey key, uint64_t addr, SharedBytes bytes) {
  place(key, addr, Extent(std::move(bytes)));
}

void MemoryImage::bind_pending(SpaceKey key, uint64_t addr, uint64_t n, PendingSource source) {
  place(key, addr, Extent(std::move(source), n));
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
    } else if (const OpDesc* producer = e->producer()) {
      throw std::logic_error(told(key, at) + " is pending: " + producer->name + " makes it in Phase 2");
    } else {
      std::memcpy(to, e->data() + offset, len);
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
  return extent ? extent->data() + offset : nullptr;
}

Bytes MemoryImage::gather(const TensorRef& t) const {
  Bytes out(t.nbytes());
  gather(t, out.data());
  return out;
}

void MemoryImage::gather(const TensorRef& t, uint8_t* to) const {
  const SpaceKey key = key_of(t);
  // Short runs usually lie in one extent, which is looked up once.
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

/// The rows of a tensor, contiguous. Shares the buffer that it copies from.
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
  const auto rows = std::make_shared<const LaterRows>(extent->bytes().part(offset, span), t);
  return {rows, rows->place(), rows->nbytes(), rows.get()};
}

namespace {

/// A piece of the moved data.
struct Moved {
  uint64_t size;
  std::optional<MemoryImage::Extent> extent;  ///< none: unwritten
};

bool are_worth_a_list(const std::vector<Moved>& pieces) {
  return pieces.size() > MemoryImage::List::kFew &&
         std::all_of(pieces.begin(), pieces.end(), [](const Moved& p) { return p.extent && !p.extent->list(); });
}

MemoryImage::Extent list_of(std::vector<Moved>&& pieces) {
  std::vector<MemoryImage::List::Piece> all;
  all.reserve(pieces.size());
  uint64_t offset = 0;
  for (Moved& p : pieces) {
    all.push_back({offset, std::move(*p.extent)});
    offset += p.size;
  }
  return {std::make_shared<const MemoryImage::List>(std::move(all)), 0, offset};
}

}  // namespace

void MemoryImage::transfer(const TensorRef& from, const TensorRef& to) {
  if (from.nbytes() != to.nbytes()) {
    throw std::invalid_argument(fmt::format("transfer of {} bytes into {} bytes", from.nbytes(), to.nbytes()));
  }
  // All pieces are read before any is stored, because source and destination may overlap.
  std::vector<Moved> pieces;
  for_each_run(from, [&](uint64_t addr, uint64_t n) {
    for_each_extent(key_of(from), addr, n, [&](uint64_t, uint64_t len, const Extent* e, uint64_t offset) {
      if (!e) {
        pieces.push_back({len, std::nullopt});
        return;
      }
      Extent next = e->part(offset, len);
      if (!pieces.empty() && pieces.back().extent && pieces.back().extent->goes_on_in(next)) {
        pieces.back().size += len;
        pieces.back().extent->resize(pieces.back().size);
      } else {
        pieces.push_back({len, std::move(next)});
      }
    });
  });
  Extents& m = spaces_[key_of(to)];
  if (to.contiguous() && !to.scattered() && are_worth_a_list(pieces)) {
    check_wrap(key_of(to), to.addr, to.nbytes());
    return put(m, to.addr, list_of(std::move(pieces)));
  }
  size_t i = 0;
  for_each_run(to, [&](uint64_t addr, uint64_t n) {
    check_wrap(key_of(to), addr, n);
    while (n) {
      Moved& p = pieces[i];
      const uint64_t len = std::min(n, p.size);
      if (!p.extent) {
        carve(m, addr, len);
      } else if (len == p.size) {
        put(m, addr, std::move(*p.extent));
      } else {
        put(m, addr, p.extent->part(0, len));
        p.extent->drop_front(len);
      }
      addr += len;
      n -= len;
      p.size -= len;
      if (p.size == 0) ++i;
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
    const uint64_t end = before->first + before->second.size();
    const uint64_t gap_before = addr < end ? 0 : addr - end;
    if (gap_before <= after->first - addr) it = before;
  }
  // Adjacent ranges count as one, even in different buffers.
  uint64_t lo = it->first, hi = it->first + it->second.size();
  for (auto b = it; b != m->begin();) {
    --b;
    if (b->first + b->second.size() != lo) break;
    lo = b->first;
  }
  for (auto a = std::next(it); a != m->end() && a->first == hi; ++a) hi = a->first + a->second.size();
  return "nearest written range: [" + address_text(lo) + ", " + address_text(hi) + ")";
}

}  // namespace kernbench::phase2
