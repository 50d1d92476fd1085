// SPDX-License-Identifier: Apache-2.0
#include "kernbench/systemc_models/pe/tile_buffers.h"

#include <algorithm>
#include <stdexcept>
#include <utility>

namespace kernbench::pe {

TileBuffers::TileBuffers(uint64_t nbytes) : capacity_(nbytes), free_bytes_(nbytes) {
  if (nbytes > 0) holes_.push_back({0, nbytes});
}

TileBuffer TileBuffers::take(uint64_t nbytes) {
  if (nbytes > free_bytes_) throw std::logic_error("a tile buffer was asked for that is larger than what is free");
  free_bytes_ -= nbytes;
  if (last_.empty() && !returned_.empty()) {
    last_ = std::move(returned_.back());
    returned_.pop_back();
  }
  if (!last_.empty()) {
    if (last_.others.empty() && last_.first.nbytes == nbytes) return {std::exchange(last_.first, {}), {}};
    fill_returned();
  }
  TileBuffer b;
  auto hole = std::find_if(holes_.begin(), holes_.end(), [nbytes](const BufferPiece& h) { return h.nbytes >= nbytes; });
  if (hole == holes_.end()) hole = holes_.begin();
  const auto first = hole;
  while (nbytes > 0) {
    const BufferPiece piece{hole->offset, std::min(nbytes, hole->nbytes)};
    if (b.empty()) {
      b.first = piece;
    } else {
      b.others.push_back(piece);
    }
    nbytes -= piece.nbytes;
    hole->offset += piece.nbytes;
    hole->nbytes -= piece.nbytes;
    if (hole->nbytes == 0) ++hole;
  }
  holes_.erase(first, hole);
  return b;
}

/// The piece becomes a hole, merged with adjacent holes.
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
  returned_.push_back(std::exchange(last_, {}));
  for (const TileBuffer& b : returned_) {
    fill(b.first);
    for (const BufferPiece& p : b.others) fill(p);
  }
  returned_.clear();
}

void TileBuffers::give_back(TileBuffer&& buffer) {
  free_bytes_ += buffer.first.nbytes;
  for (const BufferPiece& p : buffer.others) free_bytes_ += p.nbytes;
  if (!last_.empty()) returned_.push_back(std::move(last_));
  last_ = std::move(buffer);
}

}  // namespace kernbench::pe
