// SPDX-License-Identifier: Apache-2.0
#include "kernbench/phase2/memory/range_value.h"

#include "kernbench/phase2/op/runs.h"

#include <algorithm>
#include <cstring>

namespace kernbench::phase2 {
RangeValue::RangeValue(const MemoryImage& image, const TensorRef& t) {
  if (t.contiguous() && !t.scattered()) {
    *this = RangeValue(image, MemoryImage::key_of(t), t.addr, t.nbytes());
    return;
  }
  MemoryImage rows;
  const MemoryImage::SpaceKey key = MemoryImage::key_of(t);
  uint64_t end = 0;
  for_each_run(t, [&](uint64_t addr, uint64_t n) {
    image.for_each_piece(key, addr, n, [&](uint64_t at, uint64_t bytes, const MemoryImage::Extent* e, uint64_t offset) {
      if (e) rows.place(key, end + (at - addr), e->part(offset, bytes));
    });
    end += n;
  });
  *this = RangeValue(rows, key, 0, t.nbytes());
}

RangeValue::RangeValue(const MemoryImage& image, MemoryImage::SpaceKey key, uint64_t addr, uint64_t nbytes)
    : held_(std::make_shared<const MemoryImage::List>(image, key, addr, nbytes)) {}

void RangeValue::put(MemoryImage& image, MemoryImage::SpaceKey key, uint64_t addr, uint64_t from, uint64_t n) const {
  const auto [first, last] = held_->within(from, n);
  if (static_cast<size_t>(last - first) > MemoryImage::List::kFew && held_->whole()) {
    image.place(key, addr, MemoryImage::Extent(held_, from, n));
    return;
  }
  for (const auto* p = first; p != last; ++p) {
    const uint64_t begin = std::max(p->offset, from), end = std::min(p->offset + p->extent.size(), from + n);
    image.place(key, addr + (begin - from), p->extent.part(begin - p->offset, end - begin));
  }
}

void RangeValue::copy(uint64_t from, uint64_t n, uint8_t* out) const {
  held_->for_each_piece(from, n, 0, [&](uint64_t at, uint64_t bytes, const MemoryImage::Extent* e, uint64_t offset) {
    if (e && e->real()) std::memcpy(out + at, e->data() + offset, bytes);
  });
}

}  // namespace kernbench::phase2
