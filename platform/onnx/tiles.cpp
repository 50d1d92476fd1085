// SPDX-License-Identifier: Apache-2.0
#include "kernbench/platform/onnx/tiles.h"

namespace kernbench::onnx {
namespace {

/// TCM budget of a tile, in elements of 4 bytes: sums and values derived from them; two steps' pieces of the operands,
/// and the pieces that these are made from.
int64_t bytes_of_tile(int64_t rows, int64_t columns) {
  constexpr int64_t kElement = 4, kPartials = 4, kPieces = 3;
  return kElement * (kPartials * rows * columns + kPieces * kTileK * (rows + columns));
}

}  // namespace

TileSize tile_size(int64_t batches, int64_t m, int64_t n, int64_t pes, int64_t tcm_bytes) {
  constexpr int64_t kLoaded = 64;  // loading a row or column takes as long as this many products
  TileSize best;
  double least = 0;
  for (int64_t r = kEdge; r <= kMostEdge && r < m + kEdge; r += kEdge) {
    for (int64_t c = kEdge; c <= kMostEdge && c < n + kEdge; c += kEdge) {
      const int64_t rows = std::min(r, m), columns = std::min(c, n);
      const int64_t tiles = batches * tl::Context::cdiv(m, rows) * tl::Context::cdiv(n, columns);
      const double cost = static_cast<double>(tl::Context::cdiv(tiles, pes)) *
                          static_cast<double>(rows * columns + kLoaded * (rows + columns));
      if (least > 0 && (cost >= least || bytes_of_tile(rows, columns) > tcm_bytes)) continue;
      least = cost;
      best = {rows, columns};
    }
  }
  return best;
}

OpRow tiled(const char* name, int since, void (*shape)(Op&), void (*run)(Pe&), double (*macs)(const Op&),
            const char* how, const char* form, bool reads_values) {
  OpRow row{name, since, shape, run, how, form, reads_values};
  row.leads = true;
  row.macs = macs;
  return row;
}

}  // namespace kernbench::onnx
