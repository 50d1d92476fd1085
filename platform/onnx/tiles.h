// SPDX-License-Identifier: Apache-2.0
// Matrix products in tiles on pe_gemm, distributed round-robin over the PEs.
#pragma once

#include <algorithm>

#include "kernbench/platform/onnx/pe.h"

namespace kernbench::onnx {

constexpr int64_t kTileK = 128;
constexpr int64_t kEdge = 32, kMostEdge = 256;  // a tile's edge: a multiple of kEdge, or the whole size

struct TileSize {
  int64_t rows = kEdge, columns = kEdge;
};

/// Chooses, among tiles that fit TCM, those that finish first. The estimate takes the PE with the most tiles and adds
/// its products and the rows and columns that it loads. If none fits, it takes the smallest.
TileSize tile_size(int64_t batches, int64_t m, int64_t n, int64_t pes, int64_t tcm_bytes);

/// Calls f(batch, first row, rows, first column, columns) for this PE's tiles of `batches` products [m, n].
template <class F>
void for_tiles(Pe& pe, int64_t batches, int64_t m, int64_t n, const F& f) {
  const TileSize tile = tile_size(batches, m, n, pe.tl.size(), pe.tcm_bytes());
  const int64_t of_m = tl::Context::cdiv(m, tile.rows), of_n = tl::Context::cdiv(n, tile.columns);
  for (int64_t t = pe.tl.index(); t < batches * of_m * of_n; t += pe.tl.size()) {
    const int64_t i = t / of_n % of_m * tile.rows, j = t % of_n * tile.columns;
    f(t / of_n / of_m, i, std::min(tile.rows, m - i), j, std::min(tile.columns, n - j));
  }
}

/// Σ over k of a tile, in f32 or i32: a(first, count) [rows, count] · b(first, count) [count, columns]. The next step's
/// loads overlap a step's product. PEs start at different k, so that they do not all read the same memory.
template <class A, class B>
tl::Tensor product(Pe& pe, int64_t k, const A& a, const B& b) {
  const int64_t steps = tl::Context::cdiv(k, kTileK), begin = pe.tl.index() * steps / pe.tl.size();
  const auto first = [&](int64_t step) { return (begin + step) % steps * kTileK; };
  const auto count = [&](int64_t step) { return std::min(kTileK, k - first(step)); };
  tl::Tensor sum, next_a = a(first(0), count(0)), next_b = b(first(0), count(0));
  for (int64_t s = 0; s < steps; ++s) {
    const tl::Tensor own_a = next_a, own_b = next_b;
    if (s + 1 < steps) {
      next_a = a(first(s + 1), count(s + 1));
      next_b = b(first(s + 1), count(s + 1));
    }
    sum = sum.valid() ? pe.tl.dot(own_a, own_b, sum) : pe.tl.dot(own_a, own_b);
  }
  return sum;
}

/// A row-major matrix inside an input, possibly read transposed.
struct Matrix {
  size_t input;
  int64_t first, rows, columns;  ///< as stored
  bool transposed = false;
  int64_t pitch = 0;  ///< elements from one row to the next; 0: columns
  tl::Tensor tile(Pe& pe, int64_t r, int64_t nr, int64_t c, int64_t nc) const {
    if (transposed) return stored(pe, c, nc, r, nr).transpose();
    return stored(pe, r, nr, c, nc);
  }

 private:
  tl::Tensor stored(Pe& pe, int64_t r, int64_t nr, int64_t c, int64_t nc) const {
    const int64_t apart = pitch == 0 ? columns : pitch;
    return pe.tl.load_async((pe.in(input) + first + r * apart + c).block({nr, nc}, apart));
  }
};

/// Writes a tile of the output's matrix that begins at `first`.
inline void put_tile(Pe& pe, int64_t first, int64_t columns, int64_t r, int64_t c, const tl::Tensor& tile) {
  pe.put(Tile{first + r * columns + c, tile.dim(0), tile.dim(1), columns}, tile);
}

/// The table row of an op whose kernel writes its output only by put_tile.
OpRow tiled(const char* name, int since, void (*shape)(Op&), void (*run)(Pe&), double (*macs)(const Op&),
            const char* how, const char* form, bool reads_values = false);

}  // namespace kernbench::onnx
