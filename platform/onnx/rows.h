// SPDX-License-Identifier: Apache-2.0
// Views a tensor as rows along an axis. Each row lies in TCM whole.
#pragma once

#include <algorithm>
#include <string>
#include <vector>

#include "kernbench/platform/onnx/pe.h"

namespace kernbench::onnx {

struct AxisRows {
  int64_t inner = 1, length = 1, outer = 1;
  AxisRows(const Shape& shape, int64_t axis) : AxisRows(shape, axis, axis + 1) {}
  /// Along several adjacent axes at once.
  AxisRows(const Shape& shape, int64_t first, int64_t last) {
    for (int64_t d = 0; d < static_cast<int64_t>(shape.size()); ++d)
      (d < first ? outer : d < last ? length : inner) *= shape[static_cast<size_t>(d)];
  }
  int64_t rows() const { return outer * inner; }
  std::vector<int64_t> places(int64_t row, int64_t count) const {
    std::vector<int64_t> all;
    for (int64_t r = row; r < row + count; ++r) {
      for (int64_t j = 0; j < length; ++j) all.push_back((r / inner * length + j) * inner + r % inner);
    }
    return all;
  }
};

inline void check_row(const Op& op, int64_t length) {
  op.require(length <= kRow, "its rows have " + std::to_string(length) + " elements, and TCM is given " +
                                 std::to_string(kRow) + " of a row");
}

/// Calls f(first row, rows) for this PE's rows, with as many rows as fit a piece.
template <class F>
void for_pieces_of_rows(Pe& pe, const AxisRows& rows, const F& f) {
  const Range mine = pe.share_of(rows.rows());
  const int64_t step = std::max<int64_t>(1, kPiece / std::max<int64_t>(1, rows.length));
  for (int64_t r = mine.first; r < mine.last; r += step) f(r, std::min(step, mine.last - r));
}

/// Calls f(first row, rows, x [rows, length]) for this PE's rows of input 0.
template <class F>
void for_rows(Pe& pe, const AxisRows& rows, const F& f) {
  for_pieces_of_rows(pe, rows, [&](int64_t r, int64_t n) {
    f(r, n, pe.pick(0, rows.places(r, n), Dims{n, rows.length}));
  });
}

}  // namespace kernbench::onnx
