// SPDX-License-Identifier: Apache-2.0
#include "kernbench/kernel_api/layout.h"

#include <algorithm>
#include <map>
#include <stdexcept>

namespace kernbench::host {
namespace {

std::string text_of(int axis, int64_t unit = 1) {
  if (axis == LayoutLevel::kWhole) return "replicate";
  return "shard(" + std::to_string(axis) + (unit > 1 ? ", " + std::to_string(unit) : "") + ")";
}

std::string text_of(const LayoutLevel& l) {
  switch (l.kind) {
    case LayoutLevel::Kind::replicate:
      return "replicate";
    case LayoutLevel::Kind::shard:
      return text_of(l.axis, l.unit);
    case LayoutLevel::Kind::partial:
      return "partial";
    case LayoutLevel::Kind::grid:
      return "grid(" + text_of(l.axis) + ", " + text_of(l.across) + ")";
  }
  return {};
}

LayoutLevel below_ranks(LayoutLevel l) {
  if (l.kind == LayoutLevel::Kind::partial) throw std::invalid_argument("a tensor is partial over ranks only");
  return l;
}

/// Numbers the places of a level within their parent, in order of appearance.
class Places {
 public:
  uint32_t add(uint64_t above, uint32_t number) {
    std::map<uint32_t, uint32_t>& level = levels_[above];
    return level.emplace(number, static_cast<uint32_t>(level.size())).first->second;
  }
  uint32_t count(uint64_t above) const { return static_cast<uint32_t>(levels_.at(above).size()); }

 private:
  std::map<uint64_t, std::map<uint32_t, uint32_t>> levels_;
};

void narrow(int axis, uint32_t place, uint32_t places, Shard& s, int64_t unit = 1) {
  const int rank = s.extent.rank();
  const int from_front = axis < 0 ? axis + rank : axis;
  if (from_front < 0 || from_front >= rank) {
    throw std::invalid_argument("shard(" + std::to_string(axis) + ") of a tensor with " + std::to_string(rank) +
                                " axes");
  }
  take_block(s, from_front, place, places, unit);
}

/// `w`: columns of a grid of `whole` places; one row if some places are omitted.
void narrow(const LayoutLevel& level, uint32_t place, uint32_t places, int64_t whole, int64_t w, Shard& s) {
  if (level.kind == LayoutLevel::Kind::shard) narrow(level.axis, place, places, s, level.unit);
  if (level.kind != LayoutLevel::Kind::grid) return;
  const uint32_t columns = whole == places && w > 0 ? static_cast<uint32_t>(w) : places;
  if (level.axis != LayoutLevel::kWhole) narrow(level.axis, place / columns, places / columns, s);
  if (level.across != LayoutLevel::kWhole && !s.empty()) narrow(level.across, place % columns, columns, s);
}

}  // namespace

LayoutLevel grid(LayoutLevel down, LayoutLevel across) {
  const auto axis_of = [](const LayoutLevel& l) {
    if (l.kind == LayoutLevel::Kind::shard && l.unit == 1) return l.axis;
    if (l.kind != LayoutLevel::Kind::replicate)
      throw std::invalid_argument("a grid's rows and columns are replicate or shard(axis), not " + text_of(l));
    return LayoutLevel::kWhole;
  };
  return {LayoutLevel::Kind::grid, axis_of(down), axis_of(across)};
}

Layout Layout::cube(LayoutLevel l) const {
  Layout copy = *this;
  copy.cube_ = below_ranks(l);
  return copy;
}

Layout Layout::pe(LayoutLevel l) const {
  Layout copy = *this;
  copy.pe_ = below_ranks(l);
  return copy;
}

Layout Layout::over_ranks(LayoutLevel l) const {
  Layout copy = *this;
  copy.rank_ = l;
  return copy;
}

Layout Layout::on(std::vector<uint32_t> ranks) const {
  Layout copy = *this;
  std::sort(ranks.begin(), ranks.end());
  ranks.erase(std::unique(ranks.begin(), ranks.end()), ranks.end());
  copy.ranks_ = std::move(ranks);
  return copy;
}

std::string Layout::to_string() const {
  std::string text = "rank " + text_of(rank_) + ", cube " + text_of(cube_) + ", pe " + text_of(pe_);
  for (size_t i = 0; i < ranks_.size(); ++i)
    text += (i > 0 ? ", " : ranks_.size() == 1 ? ", on rank " : ", on ranks ") + std::to_string(ranks_[i]);
  return text;
}

LayoutGrids grids_of(const LaunchShape& launch) {
  const LaunchShape::Grid cubes = launch.cubes, pes = launch.grid_of_pes();
  return {cubes.w * cubes.h, cubes.w, pes.w * pes.h, pes.w};
}

ShardPlan plan_shards(const Layout& layout, DType dtype, const Dims& shape, const LaunchShape* launch) {
  std::vector<LayoutPlace> places;
  if (launch == nullptr) return plan_shards(layout, dtype, shape, std::vector<LayoutPlace>(1));
  for (const LaunchShape::Place& p : launch->pes)
    places.push_back({static_cast<uint32_t>(p.rank), static_cast<uint32_t>(p.cube), static_cast<uint32_t>(p.pe)});
  return plan_shards(layout, dtype, shape, places, grids_of(*launch));
}

ShardPlan plan_shards(const Layout& layout, DType dtype, const Dims& shape, const std::vector<LayoutPlace>& pes,
                      const LayoutGrids& grids) {
  if (layout.rank().kind == LayoutLevel::Kind::grid) throw std::invalid_argument("a grid is of cubes or PEs");
  if (!layout.ranks().empty() && shape.rank() == 0) throw std::invalid_argument("a tensor of rank 0 lies on all ranks");
  ShardPlan plan;
  plan.dtype = dtype;
  plan.whole = shape;
  const auto has = [&](uint32_t rank) {
    return layout.ranks().empty() || std::binary_search(layout.ranks().begin(), layout.ranks().end(), rank);
  };
  Places ranks, cubes, in_cube;
  struct At {
    uint32_t rank, cube, pe;
    uint64_t in_rank, in_cube_key;
  };
  std::vector<At> at;
  for (const LayoutPlace& p : pes) {
    const uint64_t cube_key = uint64_t{p.rank} << 32 | p.cube;
    at.push_back({has(p.rank) ? ranks.add(0, p.rank) : 0, cubes.add(p.rank, p.cube), in_cube.add(cube_key, p.pe),
                  p.rank, cube_key});
  }
  if (std::none_of(pes.begin(), pes.end(), [&](const LayoutPlace& p) { return has(p.rank); }))
    throw std::invalid_argument("it lies on no rank that there is: " + layout.to_string());
  for (uint32_t p = 0; p < pes.size(); ++p) {
    Shard s;
    s.owner = p;
    s.offset = s.extent = shape;
    for (int i = 0; i < shape.rank(); ++i) s.offset[i] = 0;
    if (has(pes[p].rank)) {
      const uint32_t n_cubes = cubes.count(at[p].in_rank), n_pes = in_cube.count(at[p].in_cube_key);
      narrow(layout.rank(), at[p].rank, ranks.count(0), 0, 0, s);
      narrow(layout.cube(), at[p].cube, n_cubes, grids.cubes, grids.cube_w, s);
      narrow(layout.pe(), at[p].pe, n_pes, grids.pes, grids.pe_w, s);
    } else {
      for (int i = 0; i < shape.rank(); ++i) s.extent[i] = 0;
    }
    plan.shards.push_back(s);
  }
  return plan;
}

}  // namespace kernbench::host
