// Ops that give elements of their inputs in another order, and those that give the same bytes in another shape.
#include <algorithm>
#include <cmath>
#include <numeric>

#include "kernbench/platform/onnx/rows.h"

namespace kernbench::onnx {
namespace {

using tl::Tensor;
using Places = std::vector<int64_t>;

size_t at(int64_t i) {
  return static_cast<size_t>(i);
}

// ---- The same bytes

void shape_reshape(Op& op) {
  Shape to = op.opset >= 5 ? op.values(1) : op.ints("shape");
  const bool zeros = op.integer("allowzero", 0) != 0;
  int64_t known = 1, open = -1;
  for (size_t d = 0; d < to.size(); ++d) {
    if (to[d] == 0 && !zeros) {
      op.require(d < op.shape().size(), "found shape " + to_string(to));
      to[d] = op.shape()[d];
    }
    if (to[d] == -1) {
      op.require(open < 0, "found shape " + to_string(to));
      open = static_cast<int64_t>(d);
    } else {
      op.require(to[d] >= 0, "found shape " + to_string(to));
      known = elements_of({known, to[d]});
    }
  }
  const int64_t n = op.in(0).elements();
  if (open >= 0) {
    op.require(known > 0 && n % known == 0, "found shape " + to_string(to) + " for " + std::to_string(n) + " elements");
    to[at(open)] = n / known;
  }
  op.require(elements_of(to) == n, "found shape " + to_string(to) + " for " + std::to_string(n) + " elements");
  op.set_output(0, op.in(0).type, to);
}

void shape_flatten(Op& op) {
  const int64_t axis = op.integer("axis", 1), rank = op.rank();
  op.require(axis >= -rank && axis <= rank, "found axis " + std::to_string(axis));
  Shape to{1, 1};
  for (int64_t d = 0; d < rank; ++d) to[d < (axis < 0 ? axis + rank : axis) ? 0 : 1] *= op.shape()[at(d)];
  op.set_output(0, op.in(0).type, to);
}

void shape_squeeze(Op& op) {
  std::vector<int64_t> axes = op.opset >= 13 ? (op.has(1) ? op.values(1) : Places()) : op.ints("axes");
  std::vector<bool> gone(op.shape().size(), false);
  for (const int64_t a : axes) gone[at(op.axis(a, op.rank()))] = true;
  Shape to;
  for (size_t d = 0; d < gone.size(); ++d) {
    op.require(!gone[d] || op.shape()[d] == 1,
               "found a dimension of " + std::to_string(op.shape()[d]) + ", expected 1");
    if (axes.empty() ? op.shape()[d] != 1 : !gone[d]) to.push_back(op.shape()[d]);
  }
  op.set_output(0, op.in(0).type, to);
}

void shape_unsqueeze(Op& op) {
  const Places axes = op.opset >= 13 ? op.values(1) : op.ints("axes");
  const int64_t rank = op.rank() + static_cast<int64_t>(axes.size());
  op.require(rank <= 64, "found rank " + std::to_string(rank));
  std::vector<bool> is_new(at(rank), false);
  for (const int64_t a : axes) {
    op.require(!is_new[at(op.axis(a, rank))], "found an axis twice");
    is_new[at(op.axis(a, rank))] = true;
  }
  Shape to;
  size_t d = 0;
  for (const bool n : is_new) to.push_back(n ? 1 : op.shape()[d++]);
  op.set_output(0, op.in(0).type, to);
}

const char* const kFree = "nothing moves: the same bytes in another shape";

const RegisterOps registered_shapes{{
    {"Identity", 1, like_first, nullptr, "nothing moves: the same bytes", false, true},
    {"Reshape", 1, shape_reshape, nullptr, kFree, false, true},
    {"Flatten", 1, shape_flatten, nullptr, kFree, false, true},
    {"Squeeze", 1, shape_squeeze, nullptr, kFree, false, true},
    {"Unsqueeze", 1, shape_unsqueeze, nullptr, kFree, false, true},
}};

// ---- Values that shapes alone give

void put_ints(Pe& pe, const Places& values) {
  pe.for_pieces([&](int64_t first, int64_t count) {
    pe.put(0, first,
           pe.tl.tensor(Places(values.begin() + first, values.begin() + first + count), {count}, pe.out_type()));
  });
}

Places shape_values(const Op& op) {
  const int64_t rank = op.rank();
  const auto clamped = [&](int64_t i) { return std::clamp<int64_t>(i < 0 ? i + rank : i, 0, rank); };
  const int64_t first = clamped(op.integer("start", 0)), last = clamped(op.integer("end", rank));
  return first < last ? Places(op.shape().begin() + first, op.shape().begin() + last) : Places();
}

void shape_shape(Op& op) {
  op.set_output(0, Type::int64, {static_cast<int64_t>(shape_values(op).size())});
}
void run_shape(Pe& pe) {
  put_ints(pe, shape_values(pe.op));
}
void shape_size(Op& op) {
  op.set_output(0, Type::int64, {});
}
void run_size(Pe& pe) {
  put_ints(pe, {pe.op.in(0).elements()});
}

std::shared_ptr<const TensorData> value_of(const Op& op) {
  return op.given("value") ? op.attribute("value", AttributeType::tensor).t : nullptr;
}

void shape_constant_of_shape(Op& op) {
  const auto value = value_of(op);
  if (op.given("value")) op.require(value && value->elements() == 1, "its value is no tensor of one");
  op.set_output(0, value ? value->type : Type::float32, op.values(0));
}
void run_constant_of_shape(Pe& pe) {
  const double value = pe.op.given("value") ? value_of(pe.op)->reals().at(0) : 0;
  pe.for_pieces([&](int64_t first, int64_t count) { pe.put(0, first, pe.tl.full({count}, value, pe.out_type())); });
}

void shape_eye(Op& op) {
  op.require(op.rank() == 2, "found rank " + std::to_string(op.rank()));
  op.require(std::abs(op.integer("k", 0)) <= kMostElements, "found k");
  op.set_output(0, op.given("dtype") ? type_of(op.integer("dtype")) : op.in(0).type, op.shape());
}
void run_eye(Pe& pe) {
  const int64_t columns = pe.op.shape()[1], k = pe.op.integer("k", 0);
  pe.for_pieces([&](int64_t first, int64_t count) {
    Places values;
    for (int64_t i = first; i < first + count; ++i) values.push_back(i % columns == i / columns + k);
    pe.put(0, first, pe.tl.tensor(values, {count}, pe.out_type()));
  });
}

void shape_range(Op& op) {
  op.require_same_types(0, 1);
  op.require_same_types(0, 2);
  op.require_type(0, Takes::numbers);
  const auto one = [&](size_t i) {
    return is_float(op.in(i).dtype()) ? op.real_value(i) : static_cast<double>(op.value(i));
  };
  const double start = one(0), limit = one(1), delta = one(2);
  op.require(delta != 0, "found a step of 0");
  const double count = std::max(0.0, std::ceil((limit - start) / delta));
  op.require(count <= static_cast<double>(kMostElements), "it comes to too many elements");
  op.set_output(0, op.in(0).type, {static_cast<int64_t>(count)});
}
void run_range(Pe& pe) {
  tl::Context& tl = pe.tl;
  const Tensor start = tl.load(pe.in(0), {1}), delta = tl.load(pe.in(2), {1});
  pe.for_pieces([&](int64_t first, int64_t count) {
    const Tensor step = tl.arange(static_cast<double>(first), static_cast<double>(first + count), 1, pe.out_type());
    pe.put(0, first, start + step * delta);
  });
}

const char* const kMade = "pe_cpu makes the values";
const RegisterOps registered_values{{
    {"Shape", 1, shape_shape, run_shape, kMade, false, true},
    {"Size", 1, shape_size, run_size, kMade, false, true},
    {"ConstantOfShape", 9, shape_constant_of_shape, run_constant_of_shape, "MATH: full", false, true},
    {"EyeLike", 9, shape_eye, run_eye, kMade},
    {"Range", 11, shape_range, run_range, "MATH: start + i · step"},
}};

// ---- Elements of input 0 by a rule

/// Output 0 is made of input 0's elements by their places; −1: `fill`.
template <class F>
void move(Pe& pe, const F& place_of, double fill = 0) {
  pe.for_pieces([&](int64_t first, int64_t count) {
    Places places(at(count));
    for (int64_t i = 0; i < count; ++i) places[at(i)] = place_of(first + i);
    pe.put(0, first, pe.pick(0, places, fill));
  });
}

void move(Pe& pe, const Strides& view) {
  pe.for_pieces([&](int64_t first, int64_t count) { pe.put(0, first, pe.pick(0, view, first, count)); });
}

Places order_of(const Op& op) {
  Places order = op.ints("perm");
  if (order.empty()) {
    for (int64_t d = op.rank(); d-- > 0;) order.push_back(d);
  }
  Places sorted = order;
  std::sort(sorted.begin(), sorted.end());
  for (size_t d = 0; d < sorted.size(); ++d) op.require(sorted[d] == static_cast<int64_t>(d), "found perm of no order");
  op.require(static_cast<int64_t>(order.size()) == op.rank(), "found perm of another rank");
  return order;
}

void shape_transpose(Op& op) {
  Shape to;
  for (const int64_t d : order_of(op)) to.push_back(op.shape()[at(d)]);
  op.set_output(0, op.in(0).type, to);
}
void run_transpose(Pe& pe) {
  const Shape strides = row_major_strides(pe.op.shape());
  Strides view{pe.op.out().shape, {}, 0};
  for (const int64_t d : order_of(pe.op)) view.strides.push_back(strides[at(d)]);
  move(pe, view);
}

void shape_expand(Op& op) {
  op.set_output(0, op.in(0).type, broadcast({op.shape(), op.values(1)}));
}
void run_expand(Pe& pe) {
  move(pe, Strides::broadcast(pe.op.shape(), pe.op.out().shape));
}

void shape_tile(Op& op) {
  const Places repeats = op.values(1);
  op.require(static_cast<int64_t>(repeats.size()) == op.rank(), "found repeats of another rank");
  Shape to = op.shape();
  for (size_t d = 0; d < to.size(); ++d) {
    op.require(repeats[d] >= 0, "found a negative repeat");
    to[d] = elements_of({to[d], repeats[d]});
  }
  op.set_output(0, op.in(0).type, to);
}
void run_tile(Pe& pe) {
  const Shape strides = row_major_strides(pe.op.shape()), &to = pe.op.out().shape;
  move(pe, [&](int64_t i) {
    const Shape index = unflattened(i, to);
    int64_t place = 0;
    for (size_t d = 0; d < index.size(); ++d) place += index[d] % pe.op.shape()[d] * strides[d];
    return place;
  });
}

struct Slices {
  Shape shape;
  Strides view;
};

Slices slices_of(const Op& op) {
  const bool inputs = op.opset >= 10;
  const Places starts = inputs ? op.values(1) : op.ints("starts"), ends = inputs ? op.values(2) : op.ints("ends");
  Places axes = inputs ? (op.has(3) ? op.values(3) : Places()) : op.ints("axes");
  const Places steps = inputs && op.has(4) ? op.values(4) : Places(starts.size(), 1);
  if (axes.empty()) {
    axes.resize(starts.size());
    std::iota(axes.begin(), axes.end(), 0);
  }
  op.require(starts.size() == ends.size() && starts.size() == axes.size() && starts.size() == steps.size(),
             "found starts, ends, axes and steps of different lengths");
  Slices s{op.shape(), Strides::dense(op.shape())};
  for (size_t i = 0; i < axes.size(); ++i) {
    const size_t d = at(op.axis(axes[i], op.rank()));
    const int64_t n = op.shape()[d], step = steps[i];
    op.require(step != 0, "found a step of 0");
    const auto clamped = [&](int64_t v, int64_t least, int64_t most) {
      return std::clamp(v < 0 ? (v < -n ? least : v + n) : v, least, most);
    };
    const int64_t first = step > 0 ? clamped(starts[i], 0, n) : clamped(starts[i], 0, n - 1);
    const int64_t end = step > 0 ? clamped(ends[i], 0, n) : clamped(ends[i], -1, n - 1);
    const int64_t span = step > 0 ? end - first : first - end;
    const int64_t stride = step == INT64_MIN ? INT64_MAX : std::abs(step);
    s.shape[d] = span > 0 ? (span - 1) / stride + 1 : 0;
    s.view.offset += first * s.view.strides[d];
    s.view.strides[d] *= s.shape[d] > 1 ? step : 1;
  }
  s.view.shape = s.shape;
  return s;
}

void shape_slice(Op& op) {
  op.set_output(0, op.in(0).type, slices_of(op).shape);
}
void run_slice(Pe& pe) {
  move(pe, slices_of(pe.op).view);
}

struct Padding {
  Places before, after;
};

Padding padding_of(const Op& op) {
  const Places pads = op.opset >= 11 ? op.values(1) : op.ints("pads");
  Places axes = op.opset >= 18 && op.has(3) ? op.values(3) : Places();
  if (axes.empty()) {
    axes.resize(op.shape().size());
    std::iota(axes.begin(), axes.end(), 0);
  }
  op.require(pads.size() == 2 * axes.size(), "found " + std::to_string(pads.size()) + " pads");
  Padding p{Places(op.shape().size(), 0), Places(op.shape().size(), 0)};
  for (size_t i = 0; i < axes.size(); ++i) {
    const size_t d = at(op.axis(axes[i], op.rank()));
    p.before[d] = pads[i];
    p.after[d] = pads[i + axes.size()];
  }
  return p;
}

std::string pad_mode(const Op& op) {
  return op.word("mode", {"constant", "reflect", "edge", "wrap"}, "constant");
}

double pad_value(const Op& op) {
  return op.opset < 11 ? op.real("value", 0) : 0;
}

void shape_pad(Op& op) {
  const Padding p = padding_of(op);
  pad_value(op);
  const std::string mode = pad_mode(op);
  if (op.opset >= 11 && op.has(2)) {
    op.require_same_types(0, 2);
    op.require(op.in(2).elements() == 1, "found a constant_value of shape " + to_string(op.shape(2)));
  }
  Shape to = op.shape();
  for (size_t d = 0; d < to.size(); ++d) {
    op.require(std::abs(p.before[d]) <= kMostElements && std::abs(p.after[d]) <= kMostElements, "found a huge pad");
    to[d] += p.before[d] + p.after[d];
    op.require(mode == "constant" || op.shape()[d] > 0, "it pads what has no elements");
  }
  op.set_output(0, op.in(0).type, to);
}

/// Where index i of a dimension of n comes from; −1: from nowhere.
int64_t padded_from(int64_t i, int64_t n, const std::string& mode) {
  if (i >= 0 && i < n) return i;
  if (mode == "edge") return std::clamp<int64_t>(i, 0, n - 1);
  if (mode == "wrap") return (i % n + n) % n;
  if (mode != "reflect") return -1;
  if (n == 1) return 0;
  const int64_t period = 2 * (n - 1), r = (i % period + period) % period;
  return r < n ? r : period - r;
}

void run_pad(Pe& pe) {
  const Padding p = padding_of(pe.op);
  const std::string mode = pad_mode(pe.op);
  const Shape strides = row_major_strides(pe.op.shape()), &from = pe.op.shape(), &to = pe.op.out().shape;
  const double fill = pe.op.opset >= 11 && pe.op.has(2) ? pe.reals(2).at(0) : pad_value(pe.op);
  move(
      pe,
      [&](int64_t i) {
        const Shape index = unflattened(i, to);
        int64_t place = 0;
        for (size_t d = 0; d < index.size(); ++d) {
          const int64_t j = padded_from(index[d] - p.before[d], from[d], mode);
          if (j < 0) return int64_t{-1};
          place += j * strides[d];
        }
        return place;
      },
      fill);
}

/// The last two dimensions of rows and columns from a tensor of [N, C, H, W].
void check_image(const Op& op) {
  op.require(op.rank() == 4, "found rank " + std::to_string(op.rank()) + ", expected [N, C, H, W]");
  op.require(op.integer("blocksize") > 0 && op.integer("blocksize") < 1 << 20, "found blocksize");
}

bool is_crd(const Op& op) {
  return op.word("mode", {"DCR", "CRD"}, "DCR") == "CRD";
}

void shape_depth_to_space(Op& op) {
  check_image(op);
  is_crd(op);
  const int64_t b = op.integer("blocksize");
  const Shape& s = op.shape();
  op.require(s[1] % (b * b) == 0, "blocksize² does not divide the channels");
  op.set_output(0, op.in(0).type, {s[0], s[1] / (b * b), s[2] * b, s[3] * b});
}
void run_depth_to_space(Pe& pe) {
  const int64_t b = pe.op.integer("blocksize");
  const bool crd = is_crd(pe.op);
  const Shape& s = pe.op.shape();
  const int64_t channels = s[1] / (b * b);
  move(pe, [&](int64_t i) {
    const Shape o = unflattened(i, pe.op.out().shape);
    const int64_t block = o[2] % b * b + o[3] % b;
    const int64_t channel = crd ? o[1] * b * b + block : block * channels + o[1];
    return ((o[0] * s[1] + channel) * s[2] + o[2] / b) * s[3] + o[3] / b;
  });
}
void shape_space_to_depth(Op& op) {
  check_image(op);
  const int64_t b = op.integer("blocksize");
  const Shape& s = op.shape();
  op.require(s[2] % b == 0 && s[3] % b == 0, "blocksize does not divide the rows and columns");
  op.set_output(0, op.in(0).type, {s[0], s[1] * b * b, s[2] / b, s[3] / b});
}
void run_space_to_depth(Pe& pe) {
  const int64_t b = pe.op.integer("blocksize");
  const Shape& s = pe.op.shape();
  move(pe, [&](int64_t i) {
    const Shape o = unflattened(i, pe.op.out().shape);
    const int64_t block = o[1] / s[1];
    return ((o[0] * s[1] + o[1] % s[1]) * s[2] + o[2] * b + block / b) * s[3] + o[3] * b + block % b;
  });
}

void shape_trilu(Op& op) {
  op.require(op.rank() >= 2, "found rank " + std::to_string(op.rank()));
  if (op.has(1)) {
    op.require_type(1, Takes::indices);
    op.require_single(1);
  }
  like_first(op);
}
void run_trilu(Pe& pe) {
  const Shape& s = pe.op.shape();
  const int64_t columns = s[s.size() - 1], rows = s[s.size() - 2];
  const int64_t k = pe.op.has(1) ? pe.ints(1).at(0) : 0;
  const bool upper = pe.op.integer("upper", 1) != 0;
  move(pe, [&](int64_t i) {
    const int64_t column = i % columns, row = i / columns % rows;
    return (upper ? column - row >= k : column - row <= k) ? i : -1;
  });
}

void shape_reverse_sequence(Op& op) {
  op.require(op.rank() >= 2, "found rank " + std::to_string(op.rank()));
  const int64_t time = op.integer("time_axis", 0), batch = op.integer("batch_axis", 1);
  op.require(time + batch == 1 && time >= 0 && time <= 1, "found time_axis and batch_axis other than 0 and 1");
  op.require_type(1, Takes::indices);
  op.require_shape(1, {op.shape()[at(batch)]});
  like_first(op);
}
void run_reverse_sequence(Pe& pe) {
  const auto time = at(pe.op.integer("time_axis", 0)), batch = at(pe.op.integer("batch_axis", 1));
  const Places lengths = pe.ints(1);
  const Shape& s = pe.op.shape();
  for (const int64_t n : lengths) {
    if (n < 0 || n > s[time])
      throw Refusal("found a length of " + std::to_string(n) + " of " + std::to_string(s[time]));
  }
  const int64_t stride = row_major_strides(s)[time];
  move(pe, [&](int64_t i) {
    const Shape index = unflattened(i, s);
    const int64_t t = index[time], n = lengths[at(index[batch])];
    return t < n ? i + (n - 1 - 2 * t) * stride : i;
  });
}

const char* const kGathered = "DMA: each PE loads what its outputs are made of, gathered where it does not lie in runs";
const RegisterOps registered_moves{{
    {"Transpose", 1, shape_transpose, run_transpose, kGathered},
    {"Expand", 8, shape_expand, run_expand, kGathered},
    {"Tile", 6, shape_tile, run_tile, kGathered},
    {"Slice", 1, shape_slice, run_slice, kGathered},
    {"Pad", 2, shape_pad, run_pad, kGathered, true},
    {"DepthToSpace", 1, shape_depth_to_space, run_depth_to_space, kGathered},
    {"SpaceToDepth", 1, shape_space_to_depth, run_space_to_depth, kGathered},
    {"Trilu", 14, shape_trilu, run_trilu, kGathered, true},
    {"ReverseSequence", 10, shape_reverse_sequence, run_reverse_sequence, kGathered, true},
}};

// ---- Several inputs or outputs

void shape_concat(Op& op) {
  const int64_t axis = op.opset >= 4 ? op.axis(op.integer("axis"), op.rank()) : op.axis_attribute("axis", 1);
  Shape to = op.shape();
  for (size_t i = 1; i < op.inputs.size(); ++i) {
    Shape s = op.shape(i);
    op.require(s.size() == to.size(), "found inputs of different ranks");
    op.require_same_types(0, i);
    to[at(axis)] += s[at(axis)];
    s[at(axis)] = to[at(axis)];
    op.require(s == to, "found inputs of shapes that differ beside the axis");
  }
  op.set_output(0, op.in(0).type, to);
}
void run_concat(Pe& pe) {
  const int64_t axis = pe.op.axis(pe.op.integer("axis", 1), pe.op.rank());
  const Shape& to = pe.op.out().shape;
  const int64_t inner = AxisRows(to, axis).inner, row = to[at(axis)] * inner;
  const Range mine = pe.share();
  int64_t begin = 0;  // of the input in a row
  for (size_t k = 0; k < pe.op.inputs.size(); ++k) {
    const int64_t width = pe.op.shape(k)[at(axis)] * inner;
    Places from, into;
    const auto flush = [&] {
      if (!from.empty()) pe.put(0, into, pe.pick(k, from));
      from.clear();
      into.clear();
    };
    for (int64_t r = mine.first / row; width > 0 && r * row < mine.last; ++r) {
      const int64_t first = std::max(mine.first, r * row + begin), last = std::min(mine.last, r * row + begin + width);
      for (int64_t i = first; i < last; ++i) {
        into.push_back(i);
        from.push_back(r * width + i - r * row - begin);
        if (static_cast<int64_t>(from.size()) == kPiece) flush();
      }
    }
    flush();
    begin += width;
  }
}

Places split_sizes(const Op& op) {
  const int64_t n = op.shape()[at(op.axis_attribute("axis", 0))], count = static_cast<int64_t>(op.outputs.size());
  Places sizes = op.opset >= 13 ? (op.has(1) ? op.values(1) : Places()) : op.ints("split");
  if (sizes.empty()) {
    op.require(op.opset >= 18 || n % count == 0, "its outputs cannot be alike");
    const int64_t each = tl::Context::cdiv(n, count);
    for (int64_t i = 0; i < count; ++i) sizes.push_back(std::clamp<int64_t>(n - i * each, 0, each));
  }
  op.require(static_cast<int64_t>(sizes.size()) == count, "found as many sizes as " + std::to_string(sizes.size()));
  int64_t sum = 0;
  for (const int64_t s : sizes) {
    op.require(s >= 0 && s <= n, "found a size of " + std::to_string(s));
    sum += s;
  }
  op.require(sum == n, "found sizes of " + std::to_string(sum) + " together, expected " + std::to_string(n));
  return sizes;
}
void shape_split(Op& op) {
  const Places sizes = split_sizes(op);
  Shape to = op.shape();
  for (size_t i = 0; i < sizes.size(); ++i) {
    to[at(op.axis_attribute("axis", 0))] = sizes[i];
    op.set_output(i, op.in(0).type, to);
  }
}
void run_split(Pe& pe) {
  const Places sizes = split_sizes(pe.op);
  const auto axis = at(pe.op.axis_attribute("axis", 0));
  Strides view = Strides::dense(pe.op.shape());
  for (size_t k = 0; k < sizes.size(); ++k) {
    view.shape[axis] = sizes[k];
    if (sizes[k] > 0 && pe.op.has_output(k)) {
      pe.for_pieces([&](int64_t first, int64_t count) { pe.put(k, first, pe.pick(0, view, first, count)); }, k);
    }
    view.offset += sizes[k] * view.strides[axis];
  }
}

const RegisterOps registered_joins{{
    {"Concat", 4, shape_concat, run_concat, "DMA: each PE moves what lies in its part of the output", false, true},
    {"Split", 2, shape_split, run_split, kGathered},
}};

// ---- By indices that are data

int64_t wrapped(int64_t i, int64_t n) {
  if (i < -n || i >= n) throw Refusal("found index " + std::to_string(i) + " of " + std::to_string(n));
  return i < 0 ? i + n : i;
}

void shape_gather(Op& op) {
  op.require_type(1, Takes::indices);
  const int64_t axis = op.axis_attribute("axis", 0);
  Shape to(op.shape().begin(), op.shape().begin() + axis);
  to.insert(to.end(), op.shape(1).begin(), op.shape(1).end());
  to.insert(to.end(), op.shape().begin() + axis + 1, op.shape().end());
  op.set_output(0, op.in(0).type, to);
}
void run_gather(Pe& pe) {
  const int64_t axis = pe.op.axis_attribute("axis", 0), n = pe.op.shape()[at(axis)];
  const Places index = pe.ints(1);
  const int64_t inner = AxisRows(pe.op.shape(), axis).inner;
  const int64_t count = static_cast<int64_t>(index.size());
  move(pe, [&](int64_t i) {
    return (i / inner / count * n + wrapped(index[at(i / inner % count)], n)) * inner + i % inner;
  });
}

/// Beside the axis, where an index stands says which element is meant.
void check_beside_axis(const Op& op) {
  const Shape &s = op.shape(), &index = op.shape(1);
  op.require(s.size() == index.size(), "found indices of another rank");
  const auto axis = at(op.axis_attribute("axis", 0));
  for (size_t d = 0; d < s.size(); ++d)
    op.require(d == axis || index[d] <= s[d], "found indices " + to_string(index) + " into " + to_string(s));
}

void shape_gather_elements(Op& op) {
  op.require_type(1, Takes::indices);
  check_beside_axis(op);
  op.set_output(0, op.in(0).type, op.shape(1));
}
void run_gather_elements(Pe& pe) {
  const auto axis = at(pe.op.axis_attribute("axis", 0));
  const Places index = pe.ints(1);
  const Shape strides = row_major_strides(pe.op.shape());
  move(pe, [&](int64_t i) {
    const Shape o = unflattened(i, pe.op.shape(1));
    int64_t place = wrapped(index[at(i)], pe.op.shape()[axis]) * strides[axis];
    for (size_t d = 0; d < o.size(); ++d) place += d == axis ? 0 : o[d] * strides[d];
    return place;
  });
}

/// A tuple of indices at [begin, begin + n) into dimensions from `first` on.
int64_t place_of_tuple(const Places& index, int64_t begin, int64_t n, const Shape& shape, int64_t first) {
  const Shape strides = row_major_strides(shape);
  int64_t place = 0;
  for (int64_t j = 0; j < n; ++j) place += wrapped(index[at(begin + j)], shape[at(first + j)]) * strides[at(first + j)];
  return place;
}

void shape_gather_nd(Op& op) {
  op.require_type(1, Takes::indices);
  const int64_t batch = op.integer("batch_dims", 0);
  op.require(batch >= 0 && batch < op.rank() && batch < op.rank(1), "found batch_dims");
  op.require(std::equal(op.shape().begin(), op.shape().begin() + batch, op.shape(1).begin()),
             "found batches " + to_string(op.shape()) + " and " + to_string(op.shape(1)));
  const int64_t tuple = op.shape(1).back();
  op.require(tuple >= 1 && batch + tuple <= op.rank(), "found indices of " + std::to_string(tuple));
  Shape to(op.shape(1).begin(), op.shape(1).end() - 1);
  to.insert(to.end(), op.shape().begin() + batch + tuple, op.shape().end());
  op.set_output(0, op.in(0).type, to);
}
void run_gather_nd(Pe& pe) {
  const Shape &s = pe.op.shape(), &is = pe.op.shape(1);
  const int64_t batch = pe.op.integer("batch_dims", 0), tuple = is.back();
  const Places index = pe.ints(1);
  const int64_t inner = elements_of(Shape(s.begin() + batch + tuple, s.end()));
  const int64_t of_batch = elements_of(Shape(s.begin() + batch, s.end()));
  const int64_t tuples = elements_of(Shape(is.begin() + batch, is.end() - 1));
  move(pe, [&](int64_t i) {
    const int64_t t = i / inner;
    return t / tuples * of_batch + place_of_tuple(index, t * tuple, tuple, s, batch) + i % inner;
  });
}

/// Elements of input 0, over which input 2's lie at the places that are given: each PE works on what is its own. What
/// stands at a place twice comes one after the other.
void scatter(Pe& pe, const Places& into, const std::string& reduction) {
  const Range mine = pe.share();
  struct Update {
    int64_t place, from;
  };
  std::vector<std::vector<Update>> rounds;  // of which each has a place once, but where the last alone counts
  std::vector<size_t> seen(at(mine.last - mine.first), 0);
  for (size_t u = 0; u < into.size(); ++u) {
    if (into[u] < mine.first || into[u] >= mine.last) continue;
    const size_t round = reduction == "none" ? 0 : seen[at(into[u] - mine.first)]++;
    if (rounds.size() <= round) rounds.resize(round + 1);
    rounds[round].push_back({into[u], static_cast<int64_t>(u)});
  }
  pe.for_pieces([&](int64_t first, int64_t count) {
    Tensor x = pe.tl.load(pe.in(0) + first, {count});
    for (const auto& round : rounds) {
      Places from(at(count), -1), there(at(count), 0);
      bool any = false;
      for (const Update& u : round) {
        if (u.place < first || u.place >= first + count) continue;
        from[at(u.place - first)] = u.from;
        there[at(u.place - first)] = 1;
        any = true;
      }
      if (!any) continue;
      const Tensor update = pe.pick(2, from), mask = pe.tl.tensor(there, {count}, DType::u8);
      const Tensor joined = reduction == "add"   ? x + update
                            : reduction == "mul" ? x * update
                            : reduction == "max" ? pe.tl.maximum(x, update)
                            : reduction == "min" ? pe.tl.minimum(x, update)
                                                 : update;
      x = pe.tl.where(mask, joined, x);
    }
    pe.put(0, first, x);
  });
}

std::string scatter_reduction(const Op& op) {
  return op.word("reduction", {"none", "add", "mul", "max", "min"}, "none");
}

void check_scatter(const Op& op) {
  op.require_type(1, Takes::indices);
  op.require_same_types(0, 2);
  if (scatter_reduction(op) != "none") op.require_type(0, Takes::numbers);
}

void shape_scatter_elements(Op& op) {
  op.require(op.shape(1) == op.shape(2), "found indices of another shape than the updates");
  check_beside_axis(op);
  check_scatter(op);
  like_first(op);
}
void run_scatter_elements(Pe& pe) {
  const auto axis = at(pe.op.axis_attribute("axis", 0));
  const Shape strides = row_major_strides(pe.op.shape());
  Places into = pe.ints(1);
  for (size_t u = 0; u < into.size(); ++u) {
    const Shape index = unflattened(static_cast<int64_t>(u), pe.op.shape(1));
    int64_t place = wrapped(into[u], pe.op.shape()[axis]) * strides[axis];
    for (size_t d = 0; d < index.size(); ++d) place += d == axis ? 0 : index[d] * strides[d];
    into[u] = place;
  }
  scatter(pe, into, scatter_reduction(pe.op));
}

void shape_scatter_nd(Op& op) {
  op.require(op.rank(1) >= 1 && op.shape(1).back() >= 1 && op.shape(1).back() <= op.rank(), "found indices");
  Shape updates(op.shape(1).begin(), op.shape(1).end() - 1);
  updates.insert(updates.end(), op.shape().begin() + op.shape(1).back(), op.shape().end());
  op.require(op.shape(2) == updates, "found updates of shape " + to_string(op.shape(2)));
  check_scatter(op);
  like_first(op);
}
void run_scatter_nd(Pe& pe) {
  const Places index = pe.ints(1);
  const Shape& s = pe.op.shape();
  const int64_t tuple = pe.op.shape(1).back(), inner = elements_of(Shape(s.begin() + tuple, s.end()));
  Places into(at(pe.op.in(2).elements()));
  for (size_t u = 0; u < into.size(); ++u) {
    const auto i = static_cast<int64_t>(u);
    into[u] = place_of_tuple(index, i / inner * tuple, tuple, s, 0) + i % inner;
  }
  scatter(pe, into, scatter_reduction(pe.op));
}

void shape_one_hot(Op& op) {
  op.require_type(0, Takes::numbers);
  op.require(op.in(2).elements() == 2, "found values of shape " + to_string(op.shape(2)) + ", expected [2]");
  const double given = op.real_value(1);
  op.require(given >= 1 && given <= static_cast<double>(kMostElements), "found a depth of " + std::to_string(given));
  const int64_t depth = static_cast<int64_t>(given), axis = op.axis(op.integer("axis", -1), op.rank() + 1);
  Shape to = op.shape();
  to.insert(to.begin() + axis, depth);
  op.set_output(0, op.in(2).type, to);
}
void run_one_hot(Pe& pe) {
  const Shape& to = pe.op.out().shape;
  const int64_t axis = pe.op.axis(pe.op.integer("axis", -1), pe.op.rank() + 1), depth = to[at(axis)];
  const int64_t inner = AxisRows(to, axis).inner;
  const std::vector<double> at_index = pe.reals(0);
  pe.for_pieces([&](int64_t first, int64_t count) {
    Places which;  // of the two values: off, on
    for (int64_t i = first; i < first + count; ++i) {
      const double index = std::trunc(at_index[at(i / inner / depth * inner + i % inner)]);
      const auto column = static_cast<double>(i / inner % depth);
      which.push_back(index == column || index + static_cast<double>(depth) == column);
    }
    pe.put(0, first, pe.pick(2, which));
  });
}

Places kept_places(const Places& condition) {
  Places kept;
  for (size_t i = 0; i < condition.size(); ++i) {
    if (condition[i] != 0) kept.push_back(static_cast<int64_t>(i));
  }
  return kept;
}

void shape_compress(Op& op) {
  op.require_type(1, Takes::booleans);
  const int64_t kept = static_cast<int64_t>(kept_places(op.values(1)).size());
  Shape to{kept};
  int64_t most = op.in(0).elements();
  if (op.given("axis")) {
    to = op.shape();
    const size_t axis = at(op.axis_attribute("axis", 0));
    most = to[axis];
    to[axis] = kept;
  }
  op.require(op.rank(1) == 1 && op.shape(1)[0] <= most, "found a condition of shape " + to_string(op.shape(1)));
  op.set_output(0, op.in(0).type, to);
}
void run_compress(Pe& pe) {
  const Places kept = kept_places(pe.ints(1));
  const Shape& s = pe.op.shape();
  if (!pe.op.given("axis")) return move(pe, [&](int64_t i) { return kept[at(i)]; });
  const int64_t axis = pe.op.axis_attribute("axis", 0), n = s[at(axis)], count = static_cast<int64_t>(kept.size());
  const int64_t inner = AxisRows(s, axis).inner;
  move(pe, [&](int64_t i) { return (i / inner / count * n + kept[at(i / inner % count)]) * inner + i % inner; });
}

Places nonzero_places(const Shape& s, const std::vector<double>& values) {
  Places at_values;
  for (size_t i = 0; i < values.size(); ++i) {
    if (values[i] != 0) at_values.push_back(static_cast<int64_t>(i));
  }
  Places all;
  const Shape strides = row_major_strides(s);
  for (size_t d = 0; d < s.size(); ++d) {
    for (const int64_t i : at_values) all.push_back(i / strides[d] % s[d]);
  }
  return all;
}
void shape_nonzero(Op& op) {
  const std::vector<double> values = op.reals(0);
  const auto count = std::count_if(values.begin(), values.end(), [](double v) { return v != 0; });
  op.set_output(0, Type::int64, {op.rank(), static_cast<int64_t>(count)});
}
void run_nonzero(Pe& pe) {
  put_ints(pe, nonzero_places(pe.op.shape(), pe.reals(0)));
}

const char* const kByIndex = "pe_cpu reads the indices; DMA gathers";
const RegisterOps registered_by_index{{
    {"Gather", 1, shape_gather, run_gather, kByIndex, true},
    {"GatherElements", 11, shape_gather_elements, run_gather_elements, kByIndex, true},
    {"GatherND", 11, shape_gather_nd, run_gather_nd, kByIndex, true},
    {"ScatterElements", 11, shape_scatter_elements, run_scatter_elements, kByIndex, true},
    {"Scatter", 9, shape_scatter_elements, run_scatter_elements, kByIndex, true},
    {"ScatterND", 11, shape_scatter_nd, run_scatter_nd, kByIndex, true},
    {"OneHot", 9, shape_one_hot, run_one_hot, kByIndex, true},
    {"Compress", 9, shape_compress, run_compress, kByIndex, true},
    {"NonZero", 9, shape_nonzero, run_nonzero, "pe_cpu reads the values and counts", true},
}};

}  // namespace
}  // namespace kernbench::onnx
