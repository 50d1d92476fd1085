// SPDX-License-Identifier: Apache-2.0
// Ops that permute or copy elements by a rule that only shapes and attributes determine.
#include <algorithm>
#include <cmath>
#include <numeric>

#include "kernbench/platform/onnx/places.h"
#include "kernbench/platform/onnx/rows.h"

namespace kernbench::onnx {
namespace {

// ---- Elements of input 0 by a rule

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

/// The source of index i in a dimension of n; −1: none.
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

/// Rearranges a tensor of [N, C, H, W] so that rows and columns are the last two dimensions.
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

const char* const kGathered = "DMA: each PE loads the sources of its outputs, with gathers for non-contiguous ones";
const RegisterOps registered_moves{{
    {"Transpose", 1, shape_transpose, run_transpose, kGathered, "1 perm"},
    {"Expand", 8, shape_expand, run_expand, kGathered, "2"},
    {"Tile", 6, shape_tile, run_tile, kGathered, "2"},
    {"Slice", 1, shape_slice, run_slice, kGathered, "5>=10 axes<10 ends<10 starts<10"},
    {"Pad", 2, shape_pad, run_pad, kGathered, "4>=11 mode pads<11 value<11", true},
    {"DepthToSpace", 1, shape_depth_to_space, run_depth_to_space, kGathered, "1 blocksize mode"},
    {"SpaceToDepth", 1, shape_space_to_depth, run_space_to_depth, kGathered, "1 blocksize"},
    {"Trilu", 14, shape_trilu, run_trilu, kGathered, "2 upper", true},
    {"ReverseSequence", 10, shape_reverse_sequence, run_reverse_sequence, kGathered, "2 batch_axis time_axis", true},
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
  int64_t begin = 0;  // offset in an input row
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
  op.require(op.integer("num_outputs", count) == count, "found num_outputs, expected " + std::to_string(count));
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
    {"Concat", 4, shape_concat, run_concat, "DMA: each PE copies the data of its part of the output", "many axis",
     false, true},
    {"Split", 2, shape_split, run_split, kGathered, "2>=13 axis num_outputs split<13"},
}};

}  // namespace
}  // namespace kernbench::onnx
