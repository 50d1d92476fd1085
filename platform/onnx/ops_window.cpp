// SPDX-License-Identifier: Apache-2.0
// Pools: reductions of windows.
#include <algorithm>
#include <limits>

#include "kernbench/platform/onnx/elementwise.h"
#include "kernbench/platform/onnx/window.h"

namespace kernbench::onnx {

using tl::Tensor;

std::string auto_pad_of(const Op& op) {
  return op.word("auto_pad", {"NOTSET", "SAME_UPPER", "SAME_LOWER", "VALID"}, "NOTSET");
}

Window Window::of(const Op& op, Shape in, Shape kernel) {
  const size_t n = in.size();
  Window w;
  w.in = std::move(in);
  w.kernel = std::move(kernel);
  w.strides = op.ints("strides", Shape(n, 1));
  w.dilations = op.ints("dilations", Shape(n, 1));
  const Shape pads = op.ints("pads", Shape(2 * n, 0)), named = op.ints("kernel_shape", w.kernel);
  const std::string mode = auto_pad_of(op);
  op.require(w.kernel.size() == n && named == w.kernel && w.strides.size() == n && w.dilations.size() == n &&
                 pads.size() == 2 * n,
             "found attributes of another number of dimensions");
  const bool up = op.integer("ceil_mode", 0) != 0;
  constexpr int64_t kMost = 1 << 24;
  op.require_range("a kernel_shape", w.kernel, 1, kMost);
  op.require_range("strides", w.strides, 1, kMost);
  op.require_range("dilations", w.dilations, 1, kMost);
  op.require_range("pads", pads, 0, kMost);
  for (size_t d = 0; d < n; ++d) {
    const int64_t reach = (w.kernel[d] - 1) * w.dilations[d] + 1;
    int64_t before = pads[d], after = pads[d + n];
    if (mode == "SAME_UPPER" || mode == "SAME_LOWER") {
      const int64_t out = (w.in[d] + w.strides[d] - 1) / w.strides[d];
      const int64_t total = std::max<int64_t>(0, (out - 1) * w.strides[d] + reach - w.in[d]);
      before = mode == "SAME_UPPER" ? total / 2 : total - total / 2;
      after = total - before;
    } else if (mode == "VALID") {
      before = after = 0;
    }
    op.require_range("pads that auto_pad makes", {before, after}, 0, kMost);
    const int64_t span = w.in[d] + before + after - reach;
    op.require(span >= 0, "its window of " + std::to_string(reach) + " is larger than the image");
    int64_t out = (span + (up ? w.strides[d] - 1 : 0)) / w.strides[d] + 1;
    // A window that begins after the image and its leading pads covers no element.
    if (up && (out - 1) * w.strides[d] >= w.in[d] + before) --out;
    w.out.push_back(out);
    w.before.push_back(before);
    w.after.push_back(after);
  }
  return w;
}

int64_t Window::place(int64_t p, int64_t t) const {
  int64_t place = 0, stride = 1;
  for (size_t d = out.size(); d-- > 0; p /= out[d], t /= kernel[d]) {
    const int64_t at = index(d, p, t);
    if (at < 0 || at >= in[d]) return -1;
    place += at * stride;
    stride *= in[d];
  }
  return place;
}

bool Window::padded(int64_t p, int64_t t) const {
  for (size_t d = out.size(); d-- > 0; p /= out[d], t /= kernel[d]) {
    if (index(d, p, t) >= in[d] + after[d]) return false;
  }
  return true;
}

namespace {

Window pool_window(const Op& op) {
  op.require(op.rank() >= 3, "found rank " + std::to_string(op.rank()) + ", expected [N, C, …]");
  return Window::of(op, Shape(op.shape().begin() + 2, op.shape().end()),
                    op.attribute("kernel_shape", AttributeType::integers).ints);
}

void shape_pool(Op& op) {
  const Window w = pool_window(op);
  op.require(elements_of(w.kernel) <= kRow, "its window has more than " + std::to_string(kRow) + " elements");
  Shape to{op.shape()[0], op.shape()[1]};
  to.insert(to.end(), w.out.begin(), w.out.end());
  op.set_output(0, op.in(0).type, to);
  op.set_output(1, Type::int64, to);
}

/// Calls f(first, x [count, taps], places) for pieces of this PE's outputs. `fill` is used outside the image.
template <class F>
void for_windows(Pe& pe, const Window& w, double fill, const F& f) {
  const int64_t taps = elements_of(w.kernel), pixels = elements_of(w.out), image = elements_of(w.in);
  pe.for_pieces(
      [&](int64_t first, int64_t count) {
        std::vector<int64_t> places;
        for (int64_t i = first; i < first + count; ++i) {
          for (int64_t t = 0; t < taps; ++t) {
            const int64_t place = w.place(i % pixels, t);
            places.push_back(place < 0 ? -1 : i / pixels * image + place);
          }
        }
        f(first, pe.pick(0, places, {count, taps}, fill), places);
      },
      0, std::max<int64_t>(1, kPiece / taps));
}

/// The least value of the types for which ONNX has a MaxPool.
double least_of(Type t) {
  if (t == Type::int8) return -128;
  return t == Type::uint8 ? 0 : -std::numeric_limits<double>::infinity();
}

void shape_max_pool(Op& op) {
  const Type t = op.in(0).type;
  op.require(takes(Takes::floats, t) || t == Type::int8 || t == Type::uint8,
             "found " + name_of(t) + ", expected floats, int8 or uint8");
  shape_pool(op);
}

void shape_average_pool(Op& op) {
  op.require_type(0, Takes::floats);
  shape_pool(op);
}

/// Converts a row-major index in an image to its column-major index.
int64_t column_major(int64_t place, const Shape& image) {
  const int64_t pixels = elements_of(image);
  const Shape index = unflattened(place % pixels, image);
  int64_t at = 0;
  for (size_t d = index.size(); d-- > 0;) at = at * image[d] + index[d];
  return place / pixels * pixels + at;
}

void run_max_pool(Pe& pe) {
  const Window w = pool_window(pe.op);
  const bool columns = pe.op.integer("storage_order", 0) != 0;
  for_windows(pe, w, least_of(pe.op.in(0).type), [&](int64_t first, const Tensor& x, std::vector<int64_t>& places) {
    pe.put(0, first, pe.tl.max(x, 1));
    if (!pe.op.has_output(1)) return;
    if (columns) {
      for (int64_t& p : places) p = p < 0 ? p : column_major(p, w.in);
    }
    const Tensor all = pe.tl.tensor(places, x.shape(), DType::i64);
    pe.put(1, first, pe.tl.gather(all, pe.tl.argmax(x, 1, true), 1).reshape({x.shape()[0]}));
  });
}

void run_average_pool(Pe& pe) {
  const Window w = pool_window(pe.op);
  const bool with_pads = pe.op.integer("count_include_pad", 0) != 0;
  const int64_t taps = elements_of(w.kernel), pixels = elements_of(w.out);
  for_windows(pe, w, 0, [&](int64_t first, const Tensor& x, const std::vector<int64_t>& places) {
    std::vector<int64_t> counts;
    for (int64_t i = 0; i < x.shape()[0]; ++i) {
      int64_t n = 0;
      for (int64_t t = 0; t < taps; ++t)
        n += with_pads ? w.padded((first + i) % pixels, t) : places[static_cast<size_t>(i * taps + t)] >= 0;
      counts.push_back(n);
    }
    const Tensor divisor = pe.tl.tensor(counts, {x.shape()[0]}, DType::f32);
    pe.put(0, first, pe.tl.sum(pe.widened(x), 1) / divisor);
  });
}

// For a p-norm: |x|^p. The p-th root is taken of the sum.
Tensor powers(Pe& pe, const Tensor& x) {
  const Tensor size = pe.tl.abs(x);
  Tensor all = size;
  for (int64_t i = pe.op.integer("p", 2); i > 1; --i) all = all * size;
  return all;
}
Tensor root(Pe& pe, const Tensor& sum) {
  const int64_t p = pe.op.integer("p", 2);
  if (p == 1) return sum;
  return p == 2 ? pe.tl.sqrt(sum) : pe.tl.exp(pe.tl.log(sum) / static_cast<double>(p));
}

void require_norm(const Op& op) {
  op.require(op.integer("p", 2) >= 1 && op.integer("p", 2) <= 16, "found p, expected 1 to 16");
}

void run_lp_pool(Pe& pe) {
  for_windows(pe, pool_window(pe.op), 0, [&](int64_t first, const Tensor& x, const std::vector<int64_t>&) {
    pe.put(0, first, root(pe, pe.tl.sum(powers(pe, pe.widened(x)), 1)));
  });
}

void shape_lp_pool(Op& op) {
  require_norm(op);
  shape_average_pool(op);
}

void shape_global_pool(Op& op) {
  op.require_type(0, Takes::floats);
  op.require(op.rank() >= 3, "found rank " + std::to_string(op.rank()) + ", expected [N, C, …]");
  Shape to = op.shape();
  std::fill(to.begin() + 2, to.end(), 1);
  op.set_output(0, op.in(0).type, to);
}

void shape_global_lp_pool(Op& op) {
  require_norm(op);
  shape_global_pool(op);
}

void run_global_pool(Pe& pe) {
  const Shape& s = pe.op.shape();
  const int64_t image = elements_of(Shape(s.begin() + 2, s.end()));
  const bool max = pe.op.node->op == "GlobalMaxPool", norm = pe.op.node->op == "GlobalLpPool";
  pe.for_pieces(
      [&](int64_t first, int64_t count) {
        Tensor all;
        const int64_t piece = std::max<int64_t>(1, kPiece / count);
        for (int64_t j = 0; j < image; j += piece) {
          const int64_t n = std::min(piece, image - j);
          const Tensor x = pe.widened(pe.tl.load((pe.in(0) + first * image + j).block({count, n}, image)));
          const Tensor part = max ? pe.tl.max(x, 1) : pe.tl.sum(norm ? powers(pe, x) : x, 1);
          all = !all.valid() ? part : max ? pe.tl.maximum(all, part) : all + part;
        }
        pe.put(0, first, max ? all : norm ? root(pe, all) : all / static_cast<double>(image));
      },
      0, std::clamp<int64_t>(kPiece / image, 1, kPiece));
}

const char* const kWindows = "MATH: each PE gathers its outputs' windows and reduces them";
const RegisterOps registered_pools{{
    {"MaxPool", 1, shape_max_pool, run_max_pool, kWindows,
     "1 auto_pad ceil_mode dilations kernel_shape pads storage_order strides"},
    {"AveragePool", 1, shape_average_pool, run_average_pool, kWindows,
     "1 auto_pad ceil_mode count_include_pad dilations kernel_shape pads strides"},
    {"LpPool", 2, shape_lp_pool, run_lp_pool, kWindows, "1 auto_pad ceil_mode dilations kernel_shape p pads strides"},
    {"GlobalMaxPool", 1, shape_global_pool, run_global_pool, kWindows, "1"},
    {"GlobalAveragePool", 1, shape_global_pool, run_global_pool, kWindows, "1"},
    {"GlobalLpPool", 2, shape_global_lp_pool, run_global_pool, kWindows, "1 p"},
}};

}  // namespace
}  // namespace kernbench::onnx
