// SPDX-License-Identifier: Apache-2.0
// Reductions over any axes, and ops along one axis whose whole rows lie in TCM.
#include <algorithm>
#include <iterator>

#include "kernbench/platform/onnx/elementwise.h"
#include "kernbench/platform/onnx/rows.h"

namespace kernbench::onnx {
namespace {

using tl::Tensor;

// ---- Reductions

struct Axes {
  std::vector<bool> reduced;
  bool keep = true;
};

Axes axes_of(const Op& op) {
  Axes a;
  a.keep = op.integer("keepdims", 1) != 0;
  a.reduced.assign(static_cast<size_t>(op.rank()), false);
  const std::vector<int64_t> axes = op.values_or_ints(1, "axes");
  for (const int64_t axis : axes) a.reduced[static_cast<size_t>(op.axis(axis, op.rank()))] = true;
  if (axes.empty() && op.integer("noop_with_empty_axes", 0) == 0) a.reduced.assign(a.reduced.size(), true);
  return a;
}

/// The input as rows; each row is reduced to one element.
struct Rows {
  Strides kept, reduced;
  explicit Rows(const Shape& shape, const std::vector<bool>& is_reduced) {
    const Shape strides = row_major_strides(shape);
    for (size_t d = 0; d < shape.size(); ++d) {
      Strides& to = is_reduced[d] ? reduced : kept;
      to.shape.push_back(shape[d]);
      to.strides.push_back(strides[d]);
    }
  }
  /// Elements [first, first + count) of the rows [row, row + rows).
  std::vector<int64_t> places(int64_t row, int64_t rows, int64_t first, int64_t count) const {
    const std::vector<int64_t> starts = kept.range(row, rows), steps = reduced.range(first, count);
    std::vector<int64_t> all;
    all.reserve(starts.size() * steps.size());
    for (const int64_t s : starts) {
      for (const int64_t step : steps) all.push_back(s + step);
    }
    return all;
  }
};

struct Reduction {
  const char* name;
  int since;
  const char* tl;  ///< sum, prod, max, min
  Tensor (*before)(Pe&, const Tensor&);
  Tensor (*after)(Pe&, const Tensor&, double count);
  bool wide;  ///< floats in f32, rounded once
  Takes takes = Takes::numbers;
};

Tensor same(Pe&, const Tensor& x) {
  return x;
}
Tensor kept(Pe&, const Tensor& x, double) {
  return x;
}

const Reduction kReductions[] = {
    {"ReduceSum", 1, "sum", same, kept, true},
    {"ReduceProd", 1, "prod", same, kept, true},
    {"ReduceMax", 1, "max", same, kept, false},
    {"ReduceMin", 1, "min", same, kept, false},
    {"ReduceMean", 1, "sum",  // integers: truncated toward 0, from a 64-bit sum
     [](Pe& pe, const Tensor& x) { return is_float(x.dtype()) ? x : pe.cast(x, DType::i64); },
     [](Pe&, const Tensor& x, double n) -> Tensor { return x / n; }, true},
    {"ReduceSumSquare", 1, "sum", [](Pe&, const Tensor& x) { return x * x; }, kept, true},
    {"ReduceL1", 1, "sum", [](Pe& pe, const Tensor& x) { return pe.tl.abs(x); }, kept, true},
    {"ReduceL2", 1, "sum", [](Pe&, const Tensor& x) { return x * x; },
     [](Pe& pe, const Tensor& x, double) { return pe.tl.sqrt(pe.cast(x, DType::f32)); }, true, Takes::floats},
    {"ReduceLogSum", 1, "sum", same, [](Pe& pe, const Tensor& x, double) { return pe.tl.log(x); }, true, Takes::floats},
    {"ReduceLogSumExp", 1, "sum", nullptr, nullptr, true, Takes::floats},
};

const Reduction& reduction_row(const Op& op) {
  return *std::find_if(std::begin(kReductions), std::end(kReductions),
                       [&](const Reduction& r) { return op.node->op == r.name; });
}

void shape_reduction(Op& op) {
  const Reduction& row = reduction_row(op);
  const bool of_words = !row.wide && op.opset >= 20;  // greatest or least of booleans
  op.require_type(0, of_words ? Takes::any : row.takes);
  const Axes a = axes_of(op);
  Shape out;
  for (size_t d = 0; d < a.reduced.size(); ++d) {
    if (!a.reduced[d]) out.push_back(op.shape()[d]);
    if (a.reduced[d] && a.keep) out.push_back(1);
  }
  op.set_output(0, op.in(0).type, out);
}

/// One reduction along axis 1 of [rows, n].
Tensor reduced(Pe& pe, const std::string& op, const Tensor& x) {
  if (op == "sum") return pe.tl.sum(x, 1);
  if (op == "prod") return pe.tl.prod(x, 1);
  return op == "max" ? pe.tl.max(x, 1) : pe.tl.min(x, 1);
}

Tensor joined(Pe& pe, const std::string& op, const Tensor& a, const Tensor& b) {
  if (op == "sum") return a + b;
  if (op == "prod") return a * b;
  return op == "max" ? pe.tl.maximum(a, b) : pe.tl.minimum(a, b);
}

/// Rows [row, row + rows), one piece at a time.
template <class F>
Tensor over_rows(Pe& pe, const Rows& r, int64_t row, int64_t rows, const std::string& op, const F& before) {
  const int64_t length = r.reduced.elements(), piece = std::max<int64_t>(1, kPiece / rows);
  Tensor all;
  for (int64_t j = 0; j < length; j += piece) {
    const int64_t n = std::min(piece, length - j);
    const Tensor part = reduced(pe, op, before(pe.pick(0, r.places(row, rows, j, n), Dims{rows, n})));
    all = all.valid() ? joined(pe, op, all, part) : part;
  }
  return all;
}

void run_reduction(Pe& pe) {
  const Axes a = axes_of(pe.op);
  const Rows rows(pe.op.shape(), a.reduced);
  const int64_t length = rows.reduced.elements();
  const Reduction* row = &reduction_row(pe.op);
  const auto widened = [&](const Tensor& x) { return row->wide ? pe.widened(x) : x; };
  pe.for_pieces(
      [&](int64_t first, int64_t count) {
        if (row->before) {
          const Tensor sum =
              over_rows(pe, rows, first, count, row->tl, [&](const Tensor& x) { return row->before(pe, widened(x)); });
          pe.put(0, first, row->after(pe, sum, static_cast<double>(length)));
          return;
        }
        const Tensor top = over_rows(pe, rows, first, count, "max", widened);
        const Tensor shift = pe.tl.where(pe.tl.eq(top * 0.0, 0.0), top, 0.0);  // infinities are not subtracted
        const Tensor below = shift.reshape({count, 1});
        const Tensor sum =
            over_rows(pe, rows, first, count, "sum", [&](const Tensor& x) { return pe.tl.exp(widened(x) - below); });
        pe.put(0, first, pe.tl.log(sum) + shift);
      },
      0, std::clamp<int64_t>(kPiece / std::max<int64_t>(1, length), 1, kPiece));
}

std::vector<OpRow> reduction_rows() {
  std::vector<OpRow> rows;
  for (const Reduction& r : kReductions) {
    rows.push_back({r.name, r.since, shape_reduction, run_reduction,
                    "MATH: each PE reduces the rows of its outputs, a piece of them at a time",
                    std::string(r.name) == "ReduceSum" ? "2>=13 axes<13 keepdims noop_with_empty_axes"
                                                       : "2>=18 axes<18 keepdims noop_with_empty_axes"});
    rows.back().leads = true;
  }
  return rows;
}
const RegisterOps registered_reductions(reduction_rows());

// ---- Rows along one axis

/// Before opset 13 softmax and its kin flatten all axes from theirs on.
AxisRows softmax_rows(const Op& op) {
  if (op.opset >= 13) return {op.shape(), op.axis_attribute("axis", -1)};
  return {op.shape(), op.rank() == 0 ? 0 : op.axis_attribute("axis", 1), op.rank()};
}

void shape_softmax(Op& op) {
  op.require_type(0, Takes::floats);
  check_row(op, softmax_rows(op).length);
  like_first(op);
}

void run_softmax(Pe& pe) {
  const AxisRows rows = softmax_rows(pe.op);
  tl::Context& tl = pe.tl;
  for_rows(pe, rows, [&](int64_t r, int64_t n, Tensor given) {
    Tensor x = pe.widened(given), y;
    given = {};
    if (pe.op.node->op == "Softmax") y = tl.softmax(x, 1);
    if (pe.op.node->op == "LogSoftmax") {
      const Tensor below = x - tl.max(x, 1, true);
      y = below - tl.log(tl.sum(tl.exp(below), 1, true));
    }
    if (pe.op.node->op == "Hardmax")
      y = tl.eq(tl.argmax(x, 1, true), tl.arange(0, static_cast<double>(rows.length)).reshape({1, rows.length}));
    x = {};  // frees TCM for what follows
    pe.put(0, rows.places(r, n), y);
  });
}

void shape_arg(Op& op) {
  op.require_type(0, Takes::numbers);
  const int64_t axis = op.axis_attribute("axis", 0);
  check_row(op, op.shape()[static_cast<size_t>(axis)]);
  Shape out = op.shape();
  out[static_cast<size_t>(axis)] = 1;
  if (op.integer("keepdims", 1) == 0) out.erase(out.begin() + axis);
  op.set_output(0, Type::int64, out);
}

void run_arg(Pe& pe) {
  const AxisRows rows(pe.op.shape(), pe.op.axis_attribute("axis", 0));
  const bool last = pe.op.integer("select_last_index", 0) != 0, most = pe.op.node->op == "ArgMax";
  for_rows(pe, rows, [&](int64_t r, int64_t, const Tensor& given) {
    const Tensor x = last ? pe.tl.flip(given, 1) : given;
    const Tensor at = most ? pe.tl.argmax(x, 1) : pe.tl.argmin(x, 1);
    pe.put(0, r, last ? static_cast<double>(rows.length - 1) - at : at);
  });
}

void shape_cumsum(Op& op) {
  op.require_type(0, Takes::numbers);
  check_row(op, op.shape()[static_cast<size_t>(op.axis(op.value(1), op.rank()))]);
  like_first(op);
}

/// The element before each element of the rows, or after it; −1 at a row's start.
std::vector<int64_t> moved_by_one(const std::vector<int64_t>& places, int64_t length, bool behind) {
  const auto n = static_cast<int64_t>(places.size());
  std::vector<int64_t> moved(places.size());
  for (int64_t i = 0; i < n; ++i) {
    const bool begins = i % length == (behind ? length - 1 : 0);
    moved[static_cast<size_t>(i)] = begins ? -1 : places[static_cast<size_t>(behind ? i + 1 : i - 1)];
  }
  return moved;
}

void run_cumsum(Pe& pe) {
  const AxisRows rows(pe.op.shape(), pe.op.axis(pe.op.value(1), pe.op.rank()));
  const bool reverse = pe.op.integer("reverse", 0) != 0, exclusive = pe.op.integer("exclusive", 0) != 0;
  for_pieces_of_rows(pe, rows, [&](int64_t r, int64_t n) {
    const std::vector<int64_t> places = rows.places(r, n);
    const Tensor x =
        pe.widened(pe.pick(0, exclusive ? moved_by_one(places, rows.length, reverse) : places, Dims{n, rows.length}));
    pe.put(0, places, pe.tl.cumsum(x, 1, reverse));
  });
}

int64_t topk_axis(const Op& op) {
  return op.axis_attribute("axis", -1);
}

int64_t topk_count(const Op& op) {
  return op.opset >= 10 ? op.value(1) : op.integer("k");
}

void shape_topk(Op& op) {
  op.require_type(0, Takes::numbers);
  const auto axis = static_cast<size_t>(topk_axis(op));
  const int64_t k = topk_count(op), length = op.shape()[axis];
  op.require(k >= 0 && k <= length, "found k = " + std::to_string(k) + " of " + std::to_string(length));
  check_row(op, length);
  Shape out = op.shape();
  out[axis] = k;
  op.set_output(0, op.in(0).type, out);
  op.set_output(1, Type::int64, out);
}

void run_topk(Pe& pe) {
  const int64_t axis = topk_axis(pe.op), k = topk_count(pe.op);
  const AxisRows rows(pe.op.shape(), axis);
  AxisRows kept = rows;
  kept.length = k;
  const bool largest = pe.op.integer("largest", 1) != 0;
  for_rows(pe, rows, [&](int64_t r, int64_t n, const Tensor& x) {
    const Tensor order = pe.tl.argsort(x, 1, largest);
    const Tensor first = pe.tl.copy(order.slice(1, 0, k));
    if (pe.op.has_output(0)) pe.put(0, kept.places(r, n), pe.tl.copy(pe.tl.gather(x, order, 1).slice(1, 0, k)));
    if (pe.op.has_output(1)) pe.put(1, kept.places(r, n), first);
  });
}

void shape_lp(Op& op) {
  op.require_type(0, Takes::floats);
  check_row(op, op.shape()[static_cast<size_t>(op.axis_attribute("axis", -1))]);
  op.require(op.integer("p", 2) == 1 || op.integer("p", 2) == 2, "found p, expected 1 or 2");
  like_first(op);
}

void run_lp(Pe& pe) {
  const AxisRows rows(pe.op.shape(), pe.op.axis_attribute("axis", -1));
  for_rows(pe, rows, [&](int64_t r, int64_t n, const Tensor& given) {
    const Tensor x = pe.widened(given);
    const Tensor norm =
        pe.op.integer("p", 2) == 1 ? pe.tl.sum(pe.tl.abs(x), 1, true) : pe.tl.sqrt(pe.tl.sum(x * x, 1, true));
    pe.put(0, rows.places(r, n), x / pe.tl.where(pe.tl.eq(norm, 0.0), 1.0, norm));  // zeros stay 0
  });
}

// ---- Norms: rows that stand side by side, normed, then scaled by what stands along other axes

struct Moments {
  Tensor mean, inverse_deviation;  ///< [rows, 1]
};

Moments moments(Pe& pe, const Tensor& x, double epsilon) {
  const double n = static_cast<double>(x.shape()[1]);
  const Tensor mean = pe.tl.sum(x, 1, true) / n, off = x - mean;
  return {mean, pe.tl.rsqrt(pe.tl.sum(off * off, 1, true) / n + epsilon)};
}

bool is_centred(const Op& op) {
  const std::string& name = op.node->op;
  return name == "LayerNormalization" || name == "SkipLayerNormalization";
}

/// The index of the output that is the inverse deviation.
size_t deviation_output(const Op& op) {
  return op.node->op == "SimplifiedLayerNormalization" ? 1 : 2;
}

/// Norms without a mean cannot output one.
void require_no_mean(const Op& op) {
  if (!is_centred(op) && deviation_output(op) != 1) op.require(!op.has_output(1), "it has no mean as an output");
}

void shape_layer_norm(Op& op) {
  op.require_type(0, Takes::floats);
  const int64_t axis = op.axis_attribute("axis", -1);
  check_row(op, AxisRows(op.shape(), axis, op.rank()).length);
  const Shape normed(op.shape().begin() + axis, op.shape().end());
  for (const size_t i : {size_t{1}, size_t{2}}) {
    if (i == 2 && !op.has(i)) continue;
    op.require_type(i, Takes::floats);
    op.require(broadcast({op.shape(i), normed}) == normed, "found a scale of shape " + to_string(op.shape(i)));
  }
  like_first(op);
  Shape means = op.shape();
  std::fill(means.begin() + axis, means.end(), 1);
  const Type type = op.integer("stash_type", 1) == 1 ? Type::float32 : op.in(0).type;
  require_no_mean(op);
  op.set_output(1, type, means);
  op.set_output(2, type, means);
}

/// Norms rows x: (x − mean) / deviation, or x / root mean square. x is f32 and is rounded to `type` before it is
/// scaled.
Tensor normed(Pe& pe, const Tensor& x, double epsilon, DType type, Moments* m) {
  const bool centred = is_centred(pe.op);
  if (centred) {
    *m = moments(pe, x, epsilon);
  } else {
    m->inverse_deviation = pe.tl.rsqrt(pe.tl.sum(x * x, 1, true) / static_cast<double>(x.shape()[1]) + epsilon);
  }
  return pe.widened(pe.cast((centred ? x - m->mean : x) * m->inverse_deviation, type));
}

void put_moments(Pe& pe, int64_t r, int64_t n, const Moments& m) {
  const size_t deviation = deviation_output(pe.op);
  if (m.mean.valid() && pe.op.has_output(1)) pe.put(1, r, m.mean.reshape({n}));
  if (pe.op.has_output(deviation)) pe.put(deviation, r, m.inverse_deviation.reshape({n}));
}

void run_layer_norm(Pe& pe) {
  const int64_t axis = pe.op.axis_attribute("axis", -1);
  const AxisRows rows(pe.op.shape(), axis, pe.op.rank());
  const double epsilon = pe.op.real("epsilon", 1e-5f);
  const Shape of_row(pe.op.shape().begin() + axis, pe.op.shape().end());
  const auto scale = [&](size_t i) {
    const Strides view = Strides::broadcast(pe.op.shape(i), of_row);
    return pe.widened(pe.pick(i, view.range(0, rows.length), {1, rows.length}));
  };
  for_rows(pe, rows, [&](int64_t r, int64_t n, const Tensor& given) {
    Moments m;
    Tensor y = normed(pe, pe.widened(given), epsilon, pe.op.in(0).dtype(), &m) * scale(1);
    if (pe.op.has(2)) y = y + scale(2);
    pe.put(0, rows.places(r, n), y);
    put_moments(pe, r, n, m);
  });
}

// onnxruntime's norms of a sum: inputs are input, skip, scale, a shift if there is a mean, and a bias of the sum.

size_t bias_of_skip(const Op& op) {
  return is_centred(op) ? 4 : 3;
}

void shape_skip_norm(Op& op) {
  op.require_type(0, Takes::floats);
  op.require(op.rank() > 0, "found a scalar");
  check_row(op, op.shape().back());
  op.require_same_types(0, 1);
  op.require(broadcast({op.shape(), op.shape(1)}) == op.shape(), "found a skip of shape " + to_string(op.shape(1)));
  op.in(2);
  for (size_t i = 2; i <= bias_of_skip(op); ++i) {
    if (!op.has(i)) continue;
    op.require_same_types(0, i);
    op.require_shape(i, {op.shape().back()});
  }
  like_first(op);
  require_no_mean(op);
  Shape means = op.shape();
  means.back() = 1;
  op.set_output(1, Type::float32, means);
  op.set_output(2, Type::float32, means);
  op.set_output(3, op.in(0).type, op.shape());
}

void run_skip_norm(Pe& pe) {
  const AxisRows rows(pe.op.shape(), pe.op.rank() - 1);
  const Strides skip = Strides::broadcast(pe.op.shape(1), pe.op.shape());
  const double epsilon = pe.op.real("epsilon", 1e-12f);
  const size_t bias = bias_of_skip(pe.op);
  const auto along_row = [&](size_t i) { return pe.widened(pe.tl.load_async(pe.in(i), {1, rows.length})); };
  for_rows(pe, rows, [&](int64_t r, int64_t n, const Tensor& given) {
    const Dims piece{n, rows.length};
    Tensor x = pe.widened(given) + pe.widened(pe.pick(1, skip.range(r * rows.length, n * rows.length), piece));
    if (pe.op.has(bias)) x = x + along_row(bias);
    Moments m;
    Tensor y = normed(pe, x, epsilon, DType::f32, &m) * along_row(2);
    if (is_centred(pe.op) && pe.op.has(3)) y = y + along_row(3);
    pe.put(0, rows.places(r, n), y);
    put_moments(pe, r, n, m);
    if (pe.op.has_output(3)) pe.put(3, rows.places(r, n), x);
  });
}

void shape_instance_norm(Op& op) {
  op.require_type(0, Takes::floats);
  op.require(op.rank() >= 3, "found rank " + std::to_string(op.rank()) + ", expected [N, C, …]");
  for (const size_t i : {size_t{1}, size_t{2}}) {
    op.require_shape(i, {op.shape()[1]});
    op.require_same_types(0, i);
  }
  check_row(op, AxisRows(op.shape(), 2, op.rank()).length);
  like_first(op);
}

void run_instance_norm(Pe& pe) {
  const AxisRows rows(pe.op.shape(), 2, pe.op.rank());
  const int64_t channels = pe.op.shape()[1];
  for_rows(pe, rows, [&](int64_t r, int64_t n, const Tensor& given) {
    const Tensor x = pe.widened(given);
    const Moments m = moments(pe, x, pe.op.real("epsilon", 1e-5f));
    std::vector<int64_t> channel;
    for (int64_t i = r; i < r + n; ++i) channel.push_back(i % channels);
    const Tensor scale = pe.widened(pe.pick(1, channel, {n, 1})), bias = pe.widened(pe.pick(2, channel, {n, 1}));
    pe.put(0, rows.places(r, n), (x - m.mean) * m.inverse_deviation * scale + bias);
  });
}

/// Each group of channels of an image is one row.
void shape_group_norm(Op& op) {
  op.require_type(0, Takes::floats);
  op.require(op.rank() >= 3, "found rank " + std::to_string(op.rank()) + ", expected [N, C, …]");
  const int64_t groups = op.integer("num_groups"), channels = op.shape()[1];
  op.require(groups >= 1 && channels % groups == 0, "found " + std::to_string(groups) + " groups");
  for (const size_t i : {size_t{1}, size_t{2}}) {
    op.require_shape(i, {op.opset < 21 ? groups : channels});
    op.require_same_types(0, i);
  }
  check_row(op, AxisRows(op.shape(), 1, op.rank()).length / groups);
  like_first(op);
}

void run_group_norm(Pe& pe) {
  const AxisRows image(pe.op.shape(), 1, pe.op.rank());
  const int64_t groups = pe.op.integer("num_groups"), of_group = pe.op.shape()[1] / groups;
  const int64_t length = image.length / groups, pixels = length / of_group;
  const AxisRows rows({image.outer * groups, length}, 1);
  for_rows(pe, rows, [&](int64_t r, int64_t n, const Tensor& given) {
    const Tensor x = pe.widened(given);
    const Moments m = moments(pe, x, pe.op.real("epsilon", 1e-5f));
    std::vector<int64_t> at;
    for (int64_t i = r; i < r + n; ++i) {
      for (int64_t j = 0; j < length; ++j)
        at.push_back(pe.op.opset < 21 ? i % groups : i % groups * of_group + j / pixels);
    }
    const Tensor y = pe.widened(pe.cast((x - m.mean) * m.inverse_deviation, pe.op.in(0).dtype()));
    pe.put(0, rows.places(r, n), y * pe.widened(pe.pick(1, at, {n, length})) + pe.widened(pe.pick(2, at, {n, length})));
  });
}

// ---- Mean and variance over any axes

std::vector<bool> normed_axes(const Op& op) {
  std::vector<bool> axes(op.shape().size(), false);
  for (const int64_t a : op.ints("axes", {0, 2, 3})) axes[static_cast<size_t>(op.axis(a, op.rank()))] = true;
  return axes;
}

void shape_mvn(Op& op) {
  op.require_type(0, Takes::floats);
  check_row(op, Rows(op.shape(), normed_axes(op)).reduced.elements());
  like_first(op);
}

void run_mvn(Pe& pe) {
  const Rows rows(pe.op.shape(), normed_axes(pe.op));
  const int64_t length = rows.reduced.elements();
  const Range mine = pe.share_of(rows.kept.elements());
  for (int64_t r = mine.first; r < mine.last; ++r) {
    const std::vector<int64_t> places = rows.places(r, 1, 0, length);
    const Tensor x = pe.widened(pe.pick(0, places, {1, length}));
    const Moments m = moments(pe, x, 1e-9);
    pe.put(0, places, (x - m.mean) * m.inverse_deviation);
  }
}

const char* const kRowsHow = "MATH on whole rows, split over the PEs";

/// An op that writes its output only in whole rows.
OpRow leading(const char* name, int since, void (*shape)(Op&), void (*run)(Pe&), const char* form) {
  OpRow row{name, since, shape, run, kRowsHow, form};
  row.leads = true;
  return row;
}

const RegisterOps registered_rows{{
    leading("Softmax", 1, shape_softmax, run_softmax, "1 axis"),
    leading("LogSoftmax", 1, shape_softmax, run_softmax, "1 axis"),
    {"Hardmax", 1, shape_softmax, run_softmax, kRowsHow, "1 axis"},
    {"ArgMax", 1, shape_arg, run_arg, kRowsHow, "1 axis keepdims select_last_index"},
    {"ArgMin", 1, shape_arg, run_arg, kRowsHow, "1 axis keepdims select_last_index"},
    {"CumSum", 11, shape_cumsum, run_cumsum, kRowsHow, "2 exclusive reverse"},
    {"TopK", 1, shape_topk, run_topk, "MATH: argsort of whole rows, split over the PEs",
     "2>=10 axis k<10 largest sorted"},
    {"LpNormalization", 1, shape_lp, run_lp, kRowsHow, "1 axis p"},
    leading("LayerNormalization", 17, shape_layer_norm, run_layer_norm, "3 axis epsilon stash_type"),
    leading("RMSNormalization", 23, shape_layer_norm, run_layer_norm, "2 axis epsilon stash_type"),
    leading("SimplifiedLayerNormalization", 1, shape_layer_norm, run_layer_norm, "2 axis epsilon stash_type"),
    {"SkipLayerNormalization", 1, shape_skip_norm, run_skip_norm, kRowsHow, "5 epsilon", false, false, kNewest,
     kMicrosoft},
    {"SkipSimplifiedLayerNormalization", 1, shape_skip_norm, run_skip_norm, kRowsHow, "4 epsilon", false, false,
     kNewest, kMicrosoft},
    {"GroupNormalization", 18, shape_group_norm, run_group_norm, kRowsHow, "3 epsilon num_groups stash_type"},
    {"MeanVarianceNormalization", 9, shape_mvn, run_mvn, kRowsHow, "1 axes"},
    {"InstanceNormalization", 6, shape_instance_norm, run_instance_norm, kRowsHow, "3 epsilon"},
}};

}  // namespace
}  // namespace kernbench::onnx
