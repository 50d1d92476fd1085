// SPDX-License-Identifier: Apache-2.0
// Attention: ONNX's op, and onnxruntime's multi-head and group-query variants.
#include <algorithm>
#include <cmath>
#include <tuple>
#include <utility>

#include "kernbench/kernel_api/kernels/flash.h"
#include "kernbench/platform/onnx/pe.h"

namespace kernbench::onnx {
namespace {

using tl::Tensor;
using Places = std::vector<int64_t>;

/// Queries, keys or values: the rows of an input for each batch and head.
struct Heads {
  size_t input = 0;
  Shape shape;  ///< [batch, heads, rows, columns]
  int64_t offset = 0, of_batch = 0, of_head = 0, of_row = 0;

  /// Input shape [batch, heads, rows, columns].
  static Heads apart(size_t input, const Shape& s) { return {input, s, 0, s[1] * s[2] * s[3], s[2] * s[3], s[3]}; }
  /// Input shape [batch, rows, heads · columns].
  static Heads by_rows(size_t input, const Shape& s) { return {input, s, 0, s[1] * s[2] * s[3], s[3], s[1] * s[3]}; }
  /// The same with a given number of heads.
  static Heads flat(const Op& op, size_t input, const char* count) {
    const Shape& s = op.shape(input);
    const int64_t n = op.integer(count, 0);
    op.require(n > 0 && s[2] % n == 0, std::string("found ") + count + " of " + std::to_string(n) + " for " +
                                           std::to_string(s[2]) + " columns");
    return by_rows(input, {s[0], n, s[1], s[2] / n});
  }
  static Heads of(const Op& op, size_t input, const char* count) {
    return op.rank(input) == 3 ? flat(op, input, count) : apart(input, op.shape(input));
  }
  /// Part `part` of several parts that lie side by side for each head: [batch, rows, heads, parts, columns].
  static Heads packed(const Op& op, size_t input, int64_t part) {
    const Shape& s = op.shape(input);
    return {input, {s[0], s[2], s[1], s[4]}, part * s[4], s[1] * s[2] * s[3] * s[4], s[3] * s[4], s[2] * s[3] * s[4]};
  }

  int64_t heads() const { return shape[1]; }
  int64_t rows() const { return shape[2]; }
  int64_t columns() const { return shape[3]; }
  int64_t at(int64_t batch, int64_t head, int64_t row) const {
    return offset + batch * of_batch + head * of_head + row * of_row;
  }
  Tensor load(Pe& pe, int64_t batch, int64_t head, int64_t row, int64_t count) const {
    return pe.tl.load_async((pe.in(input) + at(batch, head, row)).block({count, columns()}, of_row));
  }
};

bool is_grouped(const Op& op) {
  return op.node->op == "GroupQueryAttention";
}

constexpr size_t kNone = SIZE_MAX;
constexpr int64_t kMasks = 1 << 16;  // elements of a mask in TCM

/// An attention's operands: the inputs' indices and layouts. kNone marks inputs that the op lacks.
struct AttentionSizes {
  explicit AttentionSizes(const Op& op) {
    if (is_grouped(op)) {
      grouped(op);
    } else if (is_microsofts(op)) {
      of_one_head_count(op);
    } else {
      q = Heads::of(op, 0, "q_num_heads");
      k = Heads::of(op, 1, "kv_num_heads");
      v = Heads::of(op, 2, "kv_num_heads");
      mask = 3;
      past_k = 4;
      added = op.stands_for ? 6 : kNone;
      causal = op.integer("is_causal", 0) != 0;
      softcap = op.real("softcap", 0);
    }
    for (size_t* i : {&mask, &added, &past_k, &bias, &padding, &sink}) {
      if (*i != kNone && !op.has(*i)) *i = kNone;
    }
    past = past_k == kNone || op.rank(past_k) != 4 ? 0 : op.shape(past_k)[2];
    total = is_grouped(op) ? std::max(op.value(6), past) : past + k.rows();
    scale = op.real("scale", 0);
    if (scale == 0) scale = 1 / std::sqrt(static_cast<double>(q.columns()));
  }
  Shape scores() const { return {q.shape[0], q.heads(), q.rows(), total}; }
  /// Shape of keys or values, including past ones.
  Shape present(const Heads& h) const { return {h.shape[0], h.heads(), total, h.columns()}; }

  Heads q, k, v;
  size_t mask = kNone, added = kNone;                                  ///< added: in a pattern, the addend after the
                                                                       ///< mask
  size_t past_k = kNone, bias = kNone, padding = kNone, sink = kNone;  ///< past values: past_k + 1
  int64_t past = 0, total = 0, window = 0;                             ///< rows; window 0: none
  bool causal = false, turned = false, smooth = false;
  double scale = 1, softcap = 0;

 private:
  void of_one_head_count(const Op& op) {
    const char* const count = "num_heads";
    if (!op.has(1)) {
      q = Heads::packed(op, 0, 0);
      k = Heads::packed(op, 0, 1);
      v = Heads::packed(op, 0, 2);
    } else {
      q = Heads::flat(op, 0, count);
      k = op.rank(1) == 5 ? Heads::packed(op, 1, 0) : Heads::of(op, 1, count);
      v = op.rank(1) == 5 ? Heads::packed(op, 1, 1) : Heads::of(op, 2, count);
    }
    bias = 3;
    padding = 4;
    mask = 5;
    past_k = 6;
    causal = op.integer("unidirectional", 0) != 0;
  }

  void grouped(const Op& op) {
    const int64_t heads = op.integer("num_heads"), shared = op.integer("kv_num_heads");
    op.require(heads > 0 && shared > 0 && heads % shared == 0,
               "found " + std::to_string(heads) + " heads that share " + std::to_string(shared));
    if (op.has(1)) {
      q = Heads::flat(op, 0, "num_heads");
      k = Heads::flat(op, 1, "kv_num_heads");
      v = Heads::flat(op, 2, "kv_num_heads");
    } else {  // [batch, rows, (heads + 2 · shared) · columns]
      const Shape& s = op.shape();
      const int64_t all = heads + 2 * shared, columns = s[2] / all;
      op.require(s[2] % all == 0, "found " + std::to_string(s[2]) + " columns of " + std::to_string(all) + " heads");
      const auto part = [&](int64_t n, int64_t first) {
        return Heads{0, {s[0], n, s[1], columns}, first * columns, s[1] * s[2], columns, s[2]};
      };
      q = part(heads, 0);
      k = part(shared, heads);
      v = part(shared, heads + shared);
    }
    mask = 10;
    past_k = 3;
    sink = 11;
    causal = true;
    turned = op.integer("do_rotary", 0) != 0;
    smooth = op.integer("smooth_softmax", 0) > 0;
    window = std::max<int64_t>(0, op.integer("local_window_size", -1));
    softcap = op.real("softcap", 0);
  }
};

void require_rank(const Op& op, size_t i, const std::vector<int64_t>& legal, const char* expected) {
  op.require(std::find(legal.begin(), legal.end(), op.rank(i)) != legal.end(),
             "input " + std::to_string(i) + " is of shape " + to_string(op.shape(i)) + ", expected " + expected);
}

void check_operands(const Op& op) {
  op.require_type(0, Takes::floats);
  if (!is_microsofts(op)) {
    for (const size_t i : {size_t{0}, size_t{1}, size_t{2}}) {
      op.require_same_types(0, i);
      op.require(op.rank(i) == op.rank(), "input " + std::to_string(i) + " is of shape " + to_string(op.shape(i)) +
                                              ", input 0 of " + to_string(op.shape()));
      require_rank(op, i, {3, 4}, "3 or 4 dimensions");
    }
    return;
  }
  const bool apart = op.has(1);
  if (!apart && !is_grouped(op)) {
    require_rank(op, 0, {5}, "5 dimensions, as it has no keys");
    const Shape& s = op.shape();
    op.require(s[3] == 3 && s[2] == op.integer("num_heads", 0), "found queries, keys and values of " + to_string(s));
  } else {
    require_rank(op, 0, {3}, "3 dimensions");
  }
  if (apart)
    require_rank(op, 1, is_grouped(op) ? Shape{3} : Shape{3, 4, 5}, "3 dimensions, or 4 or 5 of one head count");
  const bool pairs = apart && op.rank(1) == 5;
  if (pairs) op.require(op.shape(1)[3] == 2, "found keys and values of " + to_string(op.shape(1)));
  op.require(op.has(2) == (apart && !pairs), "it has keys or values alone");
  if (op.has(2)) require_rank(op, 2, {op.rank(1)}, "as many dimensions as keys have");
  for (const size_t i : {size_t{1}, size_t{2}}) {
    if (op.has(i)) op.require_same_types(0, i);
  }
}

/// Refuses inputs and outputs that are not supported, each by name.
void refuse_others(const Op& op) {
  const auto none = [&](size_t i, const char* what) { op.require(!op.has(i), std::string("it has ") + what); };
  if (is_grouped(op)) {
    op.require(op.integer("kv_cache_bit_width", 0) == 0 && !op.has(12) && !op.has(13), "its cache is quantized");
    for (size_t i = 14; i < op.inputs.size(); ++i) none(i, "an input that is not known");
  } else if (is_microsofts(op)) {
    none(8, "a past_sequence_length, which is not run");
    none(9, "a cache_indirection, which is not run");
  }
  op.require(!op.has_output(3), "its scores are an output, which is not run");
}

void check_sizes(const Op& op, const AttentionSizes& s) {
  const Shape &q = s.q.shape, &k = s.k.shape, &v = s.v.shape;
  const auto found = [&](size_t i) { return op.has(i) ? to_string(op.shape(i)) : "none"; };
  op.require(q[0] == k[0] && k[0] == v[0] && k[1] == v[1] && k[2] == v[2] && q[3] == k[3] && k[1] > 0 &&
                 q[1] % k[1] == 0 && s.total > 0 && (!is_grouped(op) || q[2] == k[2]),
             "found " + found(0) + ", " + found(1) + " and " + found(2));
  op.require(std::max(q[3], v[3]) <= kPiece, "found a head of more than " + std::to_string(kPiece) + " columns");
  if (s.past_k == kNone && !op.has(is_microsofts(op) && !is_grouped(op) ? 7 : is_grouped(op) ? 4 : 5)) return;
  op.require(s.past_k != kNone, "it has past values without keys");
  for (const Heads* h : {&s.k, &s.v}) {
    const size_t i = s.past_k + (h == &s.v ? 1 : 0);
    op.require_same_types(0, i);
    op.require_shape(i, {h->shape[0], h->heads(), s.past, h->columns()});
  }
}

void check_masks(const Op& op, const AttentionSizes& s) {
  op.require(is_grouped(op) || s.softcap == 0 || !(s.mask != kNone || s.causal),
             "it has a softcap and a mask, and versions of ONNX differ on which comes first");
  if (s.mask != kNone) {
    const Value& mask = op.in(s.mask);
    op.require((mask.type == Type::boolean && !is_microsofts(op)) || mask.type == op.in(0).type,
               "its mask is of " + name_of(mask.type));
    op.require(broadcast({mask.shape, s.scores()}) == s.scores(),
               "its mask is of shape " + to_string(mask.shape) + ", expected that of scores, " + to_string(s.scores()));
  }
  if (s.bias != kNone) {
    op.require_same_types(0, s.bias);
    op.require(op.rank(0) == 3 && op.rank(1) == 3, "it has a bias of projections that are not in three dimensions");
    op.require_shape(s.bias, {op.shape(0)[2] + op.shape(1)[2] + op.shape(2)[2]});
  }
  if (s.padding != kNone) {
    const int64_t batch = s.q.shape[0];
    op.require(op.in(s.padding).type == Type::int32, "its key_padding_mask is of " + name_of(op.in(s.padding).type));
    const Shape& found = op.shape(s.padding);
    op.require(found == Shape{batch} || found == Shape{batch, s.total} || found == Shape{batch, s.q.rows(), s.total},
               "its key_padding_mask is of shape " + to_string(found));
  }
}

/// Checks that apply only to group-query attention.
void check_grouped(const Op& op, const AttentionSizes& s) {
  const int64_t batch = s.q.shape[0], head = s.q.columns();
  op.require_type(5, Takes::indices);
  op.require(op.in(5).elements() == batch, "found seqlens_k of shape " + to_string(op.shape(5)));
  op.require_small({{s.total}});
  if (s.sink != kNone) {
    op.require_same_types(0, s.sink);
    op.require_shape(s.sink, {s.q.heads()});
  }
  if (!s.turned) return;
  for (const size_t i : {size_t{7}, size_t{8}}) {
    op.require_same_types(0, i);
    op.require(op.rank(i) == 2 && op.shape(i) == op.shape(7) && op.shape(i)[1] > 0 && 2 * op.shape(i)[1] <= head,
               "found tables of shape " + to_string(op.shape(i)));
  }
  if (op.has(9)) {
    op.require_type(9, Takes::indices);
    op.require_shape(9, {batch, s.q.rows()});
  }
}

void shape_attention(Op& op) {
  check_operands(op);
  refuse_others(op);
  const AttentionSizes s(op);
  check_sizes(op, s);
  check_masks(op, s);
  if (is_grouped(op)) check_grouped(op, s);
  const int64_t width = s.v.columns();
  if (op.rank() == 4)
    op.set_output(0, op.in(0).type, {s.q.shape[0], s.q.heads(), s.q.rows(), width});
  else
    op.set_output(0, op.in(0).type, {s.q.shape[0], s.q.rows(), s.q.heads() * width});
  op.set_output(1, op.in(0).type, s.present(s.k));
  op.set_output(2, op.in(0).type, s.present(s.v));
}

/// A block of keys from `first` on, with its values and masks, for one block of queries.
struct KeyBlock {
  int64_t first;
  Tensor keys, values, mask, added, padding;  ///< masks: [queries, keys] or broadcastable to it; empty if absent
};

/// Runs an attention on one PE.
class Attending {
 public:
  explicit Attending(Pe& pe)
      : pe_(pe), s_(pe.op), block_(kernels::flash_rows(std::max(s_.q.columns(), s_.v.columns()))) {
    const int64_t batches = s_.q.shape[0];
    past_.assign(static_cast<size_t>(batches), s_.past);
    seen_.assign(static_cast<size_t>(batches), s_.past + s_.k.rows());
    if (is_grouped(pe.op)) read_lengths();
    if (s_.turned) read_positions();
    if (s_.mask != kNone) mask_ = Strides::broadcast(pe.op.shape(s_.mask), s_.scores());
    if (s_.added != kNone) added_ = Strides::broadcast(pe.op.shape(s_.added), s_.scores());
    if (s_.padding != kNone) padding_ = view_of_padding();
  }

  void run() {
    const int64_t blocks = tl::Context::cdiv(s_.q.rows(), block_), all = s_.q.shape[0] * s_.q.heads() * blocks;
    const Shape made{s_.q.shape[0], s_.q.heads(), s_.q.rows(), s_.v.columns()};
    const bool rows = pe_.op.stands_for ? pe_.op.integer("output_by_rows", 0) != 0 : pe_.op.rank() != 4;
    const Heads y = rows ? Heads::by_rows(0, made) : Heads::apart(0, made);
    if (pe_.op.has_output(0)) {
      for (int64_t t = pe_.tl.index(); t < all; t += pe_.tl.size())
        attend(y, t / blocks / s_.q.heads(), t / blocks % s_.q.heads(), t % blocks * block_);
    }
    for (const size_t i : {size_t{1}, size_t{2}}) {
      if (pe_.op.has_output(i)) keep(i, i == 1 ? s_.k : s_.v);
    }
  }

 private:
  static int64_t of(const Places& all, int64_t batch) { return all[static_cast<size_t>(batch)]; }

  /// The number of keys of each batch, from seqlens_k, which holds that number minus one.
  void read_lengths() {
    const Places lengths = pe_.ints(5);
    const int64_t rows = s_.q.rows();
    for (size_t b = 0; b < lengths.size(); ++b) {
      const int64_t all = lengths[b] + 1;
      past_[b] = pe_.op.value(6) == rows ? 0 : all - rows;  // otherwise the cache begins with the past rows
      seen_[b] = past_[b] + rows;
      if (all < 1 || all > s_.total || past_[b] < 0 || past_[b] > s_.past || seen_[b] > s_.total)
        throw Refusal("found a seqlens_k of " + std::to_string(lengths[b]) + " for " + std::to_string(rows) +
                      " new keys, " + std::to_string(s_.past) + " past ones and " + std::to_string(s_.total) +
                      " in all");
    }
  }

  /// Positions of queries and new keys in the cosine and sine tables.
  void read_positions() {
    const int64_t rows = s_.q.rows(), table = pe_.op.shape(7)[0];
    if (pe_.op.has(9)) positions_ = pe_.ints(9);
    for (size_t b = 0; !pe_.op.has(9) && b < past_.size(); ++b) {
      for (int64_t r = 0; r < rows; ++r) positions_.push_back(past_[b] + r);
    }
    for (const int64_t p : positions_) {
      if (p < 0 || p >= table) throw Refusal("found position " + std::to_string(p) + " of " + std::to_string(table));
    }
  }

  /// View of the padding in the shape of the scores.
  Strides view_of_padding() const {
    const Shape& shape = pe_.op.shape(s_.padding);
    if (shape.size() == 1) return {};
    return Strides::broadcast(
        shape.size() == 2 ? Shape{shape[0], 1, 1, shape[1]} : Shape{shape[0], 1, shape[1], shape[2]}, s_.scores());
  }

  /// Addends and masks of the scores of some queries. If they lie on several PEs and fit, they are loaded at once,
  /// because each block of keys would send commands to all of these PEs again.
  class Masks {
   public:
    Masks(const Pe& pe, size_t input, const Strides& view, const Tile& all)
        : pe_(pe), input_(input == kNone || view.shape.empty() ? kNone : input), view_(view), all_(all) {
      if (input_ != kNone && all.rows * all.columns <= kMasks && pe.lies_apart(input, view, all))
        whole_ = pe.pick(input, view, all);
    }
    /// The columns from a key on; an empty tensor if there is none.
    Tensor of(int64_t key, int64_t count) const {
      if (input_ == kNone) return {};
      if (!whole_.valid()) return pe_.pick(input_, view_, {all_.first + key, all_.rows, count, all_.pitch});
      return whole_.dim(1) == 1 ? whole_ : whole_.slice(1, key, count);
    }

   private:
    const Pe& pe_;
    const size_t input_;
    const Strides& view_;
    const Tile all_;
    Tensor whole_;
  };

  void attend(const Heads& y, int64_t batch, int64_t head, int64_t i) {
    const int64_t group = s_.q.heads() / s_.k.heads(), rows = std::min(block_, s_.q.rows() - i);
    const int64_t row = (batch * s_.q.heads() + head) * s_.q.rows(), begin = of(past_, batch) + i;
    const Tensor q = fresh(s_.q, batch, head, i, rows);
    const bool exact = q.dtype() == DType::f32;  // true: queries are scaled once, instead of the scores
    const kernels::Queries queries{exact ? q * s_.scale : q, begin, rows};
    kernels::FlashAttention attention(pe_.tl, queries, s_.causal, s_.mask != kNone || s_.padding != kNone);
    const int64_t seen = s_.causal ? std::min(of(seen_, batch), begin + rows) : of(seen_, batch);
    const int64_t first = s_.window > 0 ? std::max<int64_t>(0, begin + 1 - s_.window) : 0;
    const Tile met{(row + i) * s_.total + first, rows, seen - first, s_.total};
    const Masks mask(pe_, s_.mask, mask_, met), added(pe_, s_.added, added_, met),
        padding(pe_, s_.padding, padding_, met);
    const auto ask = [&](int64_t j) {
      if (j >= seen) return KeyBlock{j, {}, {}, {}, {}, {}};
      const int64_t columns = std::min(block_, seen - j);
      return KeyBlock{j,
                      known(s_.k, batch, head / group, j, columns),
                      known(s_.v, batch, head / group, j, columns),
                      mask.of(j - first, columns),
                      added.of(j - first, columns),
                      padding.of(j - first, columns)};
    };
    KeyBlock now = ask(first);
    for (KeyBlock next; now.first < seen; now = std::move(next)) {
      next = ask(now.first + block_);  // prefetched beside this block's products
      Tensor scores = pe_.tl.dot(queries.q, now.keys.transpose());
      if (!exact) scores = scores * s_.scale;
      attention.add_scores(masked(scores, now, batch, queries), now.values, now.first);
    }
    pe_.put(Tile{y.at(batch, head, i), rows, y.columns(), y.of_row}, result(attention, head));
  }

  /// Scores after softcap and masks.
  Tensor masked(Tensor scores, const KeyBlock& keys, int64_t batch, const kernels::Queries& queries) {
    tl::Context& tl = pe_.tl;
    if (s_.softcap != 0) scores = tl.tanh(scores * (1 / s_.softcap)) * s_.softcap;
    if (keys.mask.valid()) {
      scores = pe_.op.in(s_.mask).type == Type::boolean ? chosen(keys.mask, scores) : scores + pe_.widened(keys.mask);
    }
    if (keys.added.valid()) scores = scores + pe_.widened(keys.added);
    const auto first = static_cast<double>(keys.first), last = first + static_cast<double>(scores.dim(1));
    if (s_.padding != kNone) {
      const double hidden = pe_.op.real("mask_filter_value", -10000);
      const Tensor there =
          keys.padding.valid() ? tl.gt(keys.padding, 0) : tl.lt(tl.arange(first, last).expand_dims(0), length(batch));
      scores = tl.where(there, scores, scores + hidden);
    }
    if (s_.window > 0 && queries.first + queries.rows - s_.window > keys.first) {
      const auto from = static_cast<double>(queries.first - s_.window);
      const Tensor row = tl.arange(from, from + static_cast<double>(queries.rows));
      scores =
          tl.where(tl.gt(tl.arange(first, last).expand_dims(0), row.expand_dims(1)), scores, kernels::kMaskedScore);
    }
    return scores;
  }
  /// Keeps scores that a boolean mask allows or, for a pattern, does not hide.
  Tensor chosen(const Tensor& mask, const Tensor& scores) {
    if (!pe_.op.stands_for) return pe_.tl.where(mask, scores, kernels::kMaskedScore);
    const double hidden = pe_.op.real("hidden_score", 0);
    return pe_.op.integer("mask_hides", 0) != 0 ? pe_.tl.where(mask, hidden, scores)
                                                : pe_.tl.where(mask, scores, hidden);
  }
  /// The length given by a key_padding_mask.
  int64_t length(int64_t batch) {
    if (lengths_.empty()) lengths_ = pe_.ints(s_.padding);
    return of(lengths_, batch);
  }

  /// With a sink: an extra score per head whose value is 0. A pattern may give weight 0 to queries that see no key.
  Tensor result(const kernels::FlashAttention& a, int64_t head) {
    tl::Context& tl = pe_.tl;
    if (pe_.op.stands_for && pe_.op.given("nothing_is_zero")) return tl.where(tl.gt(a.sum(), 0), a.result(), 0.0);
    if (s_.sink == kNone && !s_.smooth) return a.result();
    const Tensor sink = s_.sink == kNone ? tl.zeros({1, 1}, DType::f32)
                                         : pe_.widened(tl.load(pe_.in(s_.sink) + head, {1})).reshape({1, 1});
    const Tensor top = tl.maximum(a.top(), sink), shrink = tl.exp(a.top() - top);
    return a.weighted() * shrink / (a.sum() * shrink + tl.exp(sink - top));
  }

  /// Loads queries, or new keys or values, with bias or rotation applied.
  Tensor fresh(const Heads& h, int64_t batch, int64_t head, int64_t row, int64_t count) {
    Tensor t = h.load(pe_, batch, head, row, count);
    if (s_.bias != kNone) {
      const int64_t before = &h == &s_.q ? 0 : s_.q.of_row + (&h == &s_.k ? 0 : s_.k.of_row);
      const Tensor bias = pe_.tl.load_async(pe_.in(s_.bias) + before + head * h.columns(), {1, h.columns()});
      t = pe_.cast(pe_.widened(t) + pe_.widened(bias), t.dtype());
    }
    return s_.turned && &h != &s_.v ? turned(t, batch * s_.q.rows() + row) : t;
  }

  /// Applies rotary embedding to rows of heads; `first` gives their batches and positions.
  Tensor turned(const Tensor& given, int64_t first) {
    tl::Context& tl = pe_.tl;
    const int64_t half = pe_.op.shape(7)[1], count = given.dim(0), rest = given.dim(1) - 2 * half;
    Places angles;
    for (int64_t r = first; r < first + count; ++r) {
      for (int64_t d = 0; d < half; ++d) angles.push_back(of(positions_, r) * half + d);
    }
    const Tensor cos = pe_.widened(pe_.pick(7, angles, Dims{count, half}));
    const Tensor sin = pe_.widened(pe_.pick(8, angles, Dims{count, half}));
    const Tensor x = pe_.widened(given);
    const bool neighbours = pe_.op.integer("rotary_interleaved", 0) != 0;
    Tensor a = x.slice(1, 0, half), b = x.slice(1, half, half);
    if (neighbours) std::tie(a, b) = tl.split(tl.copy(x.slice(1, 0, 2 * half)).reshape({count, half, 2}));
    const Tensor real = a * cos - b * sin, other = b * cos + a * sin;
    std::vector<Tensor> parts{real, other};
    if (neighbours) parts = {tl.interleave(real, other)};
    if (rest > 0) parts.push_back(x.slice(1, 2 * half, rest));
    return pe_.cast(parts.size() > 1 ? tl.cat(parts, 1) : parts[0], given.dtype());
  }

  /// Keys or values from a row on: past rows, then new rows.
  Tensor known(const Heads& h, int64_t batch, int64_t head, int64_t row, int64_t count) {
    const int64_t past = of(past_, batch), before = std::clamp<int64_t>(past - row, 0, count);
    if (before == 0) return fresh(h, batch, head, row - past, count);
    const Tensor old = past_of(h).load(pe_, batch, head, row, before);
    return before == count ? old : pe_.tl.cat({old, fresh(h, batch, head, 0, count - before)}, 0);
  }
  Heads past_of(const Heads& h) const {
    return Heads::apart(s_.past_k + (&h == &s_.v ? 1 : 0), {h.shape[0], h.heads(), s_.past, h.columns()});
  }

  /// Writes all keys or values as an output, one block of rows at a time, padded with zeros.
  void keep(size_t output, const Heads& h) {
    const Range mine = pe_.share_of(h.shape[0] * h.heads() * s_.total);
    for (int64_t r = mine.first, n = 0; r < mine.last; r += n) {
      const int64_t row = r % s_.total, head = r / s_.total % h.heads(), batch = r / s_.total / h.heads();
      const int64_t all = of(seen_, batch), end = row < all ? all : s_.total;
      n = std::min({block_, mine.last - r, end - row});
      pe_.put(output, r * h.columns(),
              row < all ? known(h, batch, head, row, n) : pe_.tl.zeros({n, h.columns()}, pe_.op.in(0).dtype()));
    }
  }

  Pe& pe_;
  const AttentionSizes s_;
  const int64_t block_;  ///< rows processed together
  Places past_, seen_;   ///< per batch: rows of the past, and all keys
  Places positions_;     ///< per batch and query: position in the tables
  Places lengths_;       ///< lengths of a key_padding_mask
  Strides mask_, added_, padding_;
};

void run_attention(Pe& pe) {
  Attending(pe).run();
}

/// Counts visible keys only; masks may hide more.
double macs_of_attention(const Op& op) {
  const AttentionSizes s(op);
  // If a cache has more room than keys, only the keys count.
  const int64_t queries = s.q.rows(), total = is_grouped(op) ? op.value(6) : s.total,
                past = is_grouped(op) ? std::max<int64_t>(0, total - queries) : s.past, keys = total - past;
  const int64_t full = s.causal ? std::min(queries, keys) : 0;
  const double seen = static_cast<double>(full) * static_cast<double>(full + 1) / 2 +
                      static_cast<double>(queries - full) * static_cast<double>(keys) +
                      static_cast<double>(queries) * static_cast<double>(past);
  return static_cast<double>(s.q.shape[0] * s.q.heads()) * seen * static_cast<double>(s.q.columns() + s.v.columns());
}

OpRow attention_row(const char* name, int since, const char* domain, const char* form) {
  OpRow row{name,
            since,
            shape_attention,
            run_attention,
            "blocks of queries are split over the PEs; keys and values are processed block by block with `tl.dot` and "
            "a running softmax",
            form};
  row.leads = true;
  row.macs = macs_of_attention;
  row.domain = domain;
  row.reads_values = *domain != '\0';
  return row;
}

const RegisterOps registered_attention{{
    attention_row("Attention", 23, "",
                  "6 is_causal kv_num_heads q_num_heads qk_matmul_output_mode scale softcap softmax_precision"),
    attention_row("MultiHeadAttention", 1, kMicrosoft, "10 mask_filter_value num_heads scale unidirectional"),
    attention_row("GroupQueryAttention", 1, kMicrosoft,
                  "14 do_rotary kv_cache_bit_width kv_num_heads local_window_size num_heads rotary_interleaved scale "
                  "smooth_softmax softcap"),
}};

}  // namespace
}  // namespace kernbench::onnx
