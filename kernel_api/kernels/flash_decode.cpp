// SPDX-License-Identifier: Apache-2.0
// Attention of one token of each sequence of a batch over a cache of keys and values (flash-decode). A unit is a head
// of k of a sequence. Its keys are split into `splits` ranges. Each of these rows of the cache is stored at the PE that
// processes it, so that a PE reads the cache only from its own HBM. The PE with the range of the new position appends
// the new key and value from qkv. A cache with its own type is multiplied without conversion, and the new token's own
// key is rounded to that type first. flash_combine combines the results of the ranges; a single range gives o directly.
// The pages of a paged cache may lie anywhere: a table has the page numbers of each sequence. A PE gathers the tokens
// of its ranges from the pages, and reads only the needed parts of a page.
#include <algorithm>
#include <cmath>
#include <numeric>
#include <optional>

#include "kernbench/kernel_api/kernels/activations.h"
#include "kernbench/kernel_api/kernels/common.h"
#include "kernbench/kernel_api/kernels/flash.h"
#include "kernbench/kernel_api/kernels/heads.h"
#include "kernbench/kernel_api/kernels/peers.h"
#include "kernbench/kernel_api/kernels/shards.h"
#include "kernbench/kernel_api/launch_shape.h"
#include "kernbench/kernel_api/pe_backend.h"
#include "kernbench/phase2/check/verify.h"

namespace kernbench::kernels::flash_decode_kernel {
namespace {

constexpr double kUnseen = -1e30;
constexpr int64_t kBlock = 32768;  // elements per block of keys or of values
constexpr size_t kAhead = 2;       // number of prefetched blocks
constexpr double kMostI8 = 127;    // range of an i8 cache, for both signs

DType cache_dtype(const Params& p) {
  return type_or_own(p, "cache");
}

/// Factor from a value to a cache element. With a scale of 0 all elements are 0.
double inverse(double scale) {
  return scale == 0 ? 0 : 1 / scale;
}

/// Rows of the cache, ordered by rank, sequence, head and range.
struct Units {
  Heads heads;
  int64_t batch, first, splits, keys, context, window;
  int64_t page, pages;  ///< tokens per page, 0 if the cache is not paged; pages of the pool
  explicit Units(const Params& p)
      : heads(p),
        batch(p.integer("batch")),
        first(p.integer("first")),
        splits(p.integer("splits")),
        keys(of(p, "keys")),
        context(of(p, "context")),
        window(of(p, "window")),
        page(of(p, "page")),
        pages(of(p, "pages")) {
    if (page > 0 && pages == 0) pages = batch * blocks();
  }
  /// 0 for flash_combine, which lacks these parameters.
  static int64_t of(const Params& p, const char* name) { return p.values().count(name) > 0 ? p.integer(name) : 0; }

  int64_t of_part() const { return batch * heads.kv_of_part; }
  int64_t count() const { return heads.parts * of_part(); }
  int64_t sequence(int64_t unit) const { return unit % of_part() / heads.kv_of_part; }
  int64_t row(int64_t unit) const { return first + sequence(unit); }  ///< row of qkv and o
  int64_t head(int64_t unit) const { return unit / of_part() * heads.kv_of_part + unit % heads.kv_of_part; }
  int64_t columns() const { return heads.group * (heads.dim + 2); }          ///< columns of part
  int64_t rows() const { return count() * splits; }                          ///< rows of part
  int64_t blocks() const { return tl::Context::cdiv(splits * keys, page); }  ///< pages of a sequence
  /// Rows of a pool are the pages of a head, head by head. Returns a page's first token in the complete pool.
  int64_t token_in_pool(int64_t unit, int64_t number) const { return (head(unit) * pages + number) * page; }
  Dims shape_of_cache() const {
    return page > 0 ? Dims{heads.kv * pages, page, heads.dim} : Dims{rows(), keys, heads.dim};
  }
  /// The first position that the new token sees.
  int64_t first_seen() const { return window > 0 ? std::max<int64_t>(0, context + 1 - window) : 0; }
};

/// Whether each rank has its own pool, with all heads or with its part of them. In a run of this kernel alone, one pool
/// is distributed over the PEs of several ranks.
bool each_rank_has_a_pool(tl::Context& tl, const tl::Args& args, const Units& units) {
  int64_t rows = 0;
  for (uint32_t p = 0; p < args.shards(); ++p) {
    if (tl.launch().pes[p].rank == tl.rank()) rows += range_of(args.shard("k", p), 0).count;
  }
  return rows * units.heads.parts == units.shape_of_cache()[0];
}

/// The rows of part that a PE computes: those whose keys it has. The pages of a head may lie at any of its PEs, so a
/// paged cache is split into equal shares, in the order of heads in the pool. The keys then come from nearby.
class RowsOfPe {
 public:
  RowsOfPe(tl::Context& tl, const tl::Args& args, const Units& units) : units_(units) {
    if (units.page == 0) {
      all_ = range_of(args["k"], 0);
      return;
    }
    int64_t rows = units.rows(), before = 0;
    PlaceInRank me{tl.index(), tl.size()};
    if (each_rank_has_a_pool(tl, args, units)) {
      rows /= units.heads.parts;
      before = units.heads.first_head(tl, "flash_decode") * units.batch * units.splits;
      me = place_in_rank(tl);
    }
    const int64_t share = tl::Context::cdiv(rows, me.pes), first = std::min(rows, me.pe * share);
    all_ = {before + first, std::min(rows - first, share)};
  }
  int64_t count() const { return all_.count; }
  int64_t operator[](int64_t i) const {
    const int64_t at = all_.first + i;
    if (units_.page == 0) return at;
    const int64_t of_head = units_.batch * units_.splits, head = at / of_head, kv = units_.heads.kv_of_part;
    const int64_t unit = head / kv * units_.of_part() + at % of_head / units_.splits * kv + head % kv;
    return unit * units_.splits + at % units_.splits;
  }

 private:
  const Units& units_;
  Range all_;
};

/// Processes the ranges of the cache that belong to a PE.
class Decode {
 public:
  Decode(tl::Context& tl, const tl::Args& args, const Units& units, const RowsOfPe& rows)
      : tl_(tl),
        args_(args),
        units_(units),
        rows_(rows),
        k_(units_.page > 0 ? args.whole("k") : args["k"]),
        v_(units_.page > 0 ? args.whole("v") : args["v"]),
        qkv_(tl, args, "flash_decode", "qkv"),
        qkv_type_(args.dtype()),
        of_scores_(args.number("score_scale") > 0 ? args.number("score_scale") * std::sqrt(units.heads.dim) : 1) {
    if (args.has("o") && units_.splits > 1) throw KernelFault("flash_decode: o is of keys in one range: flash_combine");
    if (args.has("sink") && !args.has("o")) throw KernelFault("flash_decode: sink is beside o, or flash_combine's");
    if (args.has("o")) o_.emplace(tl, args, "flash_decode", "o");
    part_ = args.has("part");
    if (args.has("cos")) turns_ = {args["cos"], args["sin"]};
    if (args.has("k_scale") != args.has("v_scale"))
      throw KernelFault("flash_decode: k_scale and v_scale: both or none");
    if (args.has("k_scale")) {
      const tl::Loaded of_k = tl.load_async(args["k_scale"]), of_v = tl.load_async(args["v_scale"]);
      k_scale_ = of_k.to_vector<float>();
      v_scale_ = of_v.to_vector<float>();
    }
    if (args.has("table") && units_.page == 0) throw KernelFault("flash_decode: table is of a cache in pages: page");
    const tl::View& of_part = args.has("part") ? args["part"] : k_;
    if (k_.shape != v_.shape || k_.offset != v_.offset ||
        (args.has("part") &&
         (of_part.whole[1] != units_.columns() || (units_.page == 0 && range_of(of_part, 0) != range_of(k_, 0)))))
      throw KernelFault("flash_decode: the PE's parts of k, v and part are not alike");
    ask_for_pages(0);
  }
  void row(int64_t i) {
    const int64_t unit = unit_of(i);
    const Heads& h = units_.heads;
    const int64_t sequence = units_.sequence(unit), head = units_.head(unit);
    const int64_t begin = begin_of(i), end = begin + units_.keys;
    const bool appends = begin <= units_.context && units_.context < end;
    // All loads are started before any wait, so that the cache follows without a gap.
    const int64_t wide = h.group * h.dim;
    std::vector<Range> columns = {{h.q_col(head), wide}};
    if (appends) columns.insert(columns.end(), {{h.k_col(head), h.dim}, {h.v_col(head), h.dim}});
    const tl::Tensor now = qkv_.gather({units_.row(unit), 1}, columns);
    std::vector<tl::Tensor> turns;
    for (const tl::View& t : turns_) turns.push_back(tl_.load_async(t.block().rows(sequence - t.offset[0], 1)));
    take_pages(i);
    CachedBlocks cached_blocks(*this, i, std::max(begin, units_.first_seen()), std::min(end, units_.context));
    Queries q;
    q.rows = h.group;
    q.q = turned(now.slice(1, 0, wide).reshape({h.group, h.dim}), turns);
    FlashAttention running(tl_, q, false, false, args_.number("softcap"));
    const double k_scale = scale_of(k_scale_, head), v_scale = scale_of(v_scale_, head);
    const double of_scores = k_scale * of_scores_;
    cached_blocks.add_to(running, of_scores);
    if (appends) {
      const tl::Tensor key = as_cached(turned(now.slice(1, wide, h.dim), turns), k_scale),
                       value = as_cached(now.slice(1, wide + h.dim, h.dim), v_scale);
      tl_.store_async(cached(k_, i, units_.context, 1), key);
      tl_.store_async(cached(v_, i, units_.context, 1), value);
      running.add(key, value, units_.context, of_scores);
    }
    if (part_) store(running, i, v_scale);
    if (!o_) return;
    const tl::Tensor over_sum =
        args_.has("sink") ? running.weighted() / (running.sum() + sink_beside(tl_, args_, h, head, running.top()))
                          : running.result();
    const tl::Tensor o = tl_.cast(times(over_sum, v_scale), qkv_type_);
    o_->store(units_.row(unit), h.o_col(head), o.reshape({1, h.group * h.dim}));
  }

 private:
  /// Rotates heads, one per row, by a row of cos and a row of sin, if these exist.
  tl::Tensor turned(const tl::Tensor& heads, const std::vector<tl::Tensor>& turns) const {
    if (turns.empty()) return heads;
    const int64_t half = turned_of_head(args_.params()) / 2, rest = units_.heads.dim - 2 * half;
    const tl::Tensor c = tl_.cast(turns[0], DType::f32), s = tl_.cast(turns[1], DType::f32);
    const tl::Tensor wide = tl_.cast(heads, DType::f32), a = wide.slice(1, 0, half), b = wide.slice(1, half, half);
    std::vector<tl::Tensor> parts = {a * c - b * s, b * c + a * s};
    if (rest > 0) parts.push_back(wide.slice(1, 2 * half, rest));
    return tl_.cast(tl_.cat(parts, 1), heads.dtype());
  }
  static double scale_of(const std::vector<float>& scales, int64_t head) {
    return scales.empty() ? 1 : double{scales[static_cast<size_t>(head)]};
  }
  tl::Tensor times(const tl::Tensor& x, double scale) const { return scale == 1 ? x : x * scale; }
  /// A key or a value in the cache's type.
  tl::Tensor as_cached(const tl::Tensor& x, double scale) const {
    if (k_.dtype() == x.dtype()) return x;
    tl::Tensor v = times(tl_.cast(x, DType::f32), inverse(scale));
    if (!is_float(k_.dtype())) v = tl_.clamp(tl_.round(v), -kMostI8, kMostI8);
    return tl_.cast(v, k_.dtype());
  }
  int64_t unit_of(int64_t i) const { return rows_[i] / units_.splits; }
  int64_t begin_of(int64_t i) const { return rows_[i] % units_.splits * units_.keys; }
  /// `count` keys of row i from that position of the sequence on, which must be contiguous.
  tl::Block cached(const tl::View& t, int64_t i, int64_t first, int64_t count) const {
    const int64_t token = units_.page > 0 ? token_in_pool(i, first) : i * units_.keys + first - begin_of(i);
    return (t.ptr + token * units_.heads.dim).block({count, units_.heads.dim});
  }

  /// The pages that row i reads or appends to; empty if it reads nothing.
  Range pages_of(int64_t i) const {
    const int64_t begin = begin_of(i), first = std::max(begin, units_.first_seen()),
                  end = std::min(begin + units_.keys, units_.context + 1);
    if (first >= end) return {};
    return {first / units_.page, tl::Context::cdiv(end, units_.page) - first / units_.page};
  }
  /// Called one row ahead, so that no row waits for its table.
  void ask_for_pages(int64_t i) {
    if (!args_.has("table") || i == rows_.count() || pages_of(i).empty()) return;
    const tl::View& table = args_["table"];
    const int64_t row = units_.sequence(unit_of(i)) - table.offset[0];
    table_ = tl_.load_async(table.ptr + row * units_.blocks() + pages_of(i).first, {pages_of(i).count});
  }
  /// Determines the pages of row i and prefetches the table of the next row. Without a table, pages are consecutive.
  void take_pages(int64_t i) {
    if (units_.page == 0) return;
    const Range pages = pages_of(i);
    const int64_t sequence = units_.sequence(unit_of(i));
    first_page_ = pages.first;
    if (pages.empty() || args_.has("table")) {
      pages_ = pages.empty() ? std::vector<int64_t>() : table_.to_vector<int64_t>();
    } else {
      pages_.resize(static_cast<size_t>(pages.count));
      std::iota(pages_.begin(), pages_.end(), sequence * units_.blocks() + pages.first);
    }
    for (size_t n = 0; n < pages_.size(); ++n) {
      if (pages_[n] < 0 || pages_[n] >= units_.pages)
        throw KernelFault("flash_decode: page " + std::to_string(first_page_ + static_cast<int64_t>(n)) +
                          " of sequence " + std::to_string(sequence) + " is number " + std::to_string(pages_[n]) +
                          " of a pool of " + std::to_string(units_.pages));
    }
    ask_for_pages(i + 1);
  }
  /// Token in the rank's part of the pool.
  int64_t token_in_pool(int64_t i, int64_t position) const {
    const int64_t number = pages_[static_cast<size_t>(position / units_.page - first_page_)];
    return units_.token_in_pool(unit_of(i), number) + position % units_.page - k_.offset[0] * units_.page;
  }

  /// Keys and values of row i from `first` to `end`, with some blocks prefetched.
  class CachedBlocks {
   public:
    CachedBlocks(const Decode& of, int64_t i, int64_t first, int64_t end)
        : of_(of), i_(i), first_(first), end_(end), step_(std::max<int64_t>(1, kBlock / of.units_.heads.dim)) {
      for (size_t n = 0; n < kAhead; ++n) ask();
    }
    void add_to(FlashAttention& running, double k_scale) {
      for (size_t b = 0; b < blocks_.size(); ++b) {
        ask();
        running.add(blocks_[b].k, blocks_[b].v, first_ + static_cast<int64_t>(b) * step_, k_scale);
        blocks_[b] = {};
      }
    }

   private:
    struct Block {
      tl::Tensor k, v;
    };
    void ask() {
      const int64_t from = first_ + static_cast<int64_t>(blocks_.size()) * step_;
      if (from >= end_) return;
      const int64_t count = std::min(step_, end_ - from);
      if (of_.units_.page > 0) return gather(from, count);
      const auto load = [&](const tl::View& t) {
        return tl::Tensor(of_.tl_.load_async(of_.cached(t, i_, from, count)));
      };
      blocks_.push_back({load(of_.k_), load(of_.v_)});
    }
    void gather(int64_t from, int64_t count) {
      std::vector<int64_t> tokens;
      for (int64_t j = from; j < from + count; ++j) tokens.push_back(of_.token_in_pool(i_, j));
      const int64_t dim = of_.units_.heads.dim;
      const tl::Loaded index = of_.tl_.tensor(tokens, {count}, DType::i64);
      const auto of = [&](const tl::View& pool) {
        return of_.tl_.gather_async(pool.ptr, index, {}, 0, dim).reshape({count, dim});
      };
      blocks_.push_back({of(of_.k_), of(of_.v_)});
    }
    const Decode& of_;
    const int64_t i_, first_, end_, step_;
    std::vector<Block> blocks_;
  };

  /// The shard with the row: the PE's own, else one of its rank, else any.
  const tl::View& part_with(int64_t row) const {
    const tl::View* found = nullptr;
    const auto has = [row](const tl::View& v) {
      return !v.empty() && v.offset[0] <= row && row < v.offset[0] + v.shape[0];
    };
    if (has(args_["part"])) return args_["part"];
    for (uint32_t p = 0; p < args_.shards(); ++p) {
      const bool mine = tl_.launch().pes[p].rank == tl_.rank();
      if ((found == nullptr || mine) && has(args_.shard("part", p))) found = &args_.shard("part", p);
    }
    if (found == nullptr) throw KernelFault("flash_decode: no PE has row " + std::to_string(row) + " of part");
    return *found;
  }
  void store(const FlashAttention& running, int64_t i, double v_scale) {
    const int64_t group = units_.heads.group, dim = units_.heads.dim;
    const bool any = running.top().valid();
    const tl::Tensor row = any ? tl_.cat({times(running.weighted(), v_scale), running.top(), running.sum()}, 1)
                               : tl_.cat({tl_.zeros({group, dim}, DType::f32),
                                          tl_.full({group, 1}, kUnseen, DType::f32), tl_.zeros({group, 1}, DType::f32)},
                                         1);
    const tl::View& to = part_with(rows_[i]);
    tl_.store_async(to.block().rows(rows_[i] - to.offset[0], 1), row.reshape({1, units_.columns()}));
  }

  tl::Context& tl_;
  const tl::Args& args_;
  const Units& units_;
  const RowsOfPe& rows_;
  const tl::View k_, v_;  ///< the PE's part; for pages: the pool
  const Shards qkv_;
  const DType qkv_type_;
  const double of_scores_;                ///< in addition to 1 / sqrt(dim)
  std::optional<Shards> o_;               ///< the output if keys are in one range
  bool part_ = false;                     ///< else: the result of each range is stored in part
  std::vector<tl::View> turns_;           ///< cos and sin; empty: none
  std::vector<float> k_scale_, v_scale_;  ///< by head; none: 1
  tl::Loaded table_;                      ///< page numbers of the next row
  std::vector<int64_t> pages_;            ///< page numbers of the current row
  int64_t first_page_ = 0;                ///< position of the first of them in its sequence
};

void flash_decode(tl::Context& tl, const tl::Args& args) {
  const Units units(args.params());
  const RowsOfPe rows(tl, args, units);
  if (rows.count() == 0) return;
  Decode decode(tl, args, units, rows);
  for (int64_t i = 0; i < rows.count(); ++i) decode.row(i);
}

/// Combines the results of the ranges of a unit.
tl::Tensor combined(tl::Context& tl, const tl::Args& args, const Units& units, const Shards& part, int64_t unit) {
  const int64_t group = units.heads.group, dim = units.heads.dim;
  std::vector<tl::Tensor> ranges;
  for (int64_t row = unit * units.splits, end = row + units.splits; row < end;) {
    const int64_t rows = std::min(end - row, part.rows_at(row, 0, units.columns()));
    ranges.push_back(part.load(row, 0, rows, units.columns()).reshape({rows, group, dim + 2}));
    row += rows;
  }
  const tl::Tensor all = ranges.size() == 1 ? ranges.front() : tl.cat(ranges, 0);
  const tl::Tensor acc = all.slice(2, 0, dim), top = all.slice(2, dim, 1), sum = all.slice(2, dim + 1, 1);
  const auto with_sink = [&](const tl::Tensor& all_sum, const tl::Tensor& most) {
    return args.has("sink") ? all_sum + sink_beside(tl, args, units.heads, units.head(unit), most) : all_sum;
  };
  if (units.splits == 1) return (acc / with_sink(sum, top)).reshape({1, group * dim});
  const tl::Tensor most = tl.max(top, 0, true), share = tl.exp(top - most);
  return (tl.sum(acc * share, 0, true) / with_sink(tl.sum(sum * share, 0, true), most)).reshape({1, group * dim});
}

void flash_combine(tl::Context& tl, const tl::Args& args) {
  const Units units(args.params());
  const Shards part(tl, args, "flash_combine", "part"), o(tl, args, "flash_combine", "o");
  const int64_t first = units.heads.first_head(tl, "flash_combine") / units.heads.kv_of_part * units.of_part();
  const int64_t of_rank = units.heads.parts == 1 ? units.count() : units.of_part();
  const PlaceInRank me = place_in_rank(tl);
  const int64_t share = tl::Context::cdiv(of_rank, me.pes);
  for (int64_t u = me.pe * share; u < std::min(of_rank, (me.pe + 1) * share); ++u) {
    const int64_t unit = first + u;
    o.store(units.row(unit), units.heads.o_col(units.head(unit)),
            tl.cast(combined(tl, args, units, part, unit), args.dtype()));
  }
}

std::map<std::string, Expected> combine_reference(const Params&, const TensorMap&);

/// qkv with rotated heads of q and k, rounded like in the kernel.
Floats turned_rows(const Params& p, const TensorMap& in) {
  const Heads h = Units(p).heads;
  Floats x = in.at("qkv").floats();
  const Floats c = in.at("cos").floats(), s = in.at("sin").floats();
  const int64_t half = turned_of_head(p) / 2;
  for (int64_t row = 0; row < p.integer("batch"); ++row) {
    for (int64_t head = 0; head < h.heads + h.kv; ++head) {
      const int64_t col = head < h.heads ? h.q_col_of(head) : h.k_col(head - h.heads);
      for (int64_t d = 0; d < half; ++d) {
        const auto i = static_cast<size_t>((p.integer("first") + row) * h.width() + col + d),
                   j = i + static_cast<size_t>(half);
        const auto t = static_cast<size_t>(row * half + d);
        const float a = x[i], b = x[j];
        x[i] = a * c[t] - b * s[t];
        x[j] = b * c[t] + a * s[t];
      }
    }
  }
  return HostTensor::from(p.dtype(), in.at("qkv").shape, x).floats();
}

/// In f64, for each row of the cache: the weighted values, the greatest score and the sum of weights.
std::map<std::string, Expected> decode_reference(const Params& p, const TensorMap& in) {
  const Units units(p);
  const Heads& h = units.heads;
  const Floats qkv = in.count("cos") > 0 ? turned_rows(p, in) : in.at("qkv").floats();
  Floats k = in.at("k").floats(), v = in.at("v").floats();
  const DType cache = cache_dtype(p);
  const auto scale_of = [&](const char* name, int64_t head) {
    return in.count(name) > 0 ? in.at(name).floats()[static_cast<size_t>(head)] : 1.0F;
  };
  const auto as_cached = [&](float x, float by) {
    if (cache == p.dtype()) return x;
    x *= static_cast<float>(inverse(by));
    if (!is_float(cache)) return static_cast<float>(std::clamp<double>(std::nearbyint(x), -kMostI8, kMostI8));
    round_to(cache, &x, 1);
    return x;
  };
  Floats part(static_cast<size_t>(units.rows() * units.columns())), scale(part.size());
  const auto of_qkv = [&](int64_t sequence, int64_t col) {
    return qkv[static_cast<size_t>((units.first + sequence) * h.width() + col)];
  };
  const std::vector<int32_t> table = in.count("table") > 0 ? in.at("table").ints() : std::vector<int32_t>();
  for (int64_t row = 0; row < units.rows(); ++row) {
    const int64_t unit = row / units.splits, begin = row % units.splits * units.keys, end = begin + units.keys;
    const int64_t sequence = units.sequence(unit), head = units.head(unit);
    const float k_scale = scale_of("k_scale", head), v_scale = scale_of("v_scale", head);
    const auto cached = [&](int64_t position) {
      if (units.page == 0) return static_cast<size_t>((row * units.keys + position - begin) * h.dim);
      const int64_t block = sequence * units.blocks() + position / units.page;
      const int64_t number = table.empty() ? block : table[static_cast<size_t>(block)];
      return static_cast<size_t>((units.token_in_pool(unit, number) + position % units.page) * h.dim);
    };
    if (begin <= units.context && units.context < end) {
      for (int64_t d = 0; d < h.dim; ++d) {
        k[cached(units.context) + static_cast<size_t>(d)] = as_cached(of_qkv(sequence, h.k_col(head) + d), k_scale);
        v[cached(units.context) + static_cast<size_t>(d)] = as_cached(of_qkv(sequence, h.v_col(head) + d), v_scale);
      }
    }
    const int64_t first = std::max(begin, units.first_seen()), last = std::min(end, units.context + 1);
    for (int64_t g = 0; g < h.group; ++g) {
      const auto at = static_cast<size_t>(row * units.columns() + g * (h.dim + 2));
      std::vector<double> scores;
      double top = kUnseen, sum = 0;
      for (int64_t j = first; j < last; ++j) {
        double score = 0;
        for (int64_t d = 0; d < h.dim; ++d)
          score += double{of_qkv(sequence, h.q_col(head) + g * h.dim + d)} * k[cached(j) + static_cast<size_t>(d)];
        scores.push_back(soft_capped(score * double{k_scale} * scale_of_scores(p), p.number("softcap")));
        top = std::max(top, scores.back());
      }
      for (size_t j = 0; j < scores.size(); ++j) {
        const double weight = std::exp(scores[j] - top);
        sum += weight;
        for (int64_t d = 0; d < h.dim; ++d) {
          const double value =
              weight * double{v_scale} * v[cached(first + static_cast<int64_t>(j)) + static_cast<size_t>(d)];
          part[at + static_cast<size_t>(d)] += static_cast<float>(value);
          scale[at + static_cast<size_t>(d)] += static_cast<float>(std::abs(value));
        }
      }
      part[at + static_cast<size_t>(h.dim)] = static_cast<float>(top);
      part[at + static_cast<size_t>(h.dim) + 1] = static_cast<float>(sum);
      // Weights are rounded to the element type before the second product.
      const double rounding = tolerance_of(p.dtype()).rtol / tolerance_of(DType::f32).rtol;
      for (int64_t d = 0; d < h.dim; ++d) scale[at + static_cast<size_t>(d)] *= static_cast<float>(rounding);
    }
  }
  const HostTensor of_ranges = HostTensor::from(DType::f32, {units.rows(), units.columns()}, part);
  TensorMap with_sink = {{"part", of_ranges}};
  for (const char* name : {"sink", "o"}) {
    if (in.count(name) > 0) with_sink[name] = in.at(name);
  }
  return {{"k", {HostTensor::from(cache, in.at("k").shape, k), {}}},
          {"v", {HostTensor::from(cache, in.at("v").shape, v), {}}},
          {"part", {of_ranges, scale}},
          {"o", combine_reference(p, with_sink).at("o")}};
}

std::map<std::string, Expected> combine_reference(const Params& p, const TensorMap& in) {
  const Units units(p);
  const Heads& h = units.heads;
  const Floats part = in.at("part").floats();
  Floats o(static_cast<size_t>((units.first + units.batch) * h.heads * h.dim));
  if (in.count("o") > 0) o = in.at("o").floats();  // rows before those of the sequences
  for (int64_t unit = 0; unit < units.count(); ++unit) {
    for (int64_t g = 0; g < h.group; ++g) {
      const auto at = [&](int64_t split, int64_t d) {
        return double{part[static_cast<size_t>((unit * units.splits + split) * units.columns() + g * (h.dim + 2) + d)]};
      };
      double top = at(0, h.dim), sum = 0;
      for (int64_t s = 1; s < units.splits; ++s) top = std::max(top, at(s, h.dim));
      for (int64_t s = 0; s < units.splits; ++s) sum += std::exp(at(s, h.dim) - top) * at(s, h.dim + 1);
      sum += sink_beside(in, units.head(unit) * h.group + g, top);
      for (int64_t d = 0; d < h.dim; ++d) {
        double value = 0;
        for (int64_t s = 0; s < units.splits; ++s) value += std::exp(at(s, h.dim) - top) * at(s, d);
        const int64_t col = h.o_col(units.head(unit)) + g * h.dim + d;
        o[static_cast<size_t>(units.row(unit) * h.heads * h.dim + col)] = static_cast<float>(value / sum);
      }
    }
  }
  return {{"o", {HostTensor::from(p.dtype(), {units.first + units.batch, h.heads * h.dim}, o), {}}}};
}

Dims shape_of_o(const Params& p) {
  return {p.integer("first") + p.integer("batch"), p.integer("heads") * p.integer("dim")};
}

/// Rows before those of the sequences are unchanged.
TensorSpec o_spec() {
  TensorSpec t = output("o", {}, Placement::single);
  t.role = TensorSpec::Role::in_out;
  t.shape = shape_of_o;
  return t;
}

TensorSpec part_spec(TensorSpec::Role role) {
  TensorSpec t = output("part", {}, Placement::rows, [](const Params&) { return DType::f32; });
  t.role = role;
  t.shape = [](const Params& p) {
    const Units u(p);
    return Dims{u.rows(), u.columns()};
  };
  return t;
}

std::vector<ParamSpec> params_of(std::vector<ParamSpec> own) {
  std::vector<ParamSpec> params = head_params();
  params.push_back(ParamSpec::size("batch", 4, "sequences"));
  params.push_back(ParamSpec::size("first", 0, "rows of qkv and o before the rows of the sequences"));
  params.back().min = 0;
  params.push_back(ParamSpec::size("splits", 2, "ranges that the keys of a sequence are split into"));
  params.insert(params.end(), own.begin(), own.end());
  params.push_back(ParamSpec::dtypes({DType::f32, DType::f16, DType::bf16}));
  return params;
}

KernelSpec decode_spec() {
  KernelSpec s;
  s.name = "flash_decode";
  s.help =
      "attention of one token a sequence: stores its k and v into the cache, and computes a partial result for each "
      "range of cached keys";
  const auto or_none = [](ParamSpec p) {
    p.min = 0;
    return p;
  };
  s.params =
      params_of({ParamSpec::size("keys", 64, "capacity of a range; splits times keys must exceed context").tuning(),
                 or_none(ParamSpec::size("context", 96, "cached keys of each sequence; the token is the next")),
                 window_param(), score_scale_param(), softcap_param("scores"), rotary_param(),
                 or_none(ParamSpec::size("page", 0, "tokens of a page of the cache; 0: not paged")),
                 or_none(ParamSpec::size("pages", 0, "pages of the pool; 0: the capacity of the sequences")),
                 ParamSpec::choice("cache", {kOwnType, "f8e4m3", "i8"}, "element type of k and v; dtype: qkv's")});
  TensorSpec qkv = input("qkv", {}, Placement::single);
  qkv.shape = [](const Params& p) { return Dims{p.integer("first") + p.integer("batch"), Heads(p).width()}; };
  const auto cache = [](const char* name) {
    TensorSpec t = output(name, {}, Placement::rows, cache_dtype);
    t.role = TensorSpec::Role::in_out;
    t.shape = [](const Params& p) { return Units(p).shape_of_cache(); };
    return t;
  };
  const auto optional = [](TensorSpec t, std::function<Dims(const Params&)> shape) {
    t.shape = std::move(shape);
    t.optional = true;
    return t;
  };
  const auto turns = [](const Params& p) { return Dims{p.integer("batch"), turned_of_head(p) / 2}; };
  const auto scale = [&](const char* name) {
    TensorSpec t = input(name, {"kv_heads"}, Placement::replicate);
    t.dtype = [](const Params&) { return DType::f32; };
    t.optional = true;
    return t;
  };
  TensorSpec table = input("table", {}, Placement::replicate);  // without it, the pages of a sequence are consecutive
  table.dtype = [](const Params&) { return DType::i32; };
  const auto shape_of_table = [](const Params& p) {
    const Units u(p);
    return Dims{u.batch, u.page > 0 ? u.blocks() : 1};
  };
  TensorSpec part = part_spec(TensorSpec::Role::out);
  part.unless = "o";
  s.tensors = {qkv,
               cache("k"),
               cache("v"),
               optional(table, shape_of_table),
               optional(input("cos", {}, Placement::replicate), turns),
               optional(input("sin", {}, Placement::replicate), turns),
               scale("k_scale"),
               scale("v_scale"),
               sink_spec(),
               part,
               optional(o_spec(), shape_of_o)};
  s.prepare = [](Params* p, const LaunchCosts&, LaunchNotes*) {
    check_heads(*p);
    check_rotary(*p);
    if (p->integer("splits") * p->integer("keys") <= p->integer("context"))
      throw BadParam("context: found " + std::to_string(p->integer("context")) +
                     ", expected less than splits times keys, " +
                     std::to_string(p->integer("splits") * p->integer("keys")));
    if (p->integer("pages") > 0 && p->integer("page") == 0)
      throw BadParam("pages: found " + std::to_string(p->integer("pages")) + ", expected page beside it");
  };
  s.function = flash_decode;
  s.reference = decode_reference;
  return s;
}

/// For a run of flash_combine alone: each rank combines its own results, of all heads or of its part of the heads,
/// along this axis of the tensor. On one rank the layout of `t` applies.
TensorSpec with_each_rank(TensorSpec t, int axis) {
  t.shards = [t, axis](const Params& p) {
    const LaunchShape* launch = p.launch();
    const auto rank_of = [](const LaunchShape::Place& at) { return at.rank; };
    const int64_t first = launch == nullptr ? 0 : rank_of(launch->pes.front());
    if (launch == nullptr || std::all_of(launch->pes.begin(), launch->pes.end(),
                                         [&](const LaunchShape::Place& at) { return rank_of(at) == first; })) {
      const auto pes = static_cast<uint32_t>(launch == nullptr ? 1 : launch->pes.size());
      return plan_shards(t.placement, t.dtype(p), t.shape(p), pes);
    }
    const host::Layout over_ranks(p.integer("parts") == 1 ? host::replicate() : host::shard(axis));
    return host::plan_shards(over_ranks.cube(host::shard(0)).pe(host::shard(0)), t.dtype(p), t.shape(p), launch);
  };
  return t;
}

KernelSpec combine_spec() {
  KernelSpec s;
  s.name = "flash_combine";
  s.help = "o of each sequence from the partial results of flash_decode";
  s.params = params_of({});
  s.tensors = {with_each_rank(part_spec(TensorSpec::Role::in), 0), sink_spec(), with_each_rank(o_spec(), 1)};
  // For a run of this kernel alone. A sum of 0 is impossible in an attention, so inputs avoid it.
  s.tensors[0].fill = [](const Params& p, uint64_t seed) {
    TensorSpec t = input("part", {}, Placement::rows);
    t.shape = part_spec(TensorSpec::Role::in).shape;
    t.dtype = [](const Params&) { return DType::f32; };
    Floats values = make_input(t, p, seed).floats();
    const auto row = static_cast<size_t>(Heads(p).dim + 2);
    for (size_t i = row - 1; i < values.size(); i += row) values[i] = std::abs(values[i]) + 1;
    return HostTensor::from(DType::f32, t.shape(p), values);
  };
  s.prepare = [](Params* p, const LaunchCosts&, LaunchNotes*) {
    check_heads(*p);
    check_parts(*p);
  };
  s.function = flash_combine;
  s.reference = combine_reference;
  return s;
}

const RegisterKernel decode_registered{decode_spec()}, combine_registered{combine_spec()};

}  // namespace
}  // namespace kernbench::kernels::flash_decode_kernel
