#include "kernbench/phase2/memory/range_value.h"

#include <algorithm>
#include <cstring>

namespace kernbench {

RangeValue::RangeValue(const MemoryImage& image, const TensorRef& t) {
  image.for_each_piece(MemoryImage::key_of(t), t.addr, t.nbytes(),
                       [&](uint64_t at, uint64_t n, const MemoryImage::Extent* e, uint64_t offset) {
                         if (e) pieces_.push_back({at - t.addr, e->part(offset, n)});
                       });
}

void RangeValue::put(MemoryImage& image, MemoryImage::SpaceKey key, uint64_t addr, uint64_t from, uint64_t n) const {
  for (const Piece& p : pieces_) {
    const uint64_t begin = std::max(p.offset, from), end = std::min(p.offset + p.extent.size, from + n);
    if (begin >= end) continue;
    const MemoryImage::Extent part = p.extent.part(begin - p.offset, end - begin);
    if (part.pending.producer) {
      image.bind_pending(key, addr + (begin - from), part.size, part.pending);
    } else {
      image.write_shared(key, addr + (begin - from), {part.bytes.hold, part.bytes.data, part.size});
    }
  }
}

void RangeValue::copy(uint64_t from, uint64_t n, uint8_t* out) const {
  for (const Piece& p : pieces_) {
    const uint64_t begin = std::max(p.offset, from), end = std::min(p.offset + p.extent.size, from + n);
    if (begin < end && !p.extent.pending.producer)
      std::memcpy(out + (begin - from), p.extent.bytes.data + (begin - p.offset), end - begin);
  }
}

}  // namespace kernbench
