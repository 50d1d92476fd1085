// SPDX-License-Identifier: Apache-2.0
// Rotary embedding: the op itself, and the node groups that exporters emit.
#include <algorithm>

#include "kernbench/platform/onnx/patterns.h"
#include "kernbench/platform/onnx/pe.h"

namespace kernbench::onnx {
namespace {

using tl::Tensor;
using Places = std::vector<int64_t>;

/// For x as [batch, heads, sequence, head] or [batch, sequence, heads · head].
struct Rotary {
  explicit Rotary(const Op& op)
      : cos(is_microsofts(op) ? 2 : 1),
        sin(cos + 1),
        ids(is_microsofts(op) ? 1 : 3),
        shape(op.shape()),
        sequence(shape[shape.size() - 2]),
        head(shape.size() == 4 ? shape[3] : shape[2] / std::max<int64_t>(1, heads_of(op))),
        turned(op.integer("rotary_embedding_dim", 0)),
        interleaved(op.integer("interleaved", 0) != 0) {
    if (turned == 0) turned = head;
  }
  /// With three dimensions. onnxruntime's op need not give the head count if the tables cover a whole head.
  static int64_t heads_of(const Op& op) {
    const int64_t heads = op.integer("num_heads", 0);
    if (!is_microsofts(op) || heads != 0 || op.integer("rotary_embedding_dim", 0) != 0 || op.rank(2) != 2) return heads;
    return op.shape()[2] / std::max<int64_t>(1, 2 * op.shape(2)[1]);
  }
  size_t cos, sin, ids;  ///< input indices
  Shape shape;
  int64_t sequence, head, turned;  ///< turned: the number of leading elements of a head that are rotated
  bool interleaved;                ///< pairs are neighbours, not from two halves

  /// Batch · sequence + position in it.
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
    const int64_t heads = Rotary::heads_of(op);
    op.require(heads > 0 && s[2] % heads == 0,
               "found num_heads of " + std::to_string(heads) + " for " + std::to_string(s[2]) + " columns");
  }
  const Rotary r(op);
  op.require(r.turned > 0 && r.turned % 2 == 0 && r.turned <= r.head,
             "found rotary_embedding_dim of " + std::to_string(r.turned) + " of a head of " + std::to_string(r.head));
  if (is_microsofts(op)) {
    op.in(r.ids);
    op.require(op.real("scale", 1) == 1 && op.integer("is_packed_batching", 0) == 0,
               "it scales or packs sequences, which is not run");
  }
  const bool by_id = op.has(r.ids);
  if (by_id) {
    op.require_type(r.ids, Takes::indices);
    if (!is_microsofts(op) || op.shape(r.ids) != Shape{1}) op.require_shape(r.ids, {s[0], r.sequence});
    op.require(op.rank(r.cos) == 2, "found tables of shape " + to_string(op.shape(r.cos)));
  }
  for (const size_t i : {r.cos, r.sin}) {
    op.require_same_types(0, i);
    op.require_shape(i, by_id ? Shape{op.shape(r.cos)[0], r.turned / 2} : Shape{s[0], r.sequence, r.turned / 2});
  }
  like_first(op);
}

/// The position of each batch and row. onnxruntime's op may give only the first position.
Places ids_of(Pe& pe, const Rotary& r) {
  if (!pe.op.has(r.ids)) return {};
  Places ids = pe.ints(r.ids);
  const int64_t all = r.shape[0] * r.sequence;
  if (!is_microsofts(pe.op) || pe.op.rank(r.ids) != 1) return ids;
  const int64_t first = ids.at(0);
  ids.clear();
  for (int64_t i = 0; i < all; ++i) ids.push_back(first + i % r.sequence);
  return ids;
}

void run_rotary(Pe& pe) {
  const Rotary r(pe.op);
  const Places ids = ids_of(pe, r);
  const int64_t rows = pe.op.shape(r.cos)[0];
  for (const int64_t id : ids) {
    if (id < 0 || id >= rows) throw Refusal("found position " + std::to_string(id) + " of " + std::to_string(rows));
  }
  pe.for_pieces([&](int64_t first, int64_t count) {
    Places angles, partners, signs;  // not rotated: cos 1, sin 0
    for (int64_t f = first; f < first + count; ++f) {
      const int64_t d = f % r.head, row = r.row(f);
      const bool turned = d < r.turned;
      angles.push_back(turned ? (ids.empty() ? row : ids[static_cast<size_t>(row)]) * (r.turned / 2) + r.pair(d) : -1);
      partners.push_back(turned ? r.partner(f, d) : -1);
      signs.push_back(r.is_second(d) ? 1 : -1);
    }
    const Tensor x = pe.widened(pe.tl.load_async(pe.in(0) + first, {count}));
    const Tensor cos = pe.widened(pe.pick(r.cos, angles, 1)), sin = pe.widened(pe.pick(r.sin, angles, 0));
    const Tensor partner = pe.widened(pe.pick(0, partners, 0)) * pe.tl.tensor(signs, {count}, DType::f32);
    pe.put(0, first, x * cos + partner * sin);
  });
}

// ---- As exporters leave it

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

const char* const kByPartners = "MATH on each PE's part; partners, cosines and sines are gathered";
const RegisterOps registered_rotary{{
    {"RotaryEmbedding", 23, shape_rotary, run_rotary, kByPartners, "4 interleaved num_heads rotary_embedding_dim",
     true},
    {"RotaryEmbedding", 1, shape_rotary, run_rotary, kByPartners,
     "4 interleaved is_packed_batching num_heads rotary_embedding_dim scale", true, false, kNewest, kMicrosoft},
}};

OpRow leading(OpRow row) {
  row.leads = true;
  return row;
}

}  // namespace

const OpRow kRotatedHalves =
    leading({"RotaryEmbedding", 1, like_first, run_rotated_halves,
             "MATH on rows of heads, split over the PEs; cosines and sines are loaded with them"});

}  // namespace kernbench::onnx
