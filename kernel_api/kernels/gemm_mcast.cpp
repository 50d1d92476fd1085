// SPDX-License-Identifier: Apache-2.0
// C = A · B over the grid of a rank's PEs, w columns by h rows, in which the PEs of a cube are neighbours. PE (x, y)
// has block (y, x) of a, b and c. Ranks split the rows of a and c; each has all of b. k is cut into panels, also where
// blocks of a or b end. The owner of a panel of a multicasts it along its row of PEs. The owner of a panel of b
// multicasts it along its column (tl.send_all). The next panel arrives while one is multiplied. Sums stay in TCM.
//
// Order: blocks of c by rows, then columns; in each, panels in order of k; in each, a before b. No cycle of waits is
// possible: no PE waits for its sends, and every PE receives in that order.
#include <algorithm>
#include <set>

#include "kernbench/kernel_api/kernels/common.h"
#include "kernbench/kernel_api/kernels/peers.h"
#include "kernbench/kernel_api/kernels/tcm_share.h"

namespace kernbench::kernels::gemm_mcast_kernel {
namespace {

/// An axis of `length`, split into blocks over `parts` places. Each block is split into parts of at most `most`.
struct Axis {
  int64_t length, parts;
  int64_t each() const { return (length + parts - 1) / parts; }
  Range of(int64_t place) const { return cut({place * each(), each()}, {0, length}); }
  /// Part `i` of a place; empty beyond the last one.
  Range part(int64_t place, int64_t i, int64_t most) const {
    const Range all = of(place);
    return cut({all.first + i * most, most}, all);
  }
  int64_t parts_of_place(int64_t most) const { return std::max<int64_t>(1, (each() + most - 1) / most); }
};

/// The PEs of a launch in the grids of their ranks.
struct Grids {
  struct Place {
    int64_t x = 0, y = 0, rank = 0;
  };
  int64_t w = 1, h = 1, ranks = 1;
  std::vector<Place> places = {{}};  ///< by tl.index()
  std::vector<int64_t> pes = {0};    ///< by rank, y and x
  int64_t pe(int64_t x, int64_t y, int64_t rank) const { return pes[static_cast<size_t>((rank * h + y) * w + x)]; }
};

Grids grids_of(const LaunchShape& launch) {
  Grids g;
  const std::vector<ccl::Members> ranks = ccl::groups_of(launch, ccl::parse_axes("cube+pe"));
  g.ranks = static_cast<int64_t>(ranks.size());
  g.places.resize(launch.pes.size());
  g.pes.assign(launch.pes.size(), 0);
  for (int64_t rank = 0; rank < g.ranks; ++rank) {
    const PesOfRank all = pes_of_rank(launch, ranks[static_cast<size_t>(rank)].front());
    g.w = all.cubes.w * all.pes.w;
    g.h = all.cubes.h * all.pes.h;
    for (int64_t cube = 0; cube < all.cubes.cells(); ++cube) {
      for (int64_t i = 0; i < all.pes.cells(); ++i) {
        const int64_t x = all.cubes.x(cube) * all.pes.w + all.pes.x(i);
        const int64_t y = all.cubes.y(cube) * all.pes.h + all.pes.y(i);
        const int64_t pe = all.at(cube, i);
        g.places[static_cast<size_t>(pe)] = {x, y, rank};
        g.pes[static_cast<size_t>((rank * g.h + y) * g.w + x)] = pe;
      }
    }
  }
  return g;
}

struct Plan {
  Grids grid;
  Axis m, n, k_of_a, k_of_b;
  explicit Plan(const Params& p)
      : grid(p.launch() ? grids_of(*p.launch()) : Grids()),
        m{p.integer("m"), grid.ranks * grid.h},
        n{p.integer("n"), grid.w},
        k_of_a{p.integer("k"), grid.w},
        k_of_b{p.integer("k"), grid.h} {}
  /// Panels of k, of at most `most`. Each has one owner in a row of PEs and one in a column.
  std::vector<Range> panels(int64_t most) const {
    std::set<int64_t> cuts;
    for (const Axis* axis : {&k_of_a, &k_of_b}) {
      for (int64_t at = 0; at < axis->length; at += axis->each()) cuts.insert(at);
    }
    std::vector<Range> all;
    for (auto at = cuts.begin(); at != cuts.end(); ++at) {
      const int64_t end = std::next(at) == cuts.end() ? k_of_a.length : *std::next(at);
      for (int64_t first = *at; first < end; first += most) all.push_back({first, std::min(most, end - first)});
    }
    return all;
  }
};

std::string to_column(int64_t x) {
  return "row" + std::to_string(x);
}
std::string to_row(int64_t y) {
  return "col" + std::to_string(y);
}

std::vector<QueueConnection> connections(const Params& params, const LaunchShape&) {
  const Plan plan(params);
  Rings rings(params);
  const Grids& g = plan.grid;
  for (const Grids::Place& at : g.places) {
    const int64_t pe = g.pe(at.x, at.y, at.rank);
    for (int64_t i = at.x + 1; i < g.w; ++i) rings.join(pe, to_column(i), g.pe(i, at.y, at.rank), to_column(at.x));
    for (int64_t j = at.y + 1; j < g.h; ++j) rings.join(pe, to_row(j), g.pe(at.x, j, at.rank), to_row(at.y));
  }
  return rings.all();
}

/// One PE's part.
class Gemm {
 public:
  Gemm(tl::Context& tl, const tl::Args& args)
      : tl_(tl), args_(args), plan_(args.params()), me_(plan_.grid.places[static_cast<size_t>(tl.index())]) {}

  void run() {
    const int64_t most_m = args_.integer("panel_m"), most_n = args_.integer("panel_n");
    const std::vector<Range> panels = plan_.panels(args_.integer("panel_k"));
    for (int64_t i = 0; i < plan_.m.parts_of_place(most_m); ++i) {
      for (int64_t j = 0; j < plan_.n.parts_of_place(most_n); ++j) {
        for (const Range& k : panels) steps_.push_back({i, j, k, k.first == 0, k.end() == plan_.k_of_a.length, {}, {}});
      }
    }
    ask(steps_.front());
    tl::Tensor sum;
    for (size_t s = 0; s < steps_.size(); ++s) {
      Step& now = steps_[s];
      const Range rows = rows_of(me_.y, now.i), cols = plan_.n.part(me_.x, now.j, most_n);
      const bool multiplies = !rows.empty() && !cols.empty();
      const DType of_sum = is_float(args_.dtype()) ? DType::f32 : DType::i32;
      if (multiplies) {
        sum = now.first ? tl_.async().dot(now.a, now.b, of_sum) : tl_.async().dot(now.a, now.b, sum, of_sum);
      }
      now.a = now.b = {};
      if (s + 1 < steps_.size()) ask(steps_[s + 1]);
      if (!multiplies || !now.last) continue;
      tl_.wait(sum);
      const DType out = args_["c"].dtype();
      const tl::Tensor c = out == of_sum ? sum : tl_.cast(sum, out);
      tl_.store_async(block("c", rows, cols), c);
    }
  }

 private:
  struct Step {
    int64_t i, j;  ///< block of c
    Range k;
    bool first, last;
    tl::Tensor a, b;
  };
  /// Part `i` of the rows that PEs in row `y` of this rank have.
  Range rows_of(int64_t y, int64_t i) const {
    return plan_.m.part(me_.rank * plan_.grid.h + y, i, args_.integer("panel_m"));
  }
  /// These rows and columns of the tensor, which this PE has.
  tl::Block block(const std::string& tensor, const Range& rows, const Range& cols) const {
    const tl::View& v = args_[tensor];
    return v.block().tile(rows.first - v.offset[0], cols.first - v.offset[1], rows.count, cols.count);
  }
  /// Requests the step's panels: that of a along the row of PEs, that of b along the column.
  void ask(Step& s) {
    const Range rows = rows_of(me_.y, s.i);
    const Range cols = plan_.n.part(me_.x, s.j, args_.integer("panel_n"));
    const int64_t owner_x = s.k.first / plan_.k_of_a.each(), owner_y = s.k.first / plan_.k_of_b.each();
    const bool owns_a = owner_x == me_.x && !rows.empty(), owns_b = owner_y == me_.y && !cols.empty();
    // Both loads start before the first panel is sent.
    if (owns_a) s.a = tl_.load_async(block("a", rows, s.k));
    if (owns_b) s.b = tl_.load_async(block("b", s.k, cols));
    if (owns_a) {
      std::vector<std::string> ports;
      for (int64_t x = 0; x < plan_.grid.w; ++x) {
        if (x != me_.x && !plan_.n.part(x, s.j, args_.integer("panel_n")).empty()) ports.push_back(to_column(x));
      }
      if (!ports.empty()) tl_.send_all_async(ports, s.a);
    } else if (!rows.empty() && !cols.empty()) {
      s.a = tl_.recv_async(to_column(owner_x), {rows.count, s.k.count}, args_["a"].dtype());
    }
    if (owns_b) {
      std::vector<std::string> ports;
      for (int64_t y = 0; y < plan_.grid.h; ++y) {
        if (y != me_.y && !rows_of(y, s.i).empty()) ports.push_back(to_row(y));
      }
      if (!ports.empty()) tl_.send_all_async(ports, s.b);
    } else if (!rows.empty() && !cols.empty()) {
      s.b = tl_.recv_async(to_row(owner_y), {s.k.count, cols.count}, args_["b"].dtype());
    }
  }

  tl::Context& tl_;
  const tl::Args& args_;
  const Plan plan_;
  const Grids::Place me_;
  std::vector<Step> steps_;
};

void gemm_mcast(tl::Context& tl, const tl::Args& args) {
  Gemm(tl, args).run();
}

/// The layout of a tensor: block (y, x) at PE (x, y).
std::function<ShardPlan(const Params&)> blocks(Axis Plan::*rows, Axis Plan::*cols,
                                               std::function<DType(const Params&)> dtype) {
  return [=](const Params& p) {
    const Plan plan(p);
    ShardPlan shards;
    shards.dtype = dtype(p);
    shards.whole = {(plan.*rows).length, (plan.*cols).length};
    for (uint32_t pe = 0; pe < plan.grid.places.size(); ++pe) {
      const Grids::Place& at = plan.grid.places[pe];
      // An axis with fewer places than rows of PEs has the same blocks in all ranks.
      const Range r = (plan.*rows).of((at.rank * plan.grid.h + at.y) % (plan.*rows).parts), c = (plan.*cols).of(at.x);
      const bool any = !r.empty() && !c.empty();
      shards.shards.push_back(any ? Shard{pe, {r.first, c.first}, {r.count, c.count}} : Shard{pe, {0, 0}, {0, 0}});
    }
    return shards;
  };
}

KernelSpec spec() {
  KernelSpec s;
  s.name = "gemm_mcast";
  s.help = "C = A B on a grid of PEs; owners multicast blocks of A along rows and of B along columns";
  add_gemm_interface(&s);
  const ParamSpec dtype = s.params.back();
  s.params = {ParamSpec::size("m", 1024, "rows of a and c, split over the rows of the grid"),
              ParamSpec::size("n", 1024, "columns of b and c, split over the columns of the grid"),
              ParamSpec::size("k", 1024, "columns of a, rows of b"),
              ParamSpec::size("panel_m", 256, "maximum rows of a panel of a").tuning(),
              ParamSpec::size("panel_n", 256, "maximum columns of a panel of b").tuning(),
              ParamSpec::size("panel_k", 512, "maximum depth of a panel").tuning()};
  for (const ParamSpec& p : ring_params(2, 16384)) s.params.push_back(p);
  s.params.push_back(dtype);
  s.tensors[0].shards = blocks(&Plan::m, &Plan::k_of_a, own_dtype);
  s.tensors[1].shards = blocks(&Plan::k_of_b, &Plan::n, own_dtype);
  s.tensors[2].shards = blocks(&Plan::m, &Plan::n, gemm_out_dtype);
  s.function = gemm_mcast;
  s.reference = [](const Params& p, const TensorMap& in) {
    return std::map<std::string, Expected>{{"c", gemm_reference(p, in)}};
  };
  s.prepare = [](Params* p, const LaunchCosts& costs, LaunchNotes*) {
    fit_in_tcm("gemm_mcast", p, costs, {"slot_bytes"}, {"panel_m", "panel_n", "panel_k"});
  };
  s.wiring = "all-to-all in each row (row0, row1, ...) and each column (col0, col1, ...) of the grid";
  s.queues = connections;
  return s;
}

const RegisterKernel registered{spec()};

}  // namespace
}  // namespace kernbench::kernels::gemm_mcast_kernel
