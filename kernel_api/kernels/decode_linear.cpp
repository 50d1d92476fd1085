// SPDX-License-Identifier: Apache-2.0
// y = residual + factor · act(norm(x) · w + bias) [times norm(x) · up + up_bias], for few rows. The norm is that of
// rmsnorm or layer_norm. Each PE reads its part of the weights once, from its own memory, while rows travel to it.
//
// Columns of x, residual and y are distributed over the cubes of a rank, and rows over the PEs of each cube. Columns of
// the weights are distributed over the cubes, and rows (k) over the PEs of each cube:
//
//   1. PEs with the same position in their cubes exchange their rows of x, so that each has these rows completely.
//   2. The PEs of a cube exchange columns for rows. Each then has all rows of the columns that its part of k needs.
//   3. A PE multiplies block by block of columns. The PEs of the cube exchange their parts of the sums. If ranks split
//   k,
//      so do the PEs with the same position in all ranks. One block is summed while the next one is multiplied.
//
// Weights with their own type are multiplied without conversion. The product of a group of rows with one scale is
// scaled in f32 before it is rounded, during the next products. These are fewer values than the weights.
//
// Activations in i8: the PEs with complete rows convert them to integers, with one step per row, before sending.
// Products with i8 weights are exact. Sums are multiplied by the steps before they are rounded.
//
// Rows are processed in chunks. Steps 1 and 2 of a chunk run during the products of the chunk before. There is no
// deadlock: all PEs process chunks and blocks in the same order, and a sent tensor is kept until the peers' tensors of
// the same step have arrived. If TCM is short, a PE waits only for sends of steps that its peers have completed, or it
// faults.
#include <algorithm>
#include <cmath>

#include "kernbench/kernel_api/collectives/grids.h"
#include "kernbench/kernel_api/kernels/activations.h"
#include "kernbench/kernel_api/kernels/common.h"
#include "kernbench/kernel_api/kernels/moments.h"
#include "kernbench/kernel_api/kernels/peers.h"
#include "kernbench/kernel_api/kernels/quantized.h"
#include "kernbench/kernel_api/kernels/row_steps.h"
#include "kernbench/kernel_api/kernels/tcm_share.h"
#include "kernbench/kernel_api/layout.h"
#include "kernbench/kernel_api/pe_backend.h"

namespace kernbench::kernels::decode_linear_kernel {
namespace {

/// The exchanges and their groups.
constexpr Exchange kColumns{"k.", "pe"}, kSums{"sum.", "pe"}, kShares{"share.", "rank"}, kTotals{"total.", "rank"};

std::vector<QueueConnection> connections(const Params& p, const LaunchShape& launch) {
  Rings rings(p);
  for (const ccl::Members& m : lanes_of(launch, "cube"))
    rings.join(m, ccl::grid_wiring(ccl::grid_of(launch, ccl::Axis::cube, m)));
  for (const Exchange& e : {kColumns, kSums, kShares, kTotals}) rings.join(launch, e);
  return rings.all();
}

/// The PEs with one position in all cubes, as the grid of cubes. Data goes along its row, then along the columns, so
/// that it enters each cube once.
class Places {
 public:
  explicit Places(tl::Context& tl)
      : tl_(tl),
        members_(lane_with(tl.launch(), "cube", tl.index())),
        grid_(ccl::grid_of(tl.launch(), ccl::Axis::cube, members_)),
        me_(ccl::member_of(members_, tl.index())) {}
  size_t size() const { return members_.size(); }
  size_t me() const { return static_cast<size_t>(me_); }
  uint32_t operator[](size_t i) const { return static_cast<uint32_t>(members_[i]); }

  /// The values of all cubes, in order. A cube with an empty shape gives no value.
  std::vector<tl::Tensor> all(const tl::Tensor& own, const std::vector<Dims>& shapes, DType dtype) const {
    std::vector<tl::Tensor> all(size());
    const int64_t x = grid_.x(me_), y = grid_.y(me_);
    const auto take = [&](const char* port, int64_t cell, const char* on, bool goes_on) {
      tl::Tensor& t = all[static_cast<size_t>(cell)];
      const Dims& shape = shapes[static_cast<size_t>(cell)];
      if (shape.elements() == 0) return;
      t = port == nullptr ? own : tl_.recv(port, shape, dtype);
      if (goes_on) tl_.send_async(on, t);
    };
    // The nearest first, alternating between both sides.
    std::vector<int64_t> order = {x};
    for (int64_t d = 1; d < grid_.w; ++d) {
      for (const int64_t from : {x - d, x + d}) {
        if (from >= 0 && from < grid_.w) order.push_back(from);
      }
    }
    if (own.valid() && x > 0) tl_.send_async("W", own);
    if (own.valid() && x + 1 < grid_.w) tl_.send_async("E", own);
    for (const int64_t from : order) {
      const int64_t cell = grid_.cell(from, y);
      const bool west = from < x;
      take(from == x ? nullptr
           : west    ? "W"
                     : "E",
           cell, west ? "E" : "W", from != x && (west ? x + 1 < grid_.w : x > 0));
      const tl::Tensor& t = all[static_cast<size_t>(cell)];
      if (t.valid() && y > 0) tl_.send_async("N", t);
      if (t.valid() && y + 1 < grid_.h) tl_.send_async("S", t);
    }
    for (int64_t d = 1; d < grid_.h; ++d) {
      for (const int64_t from : order) {
        if (y - d >= 0) take("N", grid_.cell(from, y - d), "S", y + 1 < grid_.h);
        if (y + d < grid_.h) take("S", grid_.cell(from, y + d), "N", y > 0);
      }
    }
    return all;
  }

 private:
  tl::Context& tl_;
  const ccl::Members& members_;
  const ccl::Grid grid_;
  const int64_t me_;
};

class Linear {
 public:
  Linear(tl::Context& tl, const tl::Args& args)
      : tl_(tl),
        args_(args),
        cubes_(tl),
        pes_(tl, kColumns),
        sums_(tl, kSums),
        ranks_(tl, kShares),
        totals_(tl, kTotals),
        dtype_(args.dtype()),
        type_of_sums_(args.choice("sums") == "f32" ? DType::f32 : dtype_),
        integers_(activations_are_integers(args.params())) {
    for (size_t p = 0; p < pes_.size(); ++p) rows_.push_back(rows_of(p));
    for (size_t c = 0; c < cubes_.size(); ++c) columns_.push_back(columns_of("x", cubes_[c]));
    mine_ = columns_of("y", cubes_[cubes_.me()]);
    for (const char* name : {"w", "up"}) {
      if (args.has(name)) weights_.push_back(args[name]);
    }
    for (const char* name : {"scale", "up_scale"}) {
      if (args.has(name)) scales_.emplace_back(tl, args, "decode_linear", name);
    }
    for (size_t p = 0; p < pes_.size(); ++p) {
      const tl::View& w = args.shard("w", pes_[p]);
      k_.push_back(range_of(w, 0));
    }
    summed_ = ranks_share_k();
    check();
  }

  void run() {
    cut_up();
    ask(1);  // the first piece; more would delay x, which uses the same link
    ask_for_scales();
    if (units_.empty()) {
      for (Chunk& c : chunks_) exchange(&c);  // even without columns of y, it forwards rows
    }
    const size_t lag = summed_ ? 4 : 3;
    for (size_t i = 0; i < units_.size() + lag; ++i) {
      if (i < units_.size()) multiply(&units_[i]);
      if (i >= 1 && i - 1 < units_.size()) give(&units_[i - 1]);
      if (i >= 2 && i - 2 < units_.size()) add_up(&units_[i - 2]);
      if (i >= 3 && i - 3 < units_.size() && lag > 3) share(&units_[i - 3]);
      if (i >= lag) finish(&units_[i - lag]);
    }
  }

 private:
  /// All rows of some columns of x.
  struct Part {
    Range k;
    tl::Tensor x;
  };
  /// Some rows of each PE of the cube. They are sent during the products of the rows before.
  struct Chunk {
    std::vector<Range> rows;        ///< by position in the cube
    RowSteps own_steps;             ///< for this PE's rows, if activations are integers
    tl::Tensor steps;               ///< of all rows, by position
    tl::Tensor residual;            ///< this PE's rows
    std::vector<tl::Tensor> whole;  ///< this PE's rows, by the cube with the columns
    std::vector<tl::Tensor> given;  ///< parts of them, sent to the PEs of the cube
    std::vector<Part> parts;
  };
  /// The product of rows of weights with one scale, or of all rows.
  struct Product {
    tl::Tensor sum;
    int64_t row_of_scale;  ///< into the scales that the PE has loaded
  };
  /// A chunk's rows of some columns of the cube's part of y.
  struct Unit {
    Chunk* chunk;
    size_t block;
    std::vector<std::vector<Product>> products;  ///< by matrix: products that are not in the sum yet
    std::vector<tl::Tensor> sums;                ///< sums over the PE's part of k
    std::vector<tl::Tensor> own;                 ///< sums over the cube: this PE's rows
    std::vector<tl::Tensor> shares;              ///< of the sum over ranks: this rank's share
  };

  // ---- What lies where, alike in all ranks -----------------------------------------------------------------------
  /// Rows of y, or of x if the rank has no y, of the PEs with one position in their cubes.
  Range rows_of(size_t place) const {
    for (const char* name : {"y", "x"}) {
      for (const int64_t pe : lane_with(tl_.launch(), "cube", pes_[place])) {
        const tl::View& v = args_.shard(name, static_cast<uint32_t>(pe));
        if (!v.empty()) return range_of(v, 0);
      }
    }
    return {};
  }
  /// Columns of the cube of this PE.
  Range columns_of(const char* name, uint32_t of) const {
    for (const int64_t pe : lane_with(tl_.launch(), "pe", of)) {
      const tl::View& v = args_.shard(name, static_cast<uint32_t>(pe));
      if (!v.empty()) return range_of(v, 1);
    }
    return {};
  }
  [[noreturn]] static void wrong_layout(const std::string& name, const std::string& how) {
    throw KernelFault("decode_linear: " + name + " does not lie as it must, " + how + ": redistribute it");
  }
  void check() const {
    if (summed_ && args_.has("norm"))
      throw KernelFault(
          "decode_linear: k is split over ranks, so each would normalize by its part of a row: normalize x before");
    if (!scales_.empty() && scales_.size() != weights_.size())
      throw KernelFault("decode_linear: scale and up_scale: w and up have both scales, or none");
    if (weights_.size() == 1 && args_.has("up_bias")) throw KernelFault("decode_linear: up_bias is beside up");
    const std::string& norm = args_.choice("norm");
    if (norm == "none" && args_.has("norm"))
      throw KernelFault("decode_linear: tensor norm: given with norm=none, expected norm=rms or norm=layer");
    if (norm == "layer" && !args_.has("norm")) throw KernelFault("decode_linear: norm=layer: expected the tensor norm");
    if (norm != "layer" && args_.has("norm_bias"))
      throw KernelFault("decode_linear: tensor norm_bias: expected norm=layer");
    if (weights_.size() == 1 && args_.choice("activation") == kSwigluOai)
      throw KernelFault("decode_linear: swiglu_oai is of two products: w and up");
    const std::string lanes = "columns over the cubes of a rank and rows over the PEs of each";
    const Range rows = rows_[pes_.me()];
    const auto lies = [&](const char* name, const Range& columns) {
      const tl::View& v = args_[name];
      if (v.empty() ? !rows.empty() && !columns.empty() : range_of(v, 0) != rows || range_of(v, 1) != columns)
        wrong_layout(name, lanes);
    };
    lies("x", columns_[cubes_.me()]);
    lies("y", mine_);
    if (args_.has("residual")) lies("residual", mine_);
    for (const tl::View& w : weights_) {
      if (!w.empty() && (weight_columns(w, args_["y"].whole[1]) != mine_ || range_of(w, 0) != k_[pes_.me()]))
        wrong_layout("a matrix of weights", "columns over the cubes of a rank as y's and rows over the PEs of each");
    }
  }
  /// Whether a rank lacks a part of k.
  bool ranks_share_k() const {
    for (size_t r = 0; r < ranks_.size(); ++r) {
      int64_t k = 0;
      for (const int64_t pe : lane_with(tl_.launch(), "cube", ranks_[r]))
        k += columns_of("x", static_cast<uint32_t>(pe)).count;
      if (k < args_["x"].whole[1]) return true;
    }
    return false;
  }

  // ---- Rows on their way -----------------------------------------------------------------------------------------
  /// Splits rows into chunks, columns of y into blocks, and k into pieces of one part of x each.
  void cut_up() {
    int64_t all = 0, most = 0;
    for (const Range& r : rows_) {
      all += r.count;
      most = std::max(most, r.count);
    }
    if (all == 0) return;
    const int64_t rows = args_.integer("rows");  // half as many more do not justify a second chunk
    const int64_t chunks = std::clamp<int64_t>(tl::Context::cdiv(2 * all - rows, 2 * rows), 1, most),
                  step = tl::Context::cdiv(most, chunks);
    for (int64_t first = 0; first < most; first += step) {
      chunks_.emplace_back();
      for (const Range& r : rows_) chunks_.back().rows.push_back(cut(r, {r.first + first, step}));
    }
    const int64_t columns = whole_elements(args_.integer("sum_bytes") / 4 / (step * static_cast<int64_t>(pes_.size())));
    for (int64_t at = mine_.first; at < mine_.end(); at += columns)
      blocks_.push_back({at, std::min(columns, mine_.end() - at)});
    for (Chunk& c : chunks_) {
      for (size_t b = 0; b < blocks_.size(); ++b) units_.push_back({&c, b, {}, {}, {}, {}});
    }
    const int64_t depth = args_.integer("piece_k");
    for (const Range& of_cube : columns_) {
      const Range k = cut(of_cube, k_[pes_.me()]);
      for (int64_t at = k.first; at < k.end();) {
        const int64_t end = std::min({at + depth, k.end(), end_of_group(at)});
        pieces_.push_back({at, end - at});
        at = end;
      }
    }
    int64_t bytes = 0;
    for (const tl::View& w : weights_) bytes += w.shape.elements() * static_cast<int64_t>(size_of(w.dtype()));
    kept_ = bytes <= args_.integer("keep_bytes");
    weights_read_.resize(pieces_.size() * (kept_ ? 1 : units_.size()));
  }

  /// At least as many columns as an element of the weights has.
  int64_t whole_elements(int64_t columns) const {
    const int64_t values = values_in(weights_.front().dtype());
    return std::max(values, columns / values * values);
  }
  /// The end of the group of rows with the scale of this row. Without scales all rows are one group.
  int64_t end_of_group(int64_t row) const {
    const int64_t group = scales_.empty() ? args_["x"].whole[1] : scales_.front().group();
    return (row / group + 1) * group;
  }

  /// This PE's columns of these rows; no value if it has none.
  tl::Tensor load_rows(const char* name, const Range& rows) const {
    const tl::View& v = args_[name];
    if (v.empty()) return {};
    return tl_.load_async(v.block().rows(rows.first - v.offset[0], rows.count));
  }

  /// The results of each cube for its columns of these rows, [count, width] in f32, from cubes that have columns.
  std::vector<tl::Tensor> of_all_cubes(const tl::Tensor& found, int64_t count, int64_t width) const {
    std::vector<Dims> shapes;
    for (const Range& c : columns_) shapes.push_back({count, c.empty() ? 0 : width});
    std::vector<tl::Tensor> all = cubes_.all(found, shapes, DType::f32);
    all.erase(std::remove_if(all.begin(), all.end(), [](const tl::Tensor& t) { return !t.valid(); }), all.end());
    return all;
  }
  /// This PE's columns of a vector, in f32.
  tl::Tensor own_columns(const char* name) const {
    const Range& mine = columns_[cubes_.me()];
    const tl::View& v = args_[name];
    return tl_.cast(tl_.load(v.ptr + (mine.first - v.offset[0]), {mine.count}), DType::f32);
  }

  /// Normed values of this PE's columns, in f32. The mean square is that of complete rows.
  tl::Tensor normed(const tl::Tensor& x, int64_t count) {
    if (args_.choice("norm") == "layer") return layer_normed(x, count);
    tl::Tensor wide, squares;
    if (x.valid()) {
      wide = tl_.cast(x, DType::f32);
      squares = tl_.sum(wide * wide, 1, true);
    }
    const std::vector<tl::Tensor> all = of_all_cubes(squares, count, 1);
    if (!x.valid()) return x;
    const tl::Tensor sum = all.size() == 1 ? all.front() : tl_.sum(tl_.cat(all, 1), 1, true);
    const tl::Tensor scale =
        tl_.rsqrt(tl_.fma(sum, 1.0 / static_cast<double>(args_["x"].whole[1]), args_.number("eps")));
    if (!norm_.valid()) norm_ = own_columns("norm");
    return wide * scale * norm_;
  }
  /// The same with mean and variance.
  tl::Tensor layer_normed(const tl::Tensor& x, int64_t count) {
    tl::Tensor wide;
    Moments own;
    if (x.valid()) {
      wide = tl_.cast(x, DType::f32);
      own = moments_of(tl_, wide);
    }
    const std::vector<tl::Tensor> all = of_all_cubes(own.of_rows, count, 3);
    if (!x.valid()) return x;
    std::vector<int64_t> columns;
    for (const Range& c : columns_) {
      if (!c.empty()) columns.push_back(c.count);
    }
    const tl::Tensor moments = joined_moments(tl_, all, columns);
    if (!norm_.valid()) {
      norm_ = own_columns("norm");
      if (args_.has("norm_bias")) norm_bias_ = own_columns("norm_bias");
    }
    const tl::Tensor scaled = (all.size() == 1 ? own.centred : centred(wide, moments)) *
                              inverse_deviation(tl_, moments, args_["x"].whole[1], args_.number("eps"));
    return norm_bias_.valid() ? tl_.fma(scaled, norm_, norm_bias_) : scaled * norm_;
  }
  /// This PE's columns of x in steps of the complete rows.
  tl::Tensor in_own_steps(const tl::Tensor& x, Chunk* c) const {
    const int64_t count = c->rows[pes_.me()].count;
    const tl::Tensor wide = x.valid() ? tl_.cast(x, DType::f32) : x;
    std::vector<tl::Tensor> all = of_all_cubes(wide.valid() ? greatest_of_rows(tl_, wide) : wide, count, 1);
    if (summed_) {
      const tl::Tensor own = all.empty() ? tl_.zeros({count, 1}, DType::f32) : joined_greatest(tl_, all);
      ranks_.send_to_all(own);
      all = {own};
      for (size_t i = 1; i < ranks_.size(); ++i) all.push_back(ranks_.recv(ranks_.behind(i), {count, 1}, DType::f32));
    }
    c->own_steps = steps_of(tl_, joined_greatest(tl_, all));
    return wide.valid() ? in_steps(tl_, wide, c->own_steps) : wide;
  }

  void exchange(Chunk* c) {
    turn(c);
    receive(c);
  }
  /// Completes and norms this PE's rows, and sends the PEs of the cube the columns that their parts of k need.
  void turn(Chunk* c) {
    const Range& rows = c->rows[pes_.me()];
    if (rows.empty()) return;
    tl::Tensor own = load_rows("x", rows);
    if (args_.has("residual")) c->residual = load_rows("residual", rows);
    if (args_.has("norm")) own = normed(own, rows.count);
    if (integers_) own = in_own_steps(own, c);
    if (own.valid() && own.dtype() != type_of_rows()) own = tl_.cast(own, type_of_rows());
    std::vector<Dims> shapes;
    for (const Range& of_cube : columns_) shapes.push_back({rows.count, of_cube.count});
    c->whole = cubes_.all(own, shapes, type_of_rows());
    for (size_t i = 1; i < pes_.size(); ++i) {
      const size_t to = pes_.behind(i);
      if (integers_ && !k_[to].empty()) pes_.send(to, c->own_steps.step);
      for (size_t cube = 0; cube < columns_.size(); ++cube) {
        const Range k = cut(columns_[cube], k_[to]);
        if (k.empty()) continue;
        c->given.push_back(dense(columns(c->whole[cube], k, cube)));
        pes_.send(to, c->given.back());
      }
    }
  }
  /// Receives all rows of the columns that this PE's part of k needs.
  void receive(Chunk* c) const {
    if (integers_ && !k_[pes_.me()].empty()) receive_steps(c);
    for (size_t cube = 0; cube < columns_.size(); ++cube) {
      const Range k = cut(columns_[cube], k_[pes_.me()]);
      if (k.empty()) continue;
      std::vector<tl::Tensor> rows;
      for (size_t p = 0; p < pes_.size(); ++p) {
        if (c->rows[p].empty()) continue;
        rows.push_back(p == pes_.me() ? dense(columns(c->whole[cube], k, cube))
                                      : pes_.recv(p, {c->rows[p].count, k.count}, type_of_rows()));
      }
      c->parts.push_back({k, rows.size() == 1 ? rows.front() : tl_.cat(rows, 0)});
    }
    c->whole.clear();
    c->given.clear();
  }
  void receive_steps(Chunk* c) const {
    std::vector<tl::Tensor> steps;
    for (size_t p = 0; p < pes_.size(); ++p) {
      if (c->rows[p].empty()) continue;
      steps.push_back(p == pes_.me() ? c->own_steps.step : pes_.recv(p, {c->rows[p].count, 1}, DType::f32));
    }
    c->steps = steps.size() == 1 ? steps.front() : tl_.cat(steps, 0);
  }
  DType type_of_rows() const { return integers_ ? DType::i8 : dtype_; }
  tl::Tensor columns(const tl::Tensor& t, const Range& k, size_t cube) const {
    return t.slice(1, k.first - columns_[cube].first, k.count);
  }
  tl::Tensor dense(const tl::Tensor& t) const { return t.contiguous() ? t : tl_.copy(t); }

  // ---- Products, block by block ----------------------------------------------------------------------------------
  /// Prefetches weights in order of use, until that many bytes wait for use.
  void ask(int64_t bytes) {
    for (; asked_ < weights_read_.size() && waiting_ < bytes; ++asked_) {
      const Range& k = pieces_[asked_ % pieces_.size()];
      const Range& c = kept_ ? mine_ : blocks_[asked_ / pieces_.size() % blocks_.size()];
      for (const tl::View& w : weights_) {
        const int64_t values = values_in(w.dtype()), first = (c.first - mine_.first) / values;
        weights_read_[asked_].push_back(
            tl_.load_async(w.block().tile(k.first - w.offset[0], first, k.count, tl::Context::cdiv(c.count, values))));
        waiting_ += bytes_of(weights_read_[asked_].back());
      }
    }
  }
  /// For this PE's part of k: those of all columns of its cube.
  void ask_for_scales() {
    if (units_.empty() || pieces_.empty()) return;
    for (const Scales& s : scales_) scales_read_.push_back(s.load(k_[pes_.me()], mine_));
  }
  static int64_t bytes_of(const tl::Tensor& t) { return t.elements() * static_cast<int64_t>(size_of(t.dtype())); }

  void multiply(Unit* u) {
    if (u->block == 0) exchange(u->chunk);
    ask(args_.integer("ahead_bytes"));
    u->sums.resize(pieces_.empty() ? 0 : weights_.size());
    u->products.resize(u->sums.size());
    for (size_t i = 0; i < pieces_.size(); ++i) {
      ask(args_.integer("ahead_bytes"));
      const Range& k = pieces_[i];
      const Part& part = *std::find_if(u->chunk->parts.begin(), u->chunk->parts.end(),
                                       [&](const Part& p) { return !cut(p.k, k).empty(); });
      const tl::Tensor x = part.x.slice(1, k.first - part.k.first, k.count);
      const bool last = i + 1 == pieces_.size(), begins = i == 0 || k.first >= end_of_group(pieces_[i - 1].first),
                 ends = last || pieces_[i + 1].first >= end_of_group(k.first);
      const DType type = integers_ ? DType::i32 : last && scales_.empty() ? type_of_sums_ : DType::f32;
      std::vector<tl::Tensor>& weights = weights_read_[used_ % weights_read_.size()];
      for (size_t m = 0; m < weights.size(); ++m) {
        std::vector<Product>& products = u->products[m];
        if (begins) products.push_back({{}, scales_.empty() ? 0 : scales_[m].row_of(k_[pes_.me()], k.first)});
        tl::Tensor& sum = products.back().sum;
        const Range& c = blocks_[u->block];
        const int64_t values = values_in(weights[m].dtype());
        const tl::Tensor w =
            kept_ ? weights[m].slice(1, (c.first - mine_.first) / values, tl::Context::cdiv(c.count, values))
                  : weights[m];
        sum = sum.valid() ? tl_.async().dot(x, w, sum, type) : tl_.dot_async(x, w, type);
        if (used_ < weights_read_.size()) waiting_ -= bytes_of(weights[m]);
        if (ends && products.size() > 1) scale_first(u, m);  // during these products
      }
      if (!kept_) weights.clear();
      ++used_;
    }
    if (u->block + 1 == blocks_.size()) u->chunk->parts.clear();
  }

  /// Adds the unit's first product to its sum, times its scale.
  void scale_first(Unit* u, size_t m) {
    const Product p = u->products[m].front();
    u->products[m].erase(u->products[m].begin());
    tl_.wait(p.sum);
    if (scales_read_[m].dtype() != DType::f32) scales_read_[m] = tl_.cast(scales_read_[m], DType::f32);
    const Range& c = blocks_[u->block];
    const tl::Tensor by = scales_read_[m].slice(0, p.row_of_scale, 1).slice(1, c.first - mine_.first, c.count);
    tl::Tensor product = p.sum.slice(1, 0, c.count);
    if (integers_) product = tl_.async().cast(product, DType::f32);
    tl::Tensor& sum = u->sums[m];
    sum = sum.valid() ? tl_.async().fma(product, by, sum) : tl_.async().mul(product, by);
  }
  /// Waits for a unit's products and rounds their sums.
  void sum_up(Unit* u) {
    for (size_t m = 0; m < u->sums.size(); ++m) {
      if (scales_.empty()) {
        const tl::Tensor& sum = u->products[m].front().sum;
        tl_.wait(sum);
        u->sums[m] = dense(sum.slice(1, 0, blocks_[u->block].count));
        if (!integers_) continue;
        u->sums[m] = tl_.async().cast(u->sums[m], DType::f32);
      } else {
        while (!u->products[m].empty()) scale_first(u, m);
      }
      if (integers_) u->sums[m] = tl_.async().mul(u->sums[m], u->chunk->steps);
      if (type_of_sums_ != DType::f32) u->sums[m] = tl_.cast(u->sums[m], type_of_sums_);
      tl_.wait(u->sums[m]);
    }
    u->products.clear();
  }

  /// Sends each PE of the cube its rows of the sums over this PE's part of k.
  void give(Unit* u) {
    sum_up(u);
    for (size_t i = 1; i < pes_.size(); ++i) {
      const size_t to = pes_.behind(i);
      if (u->chunk->rows[to].empty()) continue;
      for (const tl::Tensor& sum : u->sums) sums_.send(to, rows_in(sum, *u->chunk, to));
    }
  }
  /// The rows of one position among all rows.
  static tl::Tensor rows_in(const tl::Tensor& all, const Chunk& c, size_t place) {
    int64_t first = 0;
    for (size_t p = 0; p < place; ++p) first += c.rows[p].count;
    return all.slice(0, first, c.rows[place].count);
  }

  /// Rounded once. Zeros if there is no part, because a rank may have no part of k.
  tl::Tensor sum_of(const std::vector<tl::Tensor>& parts, const Dims& shape) const {
    if (parts.empty()) return tl_.zeros(shape, type_of_sums_);
    if (parts.size() == 1) return parts.front();
    const tl::Tensor all = tl_.cat(parts, 0).reshape({static_cast<int64_t>(parts.size()), shape.elements()});
    return tl_.sum(all, 0).reshape(shape);
  }

  /// This PE's rows of the sum over the cube. They then go to the sum over ranks.
  void add_up(Unit* u) const {
    const int64_t count = u->chunk->rows[pes_.me()].count;
    if (count == 0) return;
    const Dims shape{count, blocks_[u->block].count};
    for (size_t m = 0; m < weights_.size(); ++m) {
      std::vector<tl::Tensor> parts;
      for (size_t p = 0; p < pes_.size(); ++p) {
        if (k_[p].empty()) continue;
        parts.push_back(p == pes_.me() ? rows_in(u->sums[m], *u->chunk, p) : sums_.recv(p, shape, type_of_sums_));
      }
      u->own.push_back(sum_of(parts, shape));
    }
    u->sums.clear();
    if (!summed_) return;
    for (tl::Tensor& own : u->own) {
      own = own.reshape({own.elements()});
      for (size_t i = 1; i < ranks_.size(); ++i) {
        const size_t to = ranks_.behind(i);
        const Range r = share_of(own.elements(), to);
        if (!r.empty()) ranks_.send(to, own.slice(0, r.first, r.count));
      }
    }
  }
  Range share_of(int64_t elements, size_t rank) const {
    const int64_t size = tl::Context::cdiv(elements, static_cast<int64_t>(ranks_.size()));
    return cut({0, elements}, {size * static_cast<int64_t>(rank), size});
  }

  /// This rank's share of the sum over ranks, added in rank order. It goes to all ranks.
  void share(Unit* u) const {
    for (const tl::Tensor& own : u->own) {
      const Range r = share_of(own.elements(), ranks_.me());
      u->shares.emplace_back();
      if (r.empty()) continue;
      std::vector<tl::Tensor> parts;
      for (size_t i = 0; i < ranks_.size(); ++i)
        parts.push_back(i == ranks_.me() ? own.slice(0, r.first, r.count) : ranks_.recv(i, {r.count}, type_of_sums_));
      u->shares.back() = sum_of(parts, {r.count});
      totals_.send_to_all(u->shares.back());
    }
  }

  /// Sums of one matrix from all ranks.
  tl::Tensor joined(const Unit& u, size_t m) const {
    const int64_t count = u.chunk->rows[pes_.me()].count, elements = count * blocks_[u.block].count;
    std::vector<tl::Tensor> all;
    for (size_t r = 0; r < ranks_.size(); ++r) {
      const int64_t part = share_of(elements, r).count;
      if (part > 0) all.push_back(r == ranks_.me() ? u.shares[m] : totals_.recv(r, {part}, type_of_sums_));
    }
    const tl::Tensor sum = all.size() == 1 ? all.front() : tl_.cat(all, 0);
    return sum.reshape({count, blocks_[u.block].count});
  }

  void finish(Unit* u) const {
    const Range rows = u->chunk->rows[pes_.me()], &columns = blocks_[u->block];
    if (rows.empty()) return;
    const tl::View& y = args_["y"];
    const int64_t row = rows.first - y.offset[0], column = columns.first - y.offset[1];
    tl::Tensor& residual = u->chunk->residual;
    std::vector<tl::Tensor> sums = u->own;
    for (size_t m = 0; m < sums.size() && summed_; ++m) sums[m] = joined(*u, m);
    const auto biased = [&](size_t m, const char* name) {
      const tl::Tensor sum = tl_.cast(sums[m], DType::f32);
      if (!args_.has(name)) return sum;
      const tl::View& bias = args_[name];
      return sum + tl_.cast(tl_.load(bias.ptr + (columns.first - bias.offset[0]), {columns.count}), DType::f32);
    };
    tl::Tensor v = biased(0, "bias");
    v = sums.size() > 1 ? gated(tl_, args_.params(), v, biased(1, "up_bias"))
                        : activated(tl_, args_.choice("activation"), v);
    if (args_.number("factor") != 1) v = v * args_.number("factor");
    v = soft_capped(tl_, v, args_.number("softcap"));
    if (residual.valid()) v = v + tl_.cast(residual.slice(1, column, columns.count), DType::f32);
    tl_.store_async(y.block().tile(row, column, rows.count, columns.count), tl_.cast(v, dtype_));
    u->own.clear();
    u->shares.clear();
    if (u->block + 1 == blocks_.size()) residual = {};
  }

  tl::Context& tl_;
  const tl::Args& args_;
  const Places cubes_;
  const Peers pes_, sums_, ranks_, totals_;
  const DType dtype_;
  const DType type_of_sums_;    ///< between PEs, and in the last product
  const bool integers_;         ///< whether activations are integers
  std::vector<Range> rows_;     ///< by position in the cube
  std::vector<Range> columns_;  ///< of x, by cube
  std::vector<Range> k_;        ///< rows of the weights, by position in this cube
  Range mine_;                  ///< this cube's columns of y
  bool summed_ = false;         ///< summed over ranks
  std::vector<tl::View> weights_;
  std::vector<Scales> scales_;           ///< of each matrix; empty: none
  std::vector<tl::Tensor> scales_read_;  ///< for this PE's part of k
  tl::Tensor norm_, norm_bias_;          ///< this PE's columns, in f32
  std::vector<Chunk> chunks_;
  std::vector<Range> blocks_;  ///< columns of y
  std::vector<Range> pieces_;  ///< pieces of this PE's part of k
  std::vector<Unit> units_;
  /// By block and piece, for w and up. Reloaded for each chunk unless they are kept.
  std::vector<std::vector<tl::Tensor>> weights_read_;
  bool kept_ = false;
  size_t asked_ = 0, used_ = 0;  ///< numbers of pieces
  int64_t waiting_ = 0;          ///< bytes of prefetched pieces that are not used yet
};

void decode_linear(tl::Context& tl, const tl::Args& args) {
  Linear(tl, args).run();
}

/// x in f32, normed if there are weights for it.
Floats normed_rows(const Params& p, const TensorMap& in) {
  const int64_t m = p.integer("m"), k = p.integer("k");
  Floats x = in.at("x").floats();
  if (in.count("norm") == 0) return x;
  const bool layer = p.choice("norm") == "layer";
  const Floats w = in.at("norm").floats();
  const Floats b = in.count("norm_bias") > 0 ? in.at("norm_bias").floats() : Floats(w.size());
  for (int64_t r = 0; r < m; ++r) {
    float* row = x.data() + r * k;
    const RowNorm of = norm_of_row(row, k, layer, p.number("eps"));
    for (int64_t i = 0; i < k; ++i)
      row[i] =
          static_cast<float>((row[i] - of.mean) * of.scale * w[static_cast<size_t>(i)] + b[static_cast<size_t>(i)]);
  }
  return x;
}

/// For integer activations: replaces x by the values of the integers. Returns a step for each element that could round
/// to the neighbouring integer, because the kernel norms in another order. Empty if nothing is normed.
Floats make_integers(const Params& p, const TensorMap& in, Floats* x) {
  if (!activations_are_integers(p)) return {};
  const int64_t k = p.integer("k");
  const SteppedRows rows = stepped_rows(*x, k);
  Floats unsure;
  for (size_t i = 0; in.count("norm") > 0 && i < x->size(); ++i) {
    const float step = rows.step[i / static_cast<size_t>(k)], steps = std::abs((*x)[i] / step);
    unsure.push_back(std::abs(steps - std::floor(steps) - 0.5F) < steps * 0x1p-18F ? step : 0.0F);
  }
  *x = rows.floats();
  return unsure;
}

Floats magnitudes(Floats x) {
  for (float& v : x) v = std::abs(v);
  return x;
}

std::map<std::string, Expected> reference(const Params& p, const TensorMap& in) {
  const int64_t m = p.integer("m"), n = p.integer("n"), k = p.integer("k");
  Floats x = normed_rows(p, in);
  const Floats unsure = make_integers(p, in, &x);
  const auto weights = [&](const char* name, const char* scale) {
    return weights_of(p, in.at(name), in.count(scale) > 0 ? &in.at(scale) : nullptr);
  };
  const Floats w = weights("w", "scale");
  Floats y = matmul(x, w, m, n, k), scale = gemm_error_scale(x, w, m, n, k);
  const auto of_columns = [&](const char* name) {
    return in.count(name) > 0 ? in.at(name).floats() : Floats(static_cast<size_t>(n), 0.0F);
  };
  const bool two = in.count("up") > 0;
  Floats up(y.size(), 1.0F), residual(y.size(), 0.0F);
  const Floats up_weights = two ? weights("up", "up_scale") : Floats();
  if (two) up = matmul(x, up_weights, m, n, k);
  const Floats bias = of_columns("bias"), up_bias = of_columns("up_bias");
  if (in.count("residual") > 0) residual = in.at("residual").floats();
  const auto factor = static_cast<float>(p.number("factor"));
  constexpr float kSteepest = 1.2F;  // upper bound of the slope of all activations
  Floats away = unsure.empty() ? Floats() : matmul(unsure, magnitudes(w), m, n, k), up_away = away;
  if (two && !unsure.empty()) up_away = matmul(unsure, magnitudes(up_weights), m, n, k);
  for (size_t i = 0; i < y.size(); ++i) {
    const float v = y[i] + bias[i % bias.size()], by = up[i] + up_bias[i % bias.size()];
    const float of_product = factor * (two ? gate(p, v, by) : activate(p.choice("activation"), v));
    y[i] = residual[i] + static_cast<float>(soft_capped(of_product, p.number("softcap")));
    if (!away.empty() && two) away[i] = away[i] * (std::abs(by) + 1 + up_away[i]) + std::abs(v) * up_away[i];
    if (!away.empty()) away[i] *= kSteepest * std::abs(factor);
    scale[i] = std::max({scale[i] * std::max(1.0F, std::abs(factor)), std::abs(residual[i]), std::abs(by)});
  }
  return {{"y", {HostTensor::from(p.dtype(), {m, n}, y), scale, away}}};
}

KernelSpec spec() {
  KernelSpec s;
  s.name = "decode_linear";
  s.help =
      "y = residual + factor activation(norm(x) w + bias) [norm(x) up + up_bias], for few rows: weights are stationary "
      "and read once";
  s.params = {
      ParamSpec::size("m", 16, "rows of x and y, split over the PEs of a cube"),
      ParamSpec::size("n", 1024, "columns of w and y, split over the cubes"),
      ParamSpec::size("k", 512, "columns of x, rows of w"),
      ParamSpec::choice("norm", {"rms", "layer", "none"}, "normalization of x; the tensor norm has its weights"),
      ParamSpec::number("eps", 1e-5, 0, 1e6, "epsilon, added to the mean square or variance"),
      ParamSpec::number("factor", 1, -1e30, 1e30, "factor of the product before the residual is added"),
      softcap_param("the product times factor"),
      ParamSpec::size("rows", 256, "rows of a step over all PEs of a cube; a step may have half as many more"),
      ParamSpec::size("sum_bytes", 1 << 20, "limit of a PE's partial sums of one matrix").tuning(),
      ParamSpec::size("piece_k", 64, "rows of weights in one read").tuning(),
      ParamSpec::size("ahead_bytes", 4 << 20, "prefetch limit of weights").tuning(),
      ParamSpec::size("keep_bytes", 6 << 20, "limit of the weights that stay in TCM for all rows").tuning(),
      ParamSpec::choice("sums", {"dtype", "f32"}, "type of the partial sums that PEs exchange"),
      activations_spec("type of the multiplied rows; i8 has one step a row")};
  const std::vector<ParamSpec> gate = gate_params("activation of the first product");
  s.params.insert(s.params.begin() + 3, gate.begin(), gate.end());
  for (const ParamSpec& p : ring_params(8, 8192)) s.params.push_back(p);
  s.params.push_back(ParamSpec::dtypes({DType::f32, DType::f16, DType::bf16}));
  add_weights_params(&s);
  // For a run of this kernel alone: columns of the weights and of y are distributed over the ranks, those of y in
  // complete elements of w.
  const auto lies = [](TensorSpec t, bool over_ranks, bool of_y = false) {
    return placed(std::move(t), [over_ranks, of_y](const Params& p) {
      const host::LayoutLevel columns = host::shard(1, of_y ? values_in(weights_dtype(p)) : 1);
      const host::Layout layout(over_ranks ? columns : host::replicate());
      return layout.cube(columns).pe(host::shard(0));
    });
  };
  const auto optional = [](TensorSpec t) {
    t.optional = true;
    return t;
  };
  const Init weights = Init::weights(value_of("k"));
  s.tensors = {lies(input("x", {"m", "k"}, Placement::rows), false),
               lies(weights_spec("w", weights), true),
               optional(lies(weights_spec("up", weights), true)),
               lies(scale_spec("scale"), true),
               lies(scale_spec("up_scale"), true),
               optional(input("norm", {"k"}, Placement::replicate)),
               optional(input("norm_bias", {"k"}, Placement::replicate)),
               optional(input("bias", {"n"}, Placement::replicate)),
               optional(input("up_bias", {"n"}, Placement::replicate)),
               optional(lies(input("residual", {"m", "n"}, Placement::rows), true, true)),
               lies(output("y", {"m", "n"}, Placement::rows), true, true)};
  s.function = decode_linear;
  s.reference = reference;
  s.prepare = [](Params* p, const LaunchCosts& costs, LaunchNotes*) {
    check_weights(*p);
    check_activations(*p);
    fit_in_tcm("decode_linear", p, costs, {"sum_bytes", "ahead_bytes", "keep_bytes", "slot_bytes"});
  };
  s.wiring = "lines of cubes for each PE (E–W, S–N); all-to-all in a cube, and between ranks at one place";
  s.queues = connections;
  return s;
}

const RegisterKernel registered{spec()};

}  // namespace
}  // namespace kernbench::kernels::decode_linear_kernel
