// Attention, and rotary embedding.
#include <algorithm>
#include <cmath>
#include <utility>

#include "kernbench/kernel_api/kernels/flash.h"
#include "kernbench/platform/onnx/patterns.h"
#include "kernbench/platform/onnx/pe.h"

namespace kernbench::onnx {
namespace {

using tl::Tensor;
using Places = std::vector<int64_t>;

/// Of x as [batch, heads, sequence, head] or [batch, sequence, heads · head].
struct Rotary {
  explicit Rotary(const Op& op)
      : shape(op.shape()),
        sequence(shape[shape.size() - 2]),
        head(shape.size() == 4 ? shape[3] : shape[2] / std::max<int64_t>(1, op.integer("num_heads", 0))),
        turned(op.integer("rotary_embedding_dim", 0)),
        interleaved(op.integer("interleaved", 0) != 0) {
    if (turned == 0) turned = head;
  }
  Shape shape;
  int64_t sequence, head, turned;  ///< turned: the first elements of a head, which are turned
  bool interleaved;                ///< a pair is two neighbours, not of two halves

  /// Batch · sequence + place in it.
  int64_t row(int64_t flat) const {
    const int64_t of_batch = elements_of(shape) / shape[0];
    return flat / of_batch * sequence + flat / (shape.size() == 4 ? head : shape[2]) % sequence;
  }
  int64_t pair(int64_t d) const { return interleaved ? d / 2 : d % (turned / 2); }
  bool is_second(int64_t d) const { return interleaved ? d % 2 != 0 : d >= turned / 2; }
  int64_t partner(int64_t flat, int64_t d) const {
    const int64_t apart = interleaved ? 1 : turned / 2;
    return is_second(d) ? flat - apart : flat + apart;
  }
};

void shape_rotary(Op& op) {
  op.require_type(0, Takes::floats);
  op.require(op.rank() == 3 || op.rank() == 4, "found rank " + std::to_string(op.rank()) + ", expected 3 or 4");
  const Shape& s = op.shape();
  if (op.rank() == 3) {
    const int64_t heads = op.integer("num_heads", 0);
    op.require(heads > 0 && s[2] % heads == 0,
               "found num_heads of " + std::to_string(heads) + " for " + std::to_string(s[2]) + " columns");
  }
  const Rotary r(op);
  op.require(r.turned > 0 && r.turned % 2 == 0 && r.turned <= r.head,
             "found rotary_embedding_dim of " + std::to_string(r.turned) + " of a head of " + std::to_string(r.head));
  const bool by_id = op.has(3);
  if (by_id) {
    op.require_type(3, Takes::indices);
    op.require_shape(3, {s[0], r.sequence});
    op.require(op.rank(1) == 2, "found tables of shape " + to_string(op.shape(1)));
  }
  for (const size_t i : {size_t{1}, size_t{2}}) {
    op.require_same_types(0, i);
    op.require_shape(i, by_id ? Shape{op.shape(1)[0], r.turned / 2} : Shape{s[0], r.sequence, r.turned / 2});
  }
  like_first(op);
}

void run_rotary(Pe& pe) {
  const Rotary r(pe.op);
  const Places ids = pe.op.has(3) ? pe.ints(3) : Places();
  const int64_t rows = pe.op.shape(1)[0];
  for (const int64_t id : ids) {
    if (id < 0 || id >= rows) throw Refusal("found position " + std::to_string(id) + " of " + std::to_string(rows));
  }
  pe.for_pieces([&](int64_t first, int64_t count) {
    Places angles, partners, signs;  // of what is not turned: cos 1, sin 0
    for (int64_t f = first; f < first + count; ++f) {
      const int64_t d = f % r.head, row = r.row(f);
      const bool turned = d < r.turned;
      angles.push_back(turned ? (ids.empty() ? row : ids[static_cast<size_t>(row)]) * (r.turned / 2) + r.pair(d) : -1);
      partners.push_back(turned ? r.partner(f, d) : -1);
      signs.push_back(r.is_second(d) ? 1 : -1);
    }
    const Tensor x = pe.widened(pe.tl.load_async(pe.in(0) + first, {count}));
    const Tensor cos = pe.widened(pe.pick(1, angles, 1)), sin = pe.widened(pe.pick(2, angles, 0));
    const Tensor partner = pe.widened(pe.pick(0, partners, 0)) * pe.tl.tensor(signs, {count}, DType::f32);
    pe.put(0, first, x * cos + partner * sin);
  });
}

// ---- Attention

/// Q, K or V as [batch, heads, rows, columns], or as [batch, rows, heads · columns].
struct Heads {
  Heads(const Op& op, size_t i, const char* count) : input(i), flat(op.rank(i) == 3), shape(op.shape(i)) {
    if (!flat) return;
    const int64_t n = op.integer(count, 0);
    op.require(n > 0 && shape[2] % n == 0, std::string("found ") + count + " of " + std::to_string(n) + " for " +
                                               std::to_string(shape[2]) + " columns");
    shape = {shape[0], n, shape[1], shape[2] / n};
  }
  int64_t heads() const { return shape[1]; }
  int64_t rows() const { return shape[2]; }
  int64_t columns() const { return shape[3]; }
  int64_t stride() const { return flat ? heads() * columns() : columns(); }
  int64_t at(int64_t batch, int64_t head, int64_t row) const {
    return flat ? ((batch * rows() + row) * heads() + head) * columns()
                : ((batch * heads() + head) * rows() + row) * columns();
  }
  Tensor load(Pe& pe, int64_t batch, int64_t head, int64_t row, int64_t count) const {
    return pe.tl.load_async((pe.in(input) + at(batch, head, row)).block({count, columns()}, stride()));
  }

  size_t input;
  bool flat;
  Shape shape;
};

bool is_microsofts(const Op& op) {
  return op.node->domain == kMicrosoft;
}

struct AttentionSizes {
  explicit AttentionSizes(const Op& op)
      : mask(is_microsofts(op) ? 5 : 3),
        q(op, 0, is_microsofts(op) ? "num_heads" : "q_num_heads"),
        k(op, 1, is_microsofts(op) ? "num_heads" : "kv_num_heads"),
        v(op, 2, is_microsofts(op) ? "num_heads" : "kv_num_heads"),
        causal(op.integer(is_microsofts(op) ? "unidirectional" : "is_causal", 0) != 0),
        scale(op.real("scale", 0)),
        softcap(op.real("softcap", 0)) {
    if (scale == 0) scale = 1 / std::sqrt(static_cast<double>(q.columns()));
  }
  Shape scores() const { return {q.shape[0], q.heads(), q.rows(), k.rows()}; }
  size_t mask;  ///< which input it is
  Heads q, k, v;
  bool causal;
  double scale, softcap;
};

void shape_attention(Op& op) {
  op.require_type(0, Takes::floats);
  for (const size_t i : {size_t{0}, size_t{1}, size_t{2}}) {
    op.require_same_types(0, i);
    op.require(
        op.rank(i) == op.rank() && (op.rank() == 3 || op.rank() == 4),
        "input " + std::to_string(i) + " is of shape " + to_string(op.shape(i)) + ", expected 3 or 4 dimensions");
  }
  if (is_microsofts(op)) {
    op.require(op.rank() == 3, "input 0 is of shape " + to_string(op.shape()) + ", expected 3 dimensions");
    op.require(!op.has(3), "it has a bias of its projections, which is not run");
    op.require(!op.has(4), "it has a key_padding_mask, which is not run");
    for (size_t i = 6; i < op.inputs.size(); ++i) op.require(!op.has(i), "it has a cache, which is not run");
    for (size_t i = 1; i < op.outputs.size(); ++i)
      op.require(!op.has_output(i), "its cache or its scores are outputs, which is not run");
  } else {
    op.require(!op.has(4) && !op.has(5) && !op.has_output(1) && !op.has_output(2), "it has a cache, which is not run");
    op.require(!op.has_output(3), "its scores are an output, which is not run");
  }
  const AttentionSizes s(op);
  op.require(s.softcap == 0 || !(op.has(s.mask) || s.causal),
             "it has a softcap and a mask, and versions of ONNX differ on which comes first");
  const Shape &q = s.q.shape, &k = s.k.shape, &v = s.v.shape;
  op.require(q[0] == k[0] && k[0] == v[0] && k[1] == v[1] && k[2] == v[2] && q[3] == k[3] && k[1] > 0 &&
                 q[1] % k[1] == 0 && k[2] > 0,
             "found " + to_string(op.shape(0)) + ", " + to_string(op.shape(1)) + " and " + to_string(op.shape(2)));
  op.require(std::max(q[3], v[3]) <= kPiece, "found a head of more than " + std::to_string(kPiece) + " columns");
  if (op.has(s.mask)) {
    const Value& mask = op.in(s.mask);
    op.require((mask.type == Type::boolean && !is_microsofts(op)) || mask.type == op.in(0).type,
               "its mask is of " + name_of(mask.type));
    op.require(broadcast({mask.shape, s.scores()}) == s.scores(),
               "its mask is of shape " + to_string(mask.shape) + ", expected that of scores, " + to_string(s.scores()));
  }
  Shape y = op.shape();
  y.back() = s.q.flat ? s.q.heads() * v[3] : v[3];
  op.set_output(0, op.in(0).type, y);
}

/// Keys from `first` on, with what belongs to them and one block of queries.
struct KeyBlock {
  int64_t first;
  Tensor keys, values, mask;  ///< mask: [queries, keys] or what broadcasts to it, where there is one
};

/// Scores after softcap and mask.
Tensor masked(Pe& pe, const AttentionSizes& s, const Tensor& scores, const Tensor& mask) {
  if (s.softcap != 0) return pe.tl.tanh(scores * (1 / s.softcap)) * s.softcap;
  if (!mask.valid()) return scores;
  if (pe.op.in(s.mask).type == Type::boolean) return pe.tl.where(mask, scores, kernels::kMaskedScore);
  return scores + pe.widened(mask);
}

void run_attention(Pe& pe) {
  const AttentionSizes s(pe.op);
  const bool has_mask = pe.op.has(s.mask);
  const Strides mask = has_mask ? Strides::broadcast(pe.op.shape(s.mask), s.scores()) : Strides();
  const int64_t block = kernels::flash_rows(std::max(s.q.columns(), s.v.columns()));
  const int64_t blocks = tl::Context::cdiv(s.q.rows(), block), group = s.q.heads() / s.k.heads();
  Heads y = s.q;  // as the output lies
  y.shape[3] = s.v.columns();
  y.flat = pe.op.integer("output_by_rows", pe.op.stands_for ? 0 : y.flat) != 0;
  for (int64_t t = pe.tl.index(); t < s.q.shape[0] * s.q.heads() * blocks; t += pe.tl.size()) {
    const int64_t head = t / blocks % s.q.heads(), batch = t / blocks / s.q.heads(), i = t % blocks * block;
    const int64_t rows = std::min(block, s.q.rows() - i), row = (batch * s.q.heads() + head) * s.q.rows();
    const Tensor q = s.q.load(pe, batch, head, i, rows);
    const bool exact = q.dtype() == DType::f32;  // then queries are scaled, once, instead of scores
    const kernels::Queries queries{exact ? q * s.scale : q, i, rows};
    kernels::FlashAttention attention(pe.tl, queries, s.causal, has_mask);
    const int64_t seen = s.causal ? std::min(s.k.rows(), i + rows) : s.k.rows();
    const auto ask = [&](int64_t j) {
      if (j >= seen) return KeyBlock{j, {}, {}, {}};
      const int64_t columns = std::min(block, seen - j);
      const Tile scores{(row + i) * s.k.rows() + j, rows, columns, s.k.rows()};
      return KeyBlock{j, s.k.load(pe, batch, head / group, j, columns), s.v.load(pe, batch, head / group, j, columns),
                      has_mask ? pe.pick(s.mask, mask, scores) : Tensor()};
    };
    KeyBlock now = ask(0);
    for (KeyBlock next; now.first < seen; now = std::move(next)) {
      next = ask(now.first + block);  // runs beside this one's products
      Tensor scores = pe.tl.dot(queries.q, now.keys.transpose());
      if (!exact) scores = scores * s.scale;
      attention.add_scores(masked(pe, s, scores, now.mask), now.values, now.first);
    }
    pe.put(Tile{y.at(batch, head, i), rows, y.columns(), y.stride()}, attention.result());
  }
}

// ---- Rotary embedding as exporters leave it

void run_rotated_halves(Pe& pe) {
  const Shape& to = pe.op.out().shape;
  Strides x = Strides::dense(pe.op.shape());
  if (pe.op.given("perm")) {
    const Shape own = x.strides;
    x.shape = to;
    for (size_t d = 0; d < own.size(); ++d) x.strides[d] = own[static_cast<size_t>(pe.op.ints("perm")[d])];
  }
  const Strides cos = Strides::broadcast(pe.op.shape(1), to), sin = Strides::broadcast(pe.op.shape(2), to);
  const int64_t head = to.back(), half = head / 2, positions = to[2];
  const Range mine = pe.share_of(elements_of(to) / head);
  for (int64_t r = mine.first; r < mine.last;) {
    const int64_t rows = std::min({std::max<int64_t>(1, kPiece / head), mine.last - r, positions - r % positions});
    Tensor of[3][2];  // halves of x, cos and sin
    for (const int64_t h : {0, 1}) {
      const Tile tile{r * head + h * half, rows, half, head};
      of[0][h] = pe.widened(pe.pick(0, x, tile));
      of[1][h] = pe.widened(pe.pick(1, cos, tile));
      of[2][h] = pe.widened(pe.pick(2, sin, tile));
    }
    pe.put(Tile{r * head, rows, half, head}, of[0][0] * of[1][0] - of[0][1] * of[2][0]);
    pe.put(Tile{r * head + half, rows, half, head}, of[0][1] * of[1][1] + of[0][0] * of[2][1]);
    r += rows;
  }
}

OpRow leading(OpRow row) {
  row.leads = true;
  return row;
}

/// Of keys that are seen; a mask may hide more.
double macs_of_attention(const Op& op) {
  const AttentionSizes s(op);
  const int64_t queries = s.q.rows(), keys = s.k.rows(), full = s.causal ? std::min(queries, keys) : 0;
  const double seen = static_cast<double>(full) * static_cast<double>(full + 1) / 2 +
                      static_cast<double>(queries - full) * static_cast<double>(keys);
  return static_cast<double>(s.q.shape[0] * s.q.heads()) * seen * static_cast<double>(s.q.columns() + s.v.columns());
}

OpRow attention_row(const char* name, int since, const char* domain) {
  OpRow row = leading({name, since, shape_attention, run_attention,
                       "blocks of queries over the PEs, keys and values met block by block: `tl.dot` and a running "
                       "softmax"});
  row.macs = macs_of_attention;
  row.domain = domain;
  return row;
}

const RegisterOps registered_attention{{
    attention_row("Attention", 23, ""),
    attention_row("MultiHeadAttention", 1, kMicrosoft),
    {"RotaryEmbedding", 23, shape_rotary, run_rotary,
     "MATH on each PE's part; partners, cosines and sines are gathered", true},
}};

}  // namespace

const OpRow kRotatedHalves = leading({"RotaryEmbedding", 1, like_first, run_rotated_halves,
                                      "MATH on rows of heads, which PEs share out; cosines and sines beside them"});

}  // namespace kernbench::onnx
