#include "kernbench/kernel_api/layout.h"

#include <map>
#include <stdexcept>

namespace kernbench::host {
namespace {

std::string text_of(const LayoutLevel& l) {
  switch (l.kind) {
    case LayoutLevel::Kind::replicate:
      return "replicate";
    case LayoutLevel::Kind::shard:
      return "shard(" + std::to_string(l.axis) + ")";
    case LayoutLevel::Kind::partial:
      return "partial";
  }
  return {};
}

LayoutLevel below_ranks(LayoutLevel l) {
  if (l.kind == LayoutLevel::Kind::partial) throw std::invalid_argument("a tensor is partial over ranks only");
  return l;
}

/// Numbers the places of a level inside the place above, in the order in which they come.
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

void narrow(const LayoutLevel& level, uint32_t place, uint32_t places, Shard& s) {
  if (level.kind != LayoutLevel::Kind::shard) return;
  const int rank = s.extent.rank();
  const int axis = level.axis < 0 ? level.axis + rank : level.axis;
  if (axis < 0 || axis >= rank) {
    throw std::invalid_argument("shard(" + std::to_string(level.axis) + ") of a tensor with " + std::to_string(rank) +
                                " axes");
  }
  take_block(s, axis, place, places);
}

}  // namespace

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

std::string Layout::to_string() const {
  return "rank " + text_of(rank_) + ", cube " + text_of(cube_) + ", pe " + text_of(pe_);
}

ShardPlan plan_shards(const Layout& layout, DType dtype, const Dims& shape, const std::vector<LayoutPlace>& pes) {
  ShardPlan plan;
  plan.dtype = dtype;
  plan.whole = shape;
  Places ranks, cubes, in_cube;
  struct At {
    uint32_t rank, cube, pe;
    uint64_t in_rank, in_cube_key;
  };
  std::vector<At> at;
  for (const LayoutPlace& p : pes) {
    const uint64_t cube_key = uint64_t{p.rank} << 32 | p.cube;
    at.push_back({ranks.add(0, p.rank), cubes.add(p.rank, p.cube), in_cube.add(cube_key, p.pe), p.rank, cube_key});
  }
  for (uint32_t p = 0; p < pes.size(); ++p) {
    Shard s;
    s.owner = p;
    s.offset = shape;
    for (int i = 0; i < shape.rank(); ++i) s.offset[i] = 0;
    s.extent = shape;
    narrow(layout.rank(), at[p].rank, ranks.count(0), s);
    narrow(layout.cube(), at[p].cube, cubes.count(at[p].in_rank), s);
    narrow(layout.pe(), at[p].pe, in_cube.count(at[p].in_cube_key), s);
    plan.shards.push_back(s);
  }
  return plan;
}

}  // namespace kernbench::host
