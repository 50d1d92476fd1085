// SPDX-License-Identifier: Apache-2.0
#include "kernbench/kernel_api/kernels/redistribution_pieces.h"

#include <algorithm>

#include "kernbench/kernel_api/pe_backend.h"

namespace kernbench::kernels {
namespace {

using ccl::Redistribution;

constexpr int64_t kPieceBytes = 256 << 10;  // moved at once

std::vector<host::LayoutPlace> places_of(const LaunchShape& launch) {
  std::vector<host::LayoutPlace> all;
  for (const LaunchShape::Place& p : launch.pes)
    all.push_back({static_cast<uint32_t>(p.rank), static_cast<uint32_t>(p.cube), static_cast<uint32_t>(p.pe)});
  return all;
}

ShardPlan plan_of(const tl::Args& args, const std::string& tensor) {
  ShardPlan plan;
  plan.dtype = args.shard(tensor, 0).dtype();
  plan.whole = args.shard(tensor, 0).whole;
  for (uint32_t p = 0; p < args.shards(); ++p) {
    const tl::View& v = args.shard(tensor, p);
    plan.shards.push_back({p, v.offset, v.shape});
  }
  return plan;
}

}  // namespace

const Redistribution& redistribution(const tl::Args& args, const LaunchShape& launch, const std::string& from,
                                     const std::string& to, bool partial) {
  const ShardPlan x = plan_of(args, from), y = plan_of(args, to);
  std::string text = "redistribution";
  if (partial) text += " of a sum";
  for (const ShardPlan* plan : {&x, &y}) {
    for (const Shard& s : plan->shards) {
      for (const int64_t v : s.offset) text += ',' + std::to_string(v);
      for (const int64_t v : s.extent) text += '+' + std::to_string(v);
      text += ';';
    }
  }
  text += std::to_string(size_of(x.dtype));
  return launch.memo.get<Redistribution>(text, [&] { return Redistribution(x, partial, y, places_of(launch)); });
}

void cut_into_pieces(const Redistribution::Take& t, const tl::View& x, const tl::View& y, std::vector<Piece>* pieces) {
  const int rank = t.extent.rank();
  int axis = rank - 1;  // axis along which rows run; in all later axes both shards are complete
  while (axis > 0 && t.extent[axis] == x.shape[axis] && t.extent[axis] == y.shape[axis]) --axis;
  int64_t behind = 1;
  for (int i = axis + 1; i < rank; ++i) behind *= t.extent[i];
  const int64_t along = rank > 0 ? t.extent[axis] : 1, down = axis > 0 ? t.extent[axis - 1] : 1;
  const int64_t most = std::max<int64_t>(1, kPieceBytes / static_cast<int64_t>(size_of(x.dtype())));
  const int64_t width = std::min(along, std::max<int64_t>(1, most / behind));
  const int64_t height = std::min(down, std::max<int64_t>(1, most / (width * behind)));
  int64_t outer = 1;
  for (int i = 0; i + 1 < axis; ++i) outer *= t.extent[i];
  const auto rows = [&](const tl::View& v, int64_t n, int64_t row, int64_t col) {
    int64_t stride = behind, first = 0;
    Rows r{0, 1};
    for (int i = axis; i >= 0; --i) {
      int64_t at = t.offset[i] - v.offset[i];
      if (i == axis) at += col;
      if (i == axis - 1) {
        at += row;
        r.ld = stride;
      }
      if (i < axis - 1) {
        at += n % t.extent[i];
        n /= t.extent[i];
      }
      first += at * stride;
      stride *= v.shape[i];
    }
    r.first = first;
    return r;
  };
  for (int64_t n = 0; n < outer; ++n) {
    for (int64_t row = 0; row < down; row += height) {
      for (int64_t col = 0; col < along; col += width) {
        Piece p{&t, std::min(height, down - row), std::min(width, along - col) * behind, {}, {}};
        if (rank > 0) {
          p.in_x = rows(x, n, row, col);
          p.in_y = rows(y, n, row, col);
        }
        if (p.rows == 1) p.in_x.ld = p.in_y.ld = p.cols;
        pieces->push_back(p);
      }
    }
  }
}

tl::Block block(const tl::View& v, const Rows& r, const Piece& p) {
  return (v.ptr + r.first).block({p.rows, p.cols}, r.ld);
}

}  // namespace kernbench::kernels
