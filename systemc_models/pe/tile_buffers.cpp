#include "kernbench/systemc_models/pe/tile_buffers.h"

#include <algorithm>
#include <stdexcept>

namespace kernbench {

TileBuffers::TileBuffers(uint64_t nbytes) : capacity_(nbytes), free_bytes_(nbytes) {
  if (nbytes > 0) holes_.push_back({0, nbytes});
}

TileBuffers::Buffer& TileBuffers::idle_buffer() {
  if (idle_.empty()) return buffers_.emplace_back();
  Buffer& b = *idle_.back();
  idle_.pop_back();
  b.clear();
  return b;
}

TileBuffers::Buffer& TileBuffers::take(uint64_t nbytes) {
  if (nbytes > free_bytes_) throw std::logic_error("a tile buffer was asked for that is larger than what is free");
  free_bytes_ -= nbytes;
  if (!returned_.empty()) {
    Buffer& last = *returned_.back();
    if (last.size() == 1 && last.front().nbytes == nbytes) {
      returned_.pop_back();
      return last;
    }
    fill_returned();
  }
  Buffer& b = idle_buffer();
  auto hole = std::find_if(holes_.begin(), holes_.end(), [nbytes](const BufferPiece& h) { return h.nbytes >= nbytes; });
  if (hole == holes_.end()) hole = holes_.begin();
  const auto first = hole;
  while (nbytes > 0) {
    const uint64_t n = std::min(nbytes, hole->nbytes);
    b.push_back({hole->offset, n});
    nbytes -= n;
    hole->offset += n;
    hole->nbytes -= n;
    if (hole->nbytes == 0) ++hole;
  }
  holes_.erase(first, hole);
  return b;
}

/// The piece becomes a hole, one with those that it touches.
void TileBuffers::fill(BufferPiece piece) {
  auto after = std::lower_bound(holes_.begin(), holes_.end(), piece.offset,
                                [](const BufferPiece& h, uint64_t offset) { return h.offset < offset; });
  const bool joins_before =
      after != holes_.begin() && std::prev(after)->offset + std::prev(after)->nbytes == piece.offset;
  const bool joins_after = after != holes_.end() && piece.offset + piece.nbytes == after->offset;
  if (joins_before && joins_after) {
    std::prev(after)->nbytes += piece.nbytes + after->nbytes;
    holes_.erase(after);
  } else if (joins_before) {
    std::prev(after)->nbytes += piece.nbytes;
  } else if (joins_after) {
    after->offset = piece.offset;
    after->nbytes += piece.nbytes;
  } else {
    holes_.insert(after, piece);
  }
}

void TileBuffers::fill_returned() {
  for (Buffer* b : returned_) {
    for (const BufferPiece& p : *b) fill(p);
    idle_.push_back(b);
  }
  returned_.clear();
}

void TileBuffers::give_back(Buffer& buffer) {
  for (const BufferPiece& p : buffer) free_bytes_ += p.nbytes;
  returned_.push_back(&buffer);
}

}  // namespace kernbench
