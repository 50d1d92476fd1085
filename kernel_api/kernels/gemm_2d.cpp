// SPDX-License-Identifier: Apache-2.0
// C = activation(A · B) over the grid of a rank's cubes. Each rank stores both operands once. Cube (x, y) computes the
// block of C in block row y and block column x.
//
// k is processed in panels that end where shards of A or B end. A PE that stores a piece of a panel loads it. The piece
// then goes from PE to PE through queues: A's along the row of cubes, B's along the column, and in each cube to the PEs
// that need it. This runs some panels ahead of the products, which accumulate in TCM:
//
//   PE (px, py) of a cube: rows of A that PEs (·, py) store, columns of B that PEs (px, ·) store
//
// B may have its own type, with scales. If each column has one scale, the sums are scaled, and B is sent unconverted.
// If groups of rows have scales, or if B's elements are packed, the PE that loads them converts them to floats before
// sending. Each element is thus converted once, by one PE. A may be i8 if B is i8, with a step for each row
// (row_steps.h). Sums of integers are exact, and are multiplied by steps and scales before they are rounded.
//
// There is no deadlock: sends are never waited for, and a panel depends only on earlier ones on its path.
#include <algorithm>
#include <deque>
#include <functional>
#include <numeric>
#include <optional>
#include <set>

#include "kernbench/kernel_api/collectives/grids.h"
#include "kernbench/kernel_api/kernels/common.h"
#include "kernbench/kernel_api/kernels/panel.h"
#include "kernbench/kernel_api/kernels/peers.h"
#include "kernbench/kernel_api/kernels/quantized.h"
#include "kernbench/kernel_api/kernels/row_steps.h"
#include "kernbench/kernel_api/kernels/shards.h"
#include "kernbench/kernel_api/kernels/sum_beside.h"
#include "kernbench/kernel_api/kernels/sum_over_ranks.h"
#include "kernbench/kernel_api/kernels/tcm_share.h"
#include "kernbench/kernel_api/layout.h"
#include "kernbench/kernel_api/pe_backend.h"

namespace kernbench::kernels::gemm_2d_kernel {
namespace {

using ccl::Grid;
using Places = PesOfRank;

using panel::along;
using panel::any;
using panel::check;
using panel::Cuts;
using panel::even_cuts;
using panel::Far;
using panel::joined;
using panel::Line;
using panel::longest_of;
using panel::panels;
using panel::Piece;
using panel::Stored;

std::string in_row(int64_t x) {
  return "row" + std::to_string(x);
}
std::string in_column(int64_t y) {
  return "col" + std::to_string(y);
}

/// Whether the ranks split the columns of a, and all ranks use all of them.
bool is_gathered(const Params& p) {
  return p.choice("split") == "columns_gathered";
}
constexpr Exchange kGathered{"gathered", "rank"};
constexpr uint32_t kSlotsBetweenRanks = 4;
constexpr uint64_t kSlotsOfOne = 16;  // this many slots between ranks are as large as one inside a rank
constexpr int64_t kGatheredK = 512;   // columns per message, at most

/// Whether the ranks split k, so that their products are summands.
bool is_summed(const Params& p) {
  return p.choice("split") == "k" || p.choice("split") == "k_to_columns";
}

/// Lines through the cubes for each PE, and all-to-all in the rows and columns of a cube.
std::vector<QueueConnection> connections(const Params& params, const LaunchShape& launch) {
  Rings rings(params);
  for (const ccl::Members& rank : ccl::groups_of(launch, ccl::parse_axes("cube+pe"))) {
    const Places p = pes_of_rank(launch, rank.front());
    for (int64_t pe = 0; pe < p.pes.cells(); ++pe) {
      for (const ccl::Wire& w : ccl::grid_wiring(p.cubes))
        rings.join(p.at(w.from, pe), w.port, p.at(w.to, pe), w.peer_port);
    }
    for (int64_t cube = 0; cube < p.cubes.cells(); ++cube) {
      for (int64_t pe = 0; pe < p.pes.cells(); ++pe) {
        const int64_t x = p.pes.x(pe), y = p.pes.y(pe);
        for (int64_t i = x + 1; i < p.pes.w; ++i)
          rings.join(p.at(cube, pe), in_row(i), p.at(cube, p.pes.cell(i, y)), in_row(x));
        for (int64_t j = y + 1; j < p.pes.h; ++j)
          rings.join(p.at(cube, pe), in_column(j), p.at(cube, p.pes.cell(x, j)), in_column(y));
      }
    }
  }
  std::vector<QueueConnection> all = rings.all();
  const auto slot_bytes = static_cast<uint64_t>(params.integer("slot_bytes")) / kSlotsOfOne;
  Rings between(kSlotsBetweenRanks, std::max<uint64_t>(64, slot_bytes / 64 * 64), params.choice("tier"));
  if (is_summed(params)) SumOverRanks::join(launch, &between);
  if (is_gathered(params)) between.join(launch, kGathered);
  all.insert(all.end(), between.all().begin(), between.all().end());
  return all;
}

/// Stores a finished block of c into all shards that contain a part of it.
class Output {
 public:
  Output(tl::Context& tl, const tl::Args& args, const ccl::Members& members) : tl_(tl) {
    for (const int64_t m : members) {
      const tl::View& v = args.shard("c", static_cast<uint32_t>(m));
      if (!v.empty()) shards_.push_back(&v);
    }
  }
  /// The shard with all of it, if no other shard has a part.
  const tl::View* only(const Range& rows, const Range& cols) const {
    const tl::View* found = nullptr;
    for (const tl::View* v : shards_) {
      if (cut(rows, *v, 0).empty() || cut(cols, *v, 1).empty()) continue;
      if (found != nullptr || cut(rows, *v, 0).count != rows.count || cut(cols, *v, 1).count != cols.count)
        return nullptr;
      found = v;
    }
    return found;
  }
  static tl::Block block(const tl::View& v, const Range& rows, const Range& cols) {
    return v.block().tile(rows.first - v.offset[0], cols.first - v.offset[1], rows.count, cols.count);
  }
  void store(const Range& rows, const Range& cols, const tl::Tensor& value) {
    for (const tl::View* v : shards_) {
      const Range r = cut(rows, *v, 0), c = cut(cols, *v, 1);
      if (r.empty() || c.empty()) continue;
      const tl::Tensor part = value.slice(0, r.first - rows.first, r.count).slice(1, c.first - cols.first, c.count);
      tl_.store_async(block(*v, r, c), part);
    }
  }

 private:
  static Range cut(const Range& r, const tl::View& v, int axis) { return kernels::cut(r, range_of(v, axis)); }
  tl::Context& tl_;
  std::vector<const tl::View*> shards_;
};

/// The columns distributed over the ranks.
std::vector<Range> columns_by_ranks(int64_t ranks, int64_t columns) {
  std::vector<Range> all;
  const int64_t each = tl::Context::cdiv(columns, ranks);
  for (int64_t r = 0; r < ranks; ++r) all.push_back(cut({r * each, each}, {0, columns}));
  return all;
}
std::vector<Range> columns_of_ranks(const tl::Context& tl, const tl::Args& args, const std::string& tensor) {
  std::vector<Range> all(static_cast<size_t>(tl.world_size()));
  for (uint32_t p = 0; p < args.shards(); ++p) {
    const Range has = range_of(args.shard(tensor, p), 1);
    Range& r = all[static_cast<size_t>(tl.launch().pes[p].rank)];
    if (has.empty()) continue;
    if (r.empty()) r = has;
    const int64_t end = std::max(r.end(), has.end());
    r.first = std::min(r.first, has.first);
    r.count = end - r.first;
  }
  return all;
}

constexpr int64_t kKeptBesideSum = 3;  // factor for the bytes of a that stay in TCM
constexpr int64_t kFewestRows = 32;    // of a PE's piece of a kept panel; with fewer, GEMM waits for TCM

class Gemm {
 public:
  Gemm(tl::Context& tl, const tl::Args& args, const Places& places)
      : tl_(tl), args_(args), out_(tl, args, places.members) {
    const auto member = ccl::member_of(places.members, tl.index());
    const int64_t cube = member / places.pes.cells(), pe = member % places.pes.cells();
    const Grid &cubes = places.cubes, &pes = places.pes;
    const auto line = [&](const std::string& name, int axis, bool rows) {
      Line l;
      l.name = name;
      l.axis = axis;
      l.cube = rows ? cubes.x(cube) : cubes.y(cube);
      l.pe = rows ? pes.x(pe) : pes.y(pe);
      l.before = rows ? "W" : "N";
      l.behind = rows ? "E" : "S";
      for (int64_t p = 0; p < (rows ? pes.w : pes.h); ++p) l.peers.push_back(rows ? in_row(p) : in_column(p));
      const auto stored = [&](size_t rank) {
        Stored all;
        for (int64_t c = 0; c < (rows ? cubes.w : cubes.h); ++c) {
          all.emplace_back();
          const int64_t at = rows ? cubes.cell(c, cubes.y(cube)) : cubes.cell(cubes.x(cube), c);
          for (int64_t p = 0; p < static_cast<int64_t>(l.peers.size()); ++p) {
            const int64_t in_cube = rows ? pes.cell(p, pes.y(pe)) : pes.cell(pes.x(pe), p);
            const int64_t here = places.at(at, in_cube);
            all.back().push_back(args.shard(name, static_cast<uint32_t>(lane_with(tl.launch(), "rank", here)[rank])));
          }
        }
        return all;
      };
      l.stored = stored(own_rank());
      for (size_t i = 1; rows && is_gathered(args.params()) && i < static_cast<size_t>(tl.world_size()); ++i) {
        const size_t rank = (own_rank() + i) % static_cast<size_t>(tl.world_size());
        l.far.push_back({rank, stored(rank), {}, {}});
      }
      return l;
    };
    a_ = line("a", 0, true);
    a_.dtype = args["a"].dtype();
    a_.stacked = is_summed(args.params());
    b_ = line("b", 1, false);
    b_.length = args["c"].whole[1];
    b_.dtype = args["b"].dtype();
    const auto scales = args.has("scale") ? std::make_shared<const Scales>(tl, args, "gemm_2d", "scale") : nullptr;
    const bool of_columns = scales && scales->group() >= args.integer("k") && !is_packed(b_.dtype);
    (of_columns ? of_columns_ : b_.scales) = scales;
    if (is_packed(b_.dtype) || b_.scales) b_.dtype = args.dtype();
    if (scales && !is_float(args.dtype())) throw KernelFault("gemm_2d: scale: of floats only");
    if (args.has("a_step")) {
      if (!activations_are_integers(args.params())) throw KernelFault("gemm_2d: a_step: expected activations=i8");
      of_rows_ = std::make_shared<const Scales>(tl, args, "gemm_2d", "a_step", 1);
    }
    summed_apart_ = of_columns_ || (is_float(args.dtype()) && !is_float(a_.dtype));
    std::vector<int64_t> seen = places.members;
    if (is_gathered(args.params())) {  // all ranks must split the data for each other equally
      seen.resize(tl.launch().pes.size());
      std::iota(seen.begin(), seen.end(), 0);
    }
    for (const int64_t m : seen) {
      for (const Line* l : {&a_, &b_}) {
        const tl::View& v = args.shard(l->name, static_cast<uint32_t>(m));
        const Range k = range_of(v, 1 - l->axis), along = l->along(v);
        if (k.empty()) continue;
        cuts_.insert({k.first, k.end()});
        int64_t& most = l->axis == 0 ? most_rows_ : most_cols_;
        most = std::max(most, along.count);
      }
    }
    if (args.has("residual") && !is_summed(args.params()))
      throw KernelFault("gemm_2d: residual: expected split=k or k_to_columns");
    if (is_summed(args.params())) {
      const bool all = args.choice("split") == "k";
      owned_ = all ? columns_by_ranks(tl.world_size(), b_.length) : columns_of_ranks(tl, args, "c");
      sum_.emplace(tl, owned_, all, [this](const Range& r, const Range& c, const tl::Tensor& t) {
        summed_.push_back({r, c, t});
      });
    }
  }

  void run() {
    const bool any_a = any(a_), any_b = any(b_);
    if (cuts_.empty() && (is_summed(args_.params()) || is_gathered(args_.params())))
      throw KernelFault("gemm_2d: split=" + args_.choice("split") + ": a rank has no part of k");
    if (cuts_.empty()) clear();
    if (cuts_.empty() || (!any_a && !any_b)) return SumBeside(tl_, args_, 0).finish();
    const Range k{*cuts_.begin(), *cuts_.rbegin() - *cuts_.begin()};
    const std::vector<Range> of_ranks =
        is_gathered(args_.params()) ? columns_of_ranks(tl_, args_, "a") : std::vector<Range>(own_rank() + 1, k);
    if (any_a) check(a_, of_ranks[own_rank()]);
    if (any_b) check(b_, k);
    const auto item = static_cast<int64_t>(size_of(args_.dtype()));
    const int64_t of_a_row = static_cast<int64_t>(a_.peers.size()) * k.count * item;  // bytes in all PEs of the line
    row_cuts_ = even_cuts(most_rows_, args_.integer("panel_m"));
    column_cuts_ = even_cuts(most_cols_, columns_of_step());
    if (sum_ && keep_bytes() / of_a_row >= kFewestRows)
      row_cuts_ = even_cuts(most_rows_, std::min(args_.integer("panel_m"), keep_bytes() / of_a_row));
    const int64_t rows = most_of(a_, most_rows_, row_cuts_);
    const bool may_keep = rows * k.count * item <= keep_bytes();
    if (sum_ && may_keep) column_cuts_ = cuts_beside_sum();
    const auto ms = row_cuts_.size(), ns = column_cuts_.size();
    const int64_t cols = most_of(b_, most_cols_, column_cuts_);
    const int64_t room = args_.integer("panel_bytes") / std::max<int64_t>(1, (rows + cols) * item);
    const int64_t most_k = std::clamp<int64_t>(room, 1, args_.integer("panel_k"));
    const int64_t first_k = std::min(most_k, args_.integer("first_k"));
    const bool keep = ns > 1 && may_keep;
    two_blocks_ = sum_ && keep && (rows + 2 * cols) * k.count * item <= keep_bytes();
    const std::set<int64_t> own_cuts = cuts_in(of_ranks[own_rank()]);
    gather(of_ranks, std::min(most_k, kGatheredK), panels(own_cuts, first_k, most_k).size());
    for (size_t i = 0; i < ms; ++i) {
      for (size_t j = 0; j < ns; ++j) {
        std::vector<Range> all = panels(own_cuts, todo_.empty() ? first_k : most_k, most_k);
        for (const Far& f : a_.far) all.insert(all.end(), f.panels.begin(), f.panels.end());
        panels_of_block_ = all.size();
        for (size_t p = 0; p < all.size(); ++p)
          todo_.push_back(
              {i, j, all[p], p == 0, p + 1 == all.size(), keep && j > 0, p == all.size() * 5 / 6, {}, {}, {}});
      }
    }
    const auto ahead = static_cast<size_t>(args_.integer("ahead"));
    SumBeside sum(tl_, args_, todo_.size());
    size_t asked = 0;
    for (size_t s = 0; s < todo_.size(); ++s) {
      if (s >= ahead) finish(&todo_[s - ahead]);
      for (; asked < todo_.size() && asked <= s + ahead; ++asked) ask(asked);
      Step& now = todo_[s];
      if (now.a) now.a->pass_on(tl_);
      now.b->pass_on(tl_);
      std::set<std::string> busy;
      for (size_t next = s + 1; next < asked; ++next) {
        if (todo_[next].a) todo_[next].a->pass_on_early(tl_, &busy);
        todo_[next].b->pass_on_early(tl_, &busy);
      }
      // Early enough that it is sent before it is needed.
      for (size_t next = s + 1; next < std::min(asked, s + ahead); ++next) todo_[next].b->make_floats(tl_);
      if (s == 0) ask_for_scales();
      if (s == 0) ask_for_residual();
      send_gathered(s);
      multiply(&now, keep);
      sum.step();
    }
    sum.finish();
    for (Step& s : todo_) finish(&s);
    store_scaled();
    if (sum_) sum_->finish([this] { store_summed(); });
  }

 private:
  /// A product's contribution to a part of a block of c.
  struct Sum {
    Range rows, cols;
    tl::Tensor value;
  };
  /// One panel for one block of c.
  struct Step {
    size_t i, j;  ///< the block
    Range k;
    bool first, last;
    bool a_is_kept;
    bool goes_on;  ///< the sum over ranks of the block before continues in this step
    std::optional<Piece> a;
    std::shared_ptr<Piece> b;  ///< two blocks may share one
    std::vector<Sum> sums;     ///< the sums that include this panel
  };
  /// The parts of a in one panel.
  struct Held {
    Range k;
    std::vector<tl::Tensor> parts;
  };

  /// Upper bound of the rows (columns) of a panel that a PE needs from all PEs of the line.
  static int64_t most_of(const Line& l, int64_t of_a_pe, const Cuts& ends) {
    return static_cast<int64_t>(l.peers.size()) * std::min(of_a_pe, longest_of(ends));
  }
  std::vector<Range> rows_of(const Step& s) const { return along(a_, row_cuts_, s.i); }
  std::vector<Range> columns_of(const Step& s) const { return along(b_, column_cuts_, s.j); }
  /// Bytes of a in TCM; more if it must stay for several blocks of columns.
  int64_t keep_bytes() const { return args_.integer("keep_bytes") * (sum_ ? kKeptBesideSum : 1); }
  /// A multiple of complete elements of b.
  int64_t columns_of_step() const {
    const int64_t values = values_in(args_["b"].dtype());
    return tl::Context::cdiv(args_.integer("panel_n"), values) * values;
  }
  /// Consecutive blocks of columns. The sum over ranks of each block runs during the next blocks. The first block is
  /// the widest, because all of a arrives with it.
  Cuts cuts_beside_sum() const {
    const int64_t values = values_in(args_["b"].dtype()), whole = tl::Context::cdiv(most_cols_, values);
    Cuts ends;
    for (const int64_t sixteenths : {4, 7, 10, 13, 16}) {
      const int64_t end = tl::Context::cdiv(whole * sixteenths, 16) * values;
      if (ends.empty() || end > ends.back()) ends.push_back(end);
    }
    return ends;
  }

  void ask(size_t at) {
    Step& s = todo_[at];
    if (!s.a_is_kept) s.a.emplace(tl_, a_, rows_of(s), s.k);
    if (s.b) return;  // requested with the block before
    std::vector<Range> columns = columns_of(s);
    const bool of_two = s.j + 1 < column_cuts_.size() && comes_with_before(s.j + 1);
    if (of_two) {
      const std::vector<Range> more = along(b_, column_cuts_, s.j + 1);
      for (size_t p = 0; p < columns.size(); ++p) columns[p].count += more[p].count;
    }
    s.b = std::make_shared<Piece>(tl_, b_, columns, s.k);
    if (of_two) todo_[at + panels_of_block_].b = s.b;
  }
  /// Whether a block's columns of b arrive together with those of the block before, in one piece.
  bool comes_with_before(size_t j) const { return two_blocks_ && j > 0 && j % 2 == 0; }

  std::vector<tl::Tensor> parts_of_b(const Step& s) const {
    std::vector<tl::Tensor> parts = s.b->parts();
    const std::vector<Range> columns = columns_of(s);
    const std::vector<Range> before =
        comes_with_before(s.j) ? along(b_, column_cuts_, s.j - 1) : std::vector<Range>(parts.size());
    for (size_t p = 0; p < parts.size(); ++p)
      parts[p] = columns[p].empty() ? tl::Tensor() : parts[p].slice(1, before[p].count, columns[p].count);
    return parts;
  }

  /// Adds a panel's products to the sums. One engine runs simple commands in order, so no wait for the sums is needed.
  void multiply(Step* s, bool keep) {
    const std::vector<Range> rows = rows_of(*s), cols = columns_of(*s);
    const std::vector<tl::Tensor> b = parts_of_b(*s);
    std::vector<Held> a;
    if (s->a) a.push_back({s->k, a_.stacked ? std::vector<tl::Tensor>{s->a->whole(tl_)} : s->a->parts()});
    if (s->a && keep) {
      if (s->first) kept_.clear();
      kept_.push_back(a.front());
    }
    std::vector<std::vector<Range>> of_parts;  // by part of a
    for (const Range& r : rows) of_parts.push_back({r});
    if (a_.stacked) of_parts = {joined(rows)};
    if (s->first) sums_.assign(of_parts.size() * cols.size(), {});
    for (const Held& h : s->a ? a : kept_) {
      const Range k = cut(s->k, h.k);
      if (!k.empty()) multiply(*s, h, b, k);
    }
    for (size_t i = 0; i < of_parts.size(); ++i) {
      for (size_t j = 0; j < cols.size(); ++j) {
        const tl::Tensor& sum = sums_[i * cols.size() + j];
        int64_t above = 0;
        for (const Range& r : sum.valid() ? of_parts[i] : std::vector<Range>()) {
          s->sums.push_back({r, cols[j], sum.slice(0, above, r.count)});
          above += r.count;
        }
      }
    }
    s->a.reset();
    s->b.reset();
  }

  void multiply(const Step& s, const Held& a, const std::vector<tl::Tensor>& b, const Range& k) {
    const bool ends = s.last && k.end() == s.k.end() && args_.choice("activation") == "none" && !summed_apart_;
    const DType acc = is_float(a_.dtype) ? DType::f32 : DType::i32;
    const DType type = ends ? gemm_out_dtype(args_.params()) : acc;
    for (size_t jj = 0; jj < b.size(); ++jj) {
      for (size_t ii = 0; ii < a.parts.size(); ++ii) {  // own parts are first
        const size_t i = (static_cast<size_t>(a_.pe) + ii) % a.parts.size(),
                     j = (static_cast<size_t>(b_.pe) + jj) % b.size();
        if (!a.parts[i].valid() || !b[j].valid()) continue;
        const tl::Tensor x = a.parts[i].slice(1, k.first - a.k.first, k.count);
        const tl::Tensor y = b[j].slice(0, k.first - s.k.first, k.count);
        tl::Tensor& sum = sums_[i * b.size() + j];
        sum = sum.valid() ? tl_.async().dot(x, y, sum, type) : tl_.dot_async(x, y, type);
      }
    }
  }

  /// Waits for a panel's products, which limits TCM usage. After the last panel the sums go to c.
  void finish(Step* s) {
    store_scaled();
    const bool ends = s->last && !s->sums.empty();
    if (sum_ && s->goes_on && !s->sums.empty()) sum_->go_on();
    for (Sum& sum : s->sums) {
      tl_.wait(sum.value);
      if (!s->last) continue;
      if (summed_apart_) sum.value = scaled(sum);
      if (summed_apart_ && args_.choice("activation") == "none")
        scaled_.push_back(sum);
      else if (args_.choice("activation") == "none")
        give(sum);
      else
        activate(sum);
    }
    if (ends && sum_) {
      store_scaled();
      sum_->next();
    }
    s->sums.clear();
  }

  /// For a rank without a part of k: a summand of zeros. Every activation maps 0 to 0.
  void clear() const {
    const tl::View& c = args_["c"];
    for (int64_t i = 0; !c.empty() && i < c.shape[0]; ++i)
      tl_.store_async(c.block().rows(i, 1), tl_.zeros({1, c.shape[1]}, c.dtype()));
  }

  /// Loads the scales of all columns and the steps of all rows of this PE's products, which are few.
  void ask_for_scales() {
    for (size_t p = 0; p < a_.peers.size() && of_rows_; ++p) {
      const Range r = a_.of(static_cast<int64_t>(p));
      steps_read_.push_back(r.empty() ? tl::Tensor() : of_rows_->load(r, {0, 1}));
    }
    for (size_t p = 0; p < b_.peers.size() && of_columns_; ++p) {
      const Range c = b_.of(static_cast<int64_t>(p));
      scales_read_.push_back(c.empty() ? tl::Tensor() : of_columns_->load({0, 1}, c));
    }
  }
  /// A sum in f32, times the scales of its columns and the steps of its rows. A result for c is rounded. Does not wait.
  tl::Tensor scaled(const Sum& sum) {
    tl::Tensor y = sum.value;
    if (y.dtype() != DType::f32) y = tl_.async().cast(y, DType::f32);
    if (of_columns_) y = tl_.async().mul(y, part_of(&scales_read_, b_, sum.cols));
    if (of_rows_) y = tl_.async().mul(y, part_of(&steps_read_, a_, sum.rows));
    const DType type = gemm_out_dtype(args_.params());
    return args_.choice("activation") == "none" && type != DType::f32 ? tl_.async().cast(y, type) : y;
  }
  /// The part for these rows (columns) of the values read for each part of an operand, in f32.
  tl::Tensor part_of(std::vector<tl::Tensor>* read, const Line& l, const Range& r) {
    size_t p = 0;
    while (cut(l.of(static_cast<int64_t>(p)), r).empty()) ++p;
    tl::Tensor& by = (*read)[p];
    if (by.dtype() != DType::f32) by = tl_.cast(by, DType::f32);
    return by.slice(l.axis, r.first - l.of(static_cast<int64_t>(p)).first, r.count);
  }
  void store_scaled() {
    for (const Sum& sum : scaled_) {
      tl_.wait(sum.value);
      give(sum);
    }
    scaled_.clear();
  }
  std::set<int64_t> cuts_in(const Range& k) const {
    std::set<int64_t> all = {k.first, k.end()};
    for (const int64_t c : cuts_) {
      if (k.first < c && c < k.end()) all.insert(c);
    }
    return all;
  }
  /// Requests this PE's part of a for the other ranks, and their parts.
  void gather(const std::vector<Range>& of_ranks, int64_t most_k, size_t own_panels) {
    if (a_.far.empty()) return;
    const tl::View& own = args_["a"];
    const std::vector<Range> sent = panels(cuts_in(of_ranks[own_rank()]), most_k, most_k);
    for (size_t i = 0; i < sent.size(); ++i) {
      const Range& k = sent[i];
      if (cut(k, range_of(own, 1)).empty()) continue;
      gathered_.push_back({i * own_panels / sent.size(),
                           tl_.load_async(own.block().tile(0, k.first - own.offset[1], own.shape[0], k.count))});
    }
    const Peers peers(tl_, kGathered);
    for (Far& f : a_.far) {
      f.panels = panels(cuts_in(of_ranks[f.rank]), most_k, most_k);
      const tl::View& there = args_.shard("a", peers[f.rank]);
      for (const Range& k : f.panels) {
        if (cut(k, range_of(there, 1)).empty()) continue;
        f.own.emplace_back(k, peers.recv_async(f.rank, {there.shape[0], k.count}, a_.dtype));
      }
    }
  }
  /// Sends with each step the data that the other ranks need next. All PEs share the links between ranks.
  void send_gathered(size_t step) {
    while (!gathered_.empty() && gathered_.front().at <= step) {
      Peers(tl_, kGathered).send_to_all(gathered_.front().value);
      gathered_.pop_front();
    }
  }
  size_t own_rank() const { return static_cast<size_t>(tl_.rank()); }
  /// The residual for the sums over ranks of this PE's block of c. Requested early, with one command for all rows of a
  /// part, because they are in several PEs' memories.
  void ask_for_residual() {
    if (!sum_ || !args_.has("residual")) return;
    const Shards from(tl_, args_, "gemm_2d", "residual");
    std::vector<Range> parts;
    for (size_t i = 0; i < a_.peers.size(); ++i) parts.push_back(a_.of(static_cast<int64_t>(i)));
    for (const Range& rows : joined(parts)) {
      for (size_t j = 0; j < b_.peers.size(); ++j) {
        const Range cols = cut(b_.of(static_cast<int64_t>(j)), owned_[static_cast<size_t>(tl_.rank())]);
        if (!cols.empty()) residual_.push_back({rows, cols, from.gather(rows, {cols})});
      }
    }
  }
  tl::Tensor residual_of(const Range& rows, const Range& cols) {
    for (const Sum& r : residual_) {
      if (cut(r.rows, rows).empty() || cut(r.cols, cols).empty()) continue;
      const Range own = cut(r.cols, cols);
      return r.value.slice(0, rows.first - r.rows.first, rows.count).slice(1, own.first - r.cols.first, own.count);
    }
    return {};
  }
  /// Stores the sums over ranks in c. One command stores adjacent columns in all memories that hold a part of them.
  void store_summed() {
    if (summed_.empty()) return;
    const Shards c(tl_, args_, "gemm_2d", "c");
    std::stable_sort(summed_.begin(), summed_.end(), [](const Sum& x, const Sum& y) {
      return std::pair(x.rows.first, x.cols.first) < std::pair(y.rows.first, y.cols.first);
    });
    for (size_t i = 0; i < summed_.size();) {
      const Range& rows = summed_[i].rows;
      Range cols = summed_[i].cols;
      std::vector<tl::Tensor> parts = {summed_[i].value};
      for (++i; i < summed_.size() && summed_[i].rows.first == rows.first && summed_[i].cols.first == cols.end(); ++i) {
        parts.push_back(summed_[i].value);
        cols.count += summed_[i].cols.count;
      }
      c.scatter(rows, cols, parts.size() == 1 ? parts.front() : tl_.cat(parts, 1));
    }
    summed_.clear();
  }
  /// Passes the sum to c, or first to the sum over ranks.
  void give(const Sum& sum) {
    if (sum_)
      sum_->add(sum.rows, sum.cols, sum.value, residual_of(sum.rows, sum.cols));
    else
      out_.store(sum.rows, sum.cols, sum.value);
  }

  void activate(const Sum& sum) {
    tl_.wait(sum.value);
    auto op = tl::elementwise(args_.choice("activation"), {sum.value}).tiles(sum.rows.count, sum.cols.count);
    if (const tl::View* only = out_.only(sum.rows, sum.cols)) {
      tl_.composite(op.out(Output::block(*only, sum.rows, sum.cols)));
      return;
    }
    const tl::Tensor y = tl_.composite(op.out_dtype(gemm_out_dtype(args_.params())));
    tl_.wait(y);
    out_.store(sum.rows, sum.cols, y);
  }

  tl::Context& tl_;
  const tl::Args& args_;
  Line a_, b_;
  std::shared_ptr<const Scales> of_columns_;  ///< of b: one per column, applied to the sums
  std::shared_ptr<const Scales> of_rows_;     ///< the steps of a, likewise
  bool summed_apart_ = false;                 ///< sums must still be scaled or converted to floats
  std::vector<tl::Tensor> scales_read_;       ///< by part of b
  std::vector<tl::Tensor> steps_read_;        ///< by part of a
  std::vector<Sum> scaled_;                   ///< sums that go to c after scaling
  // Valid for the complete rank, so that all of its PEs run the same steps: the cuts of k, and the maximum rows and
  // columns of a PE.
  std::set<int64_t> cuts_;
  int64_t most_rows_ = 0, most_cols_ = 0;
  Cuts row_cuts_, column_cuts_;  ///< of a PE's rows and columns, which gives the blocks of c
  bool two_blocks_ = false;      ///< b arrives for two blocks of columns at once, except for the first
  size_t panels_of_block_ = 0;   ///< in all blocks but the first
  Output out_;
  std::optional<SumOverRanks> sum_;
  std::vector<Range> owned_;  ///< columns that each rank sums
  std::vector<Sum> residual_;
  struct Gathered {
    size_t at;  ///< the step in which it is sent
    tl::Tensor value;
  };
  std::deque<Gathered> gathered_;  ///< parts of a to send to the other ranks
  std::vector<Sum> summed_;        ///< sums over ranks that are not in c yet
  std::vector<Step> todo_;
  std::vector<Held> kept_;        ///< during the next columns of b
  std::vector<tl::Tensor> sums_;  ///< sums of the block, by part of a and of b
};

void gemm_2d(tl::Context& tl, const tl::Args& args) {
  Gemm(tl, args, pes_of_rank(tl.launch(), tl.index())).run();
}

/// Layout in a run of this kernel alone of a (0), b (1), c (2) and b's scales (3). The ranks split the longer side of
/// c.
host::Layout layout_of(int operand, const Params& p) {
  const std::string& split = p.choice("split");
  if (is_summed(p)) {
    const host::LayoutLevel of_k = host::shard(operand == 0 ? 1 : 0);
    if (operand == 2) return host::grid_of_rows(split == "k" ? host::replicate() : host::shard(1));
    return operand == 0 ? host::grid_of_rows(of_k) : host::grid_of_columns(operand == 1 ? of_k : host::replicate());
  }
  if (is_gathered(p) && operand == 0) return host::grid_of_rows(host::shard(1));
  const bool columns = split == "columns" || is_gathered(p) || (split == "longer" && p.integer("n") > p.integer("m"));
  const bool of_b = operand == 1 || operand == 3, whole = columns ? operand == 0 : of_b;
  const int64_t unit = columns && operand >= 2 ? values_in(weights_dtype(p)) : 1;  // in complete elements of b
  const host::LayoutLevel ranks = whole ? host::replicate() : host::shard(columns ? 1 : 0, unit);
  return of_b ? host::grid_of_columns(ranks) : host::grid_of_rows(ranks);
}

template <class T>
std::vector<T> sums_of(std::vector<T> x, const std::vector<T>& y) {
  std::transform(x.begin(), x.end(), y.begin(), x.begin(), std::plus<>());
  return x;
}

KernelSpec spec() {
  KernelSpec s;
  s.name = "gemm_2d";
  s.help = "C = activation(A B); A and B are stored once a rank, and PEs pass their panels on";
  add_gemm_interface(&s);
  const ParamSpec dtype = s.params.back();
  s.params = {
      ParamSpec::size("m", 1024, "rows of a and c, split over the rows of cubes"),
      ParamSpec::size("n", 1024, "columns of b and c, split over the columns of cubes"),
      ParamSpec::size("k", 1024, "columns of a, rows of b"),
      ParamSpec::choice("activation", {"none", "relu", "gelu", "silu"}, "activation, fused after the product"),
      ParamSpec::size("panel_m", 128, "maximum rows of a PE's piece of a panel").tuning(),
      ParamSpec::size("panel_n", 256, "maximum columns of a PE's piece of a panel").tuning(),
      ParamSpec::size("panel_k", 2048, "maximum depth of a panel").tuning(),
      ParamSpec::size("panel_bytes", 3 << 19, "limit of the panels of both operands in a PE's TCM").tuning(),
      ParamSpec::size("first_k", 256, "depth of the first panel; later panels grow").tuning(),
      ParamSpec::size("keep_bytes", 2 << 20, "limit of the panels of a that stay in TCM for all columns").tuning(),
      ParamSpec::size("ahead", 3, "prefetch distance in panels, and maximum panels in flight after the current one")
          .tuning(),
      ParamSpec::choice("split", {"longer", "rows", "columns", "k", "k_to_columns", "columns_gathered"},
                        "dimension that is split over the ranks: rows or columns of c; k, with the sum in all ranks' "
                        "c; k_to_columns, with the sum in each rank's columns of c; columns_gathered, columns of c and "
                        "of a, where a is gathered during the product")
          .tuning(),
      activations_spec("element type of a: i8 with i8 weights, with a_step for each row")};
  for (const ParamSpec& p : ring_params(2, 262144)) s.params.push_back(p);
  s.params.push_back(dtype);
  add_sum_beside(&s);
  add_weights_params(&s);
  s.tensors[0].dtype = [](const Params& p) { return activations_are_integers(p) ? DType::i8 : p.dtype(); };
  s.tensors[1] = weights_spec("b", s.tensors[1].init);
  s.tensors.push_back(scale_spec("scale"));
  TensorSpec residual = input("residual", {"m", "n"}, Placement::rows);
  residual.optional = true;
  residual.dtype = gemm_out_dtype;
  for (int i = 0; i < 3; ++i) {
    TensorSpec& t = s.tensors[static_cast<size_t>(i)];
    t = placed(t, [i](const Params& p) { return layout_of(i, p); });
  }
  s.tensors.back() = placed(s.tensors.back(), [](const Params& p) { return layout_of(3, p); });
  s.tensors.push_back(placed(row_steps_spec("a_step"), [](const Params& p) { return layout_of(0, p); }));
  s.tensors.push_back(placed(residual, [](const Params& p) { return layout_of(2, p); }));
  s.function = gemm_2d;
  s.reference = [](const Params& p, const TensorMap& in) {
    const int64_t m = p.integer("m"), n = p.integer("n"), k = p.integer("k");
    const bool adds = in.count("residual") > 0;
    if (!is_float(p.dtype())) {
      Expected c = gemm_reference(p, in);
      if (adds) c.value = HostTensor::from(DType::i32, {m, n}, sums_of(c.value.ints(), in.at("residual").ints()));
      return std::map<std::string, Expected>{{"c", c}};
    }
    const Floats a = rows_of_steps(in.at("a"), in.count("a_step") > 0 ? &in.at("a_step") : nullptr),
                 b = weights_of(p, in.at("b"), in.count("scale") > 0 ? &in.at("scale") : nullptr);
    Floats y = matmul(a, b, m, n, k);
    if (adds) y = sums_of(y, in.at("residual").floats());
    if (p.choice("activation") != "none") {
      for (float& v : y) v = activate(p.choice("activation"), v);
    }
    return std::map<std::string, Expected>{
        {"c", {HostTensor::from(p.dtype(), {m, n}, y), gemm_error_scale(a, b, m, n, k)}}};
  };
  s.prepare = [](Params* p, const LaunchCosts& costs, LaunchNotes*) {
    check_sum_beside(*p);
    if (is_summed(*p) && p->choice("activation") != "none")
      throw BadParam("activation: found '" + p->choice("activation") +
                     "', expected none with split=" + p->choice("split"));
    check_weights(*p);
    check_activations(*p);
    const bool between_ranks = is_summed(*p) || is_gathered(*p);  // sums and received rows are in TCM too
    fit_in_tcm("gemm_2d", p, costs, {"panel_bytes", "keep_bytes", "slot_bytes"}, {"panel_m", "panel_n"},
               between_ranks ? 0.5 : 1);
    if (p->choice("activation") != "none" && p->choice("activation") != "relu" && !is_float(p->dtype()))
      throw BadParam("activation: found '" + p->choice("activation") + "', expected none or relu for integers");
  };
  s.wiring =
      "lines of cubes for each PE (E–W, S–N); all-to-all in rows and columns of PEs of a cube; with sums over k or "
      "gathered columns also between ranks at one place";
  s.queues = connections;
  return s;
}

const RegisterKernel registered{spec()};

}  // namespace
}  // namespace kernbench::kernels::gemm_2d_kernel
