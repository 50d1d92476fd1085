// SPDX-License-Identifier: Apache-2.0
// Matrix products and convolutions, as tiles on pe_gemm.
#include <algorithm>

#include "kernbench/platform/onnx/tiles.h"
#include "kernbench/platform/onnx/window.h"

namespace kernbench::onnx {
namespace {

using tl::Tensor;

// ---- MatMul and its kin

struct Products {
  Shape batches;  ///< of the output
  Shape a_batches, b_batches;
  int64_t m = 1, n = 1, k = 1;
};

Products products_of(const Op& op, size_t ia, size_t ib) {
  Shape a = op.shape(ia), b = op.shape(ib);
  op.require(!a.empty() && !b.empty(), "found a scalar");
  if (a.size() == 1) a.insert(a.begin(), 1);
  if (b.size() == 1) b.push_back(1);
  Products p;
  p.m = a[a.size() - 2];
  p.k = a.back();
  p.n = b.back();
  op.require(b[b.size() - 2] == p.k, "found " + to_string(op.shape(ia)) + " times " + to_string(op.shape(ib)));
  p.a_batches.assign(a.begin(), a.end() - 2);
  p.b_batches.assign(b.begin(), b.end() - 2);
  p.batches = broadcast({p.a_batches, p.b_batches});
  return p;
}

Shape product_shape(const Op& op, size_t ia, size_t ib) {
  const Products p = products_of(op, ia, ib);
  Shape s = p.batches;
  if (op.rank(ia) > 1) s.push_back(p.m);
  if (op.rank(ib) > 1) s.push_back(p.n);
  return s;
}

/// out = f(Σ a · b of a tile, batch, rows and columns). a(tile) and b(tile) prepare the operands' tiles.
template <class A, class B, class F>
void multiply(Pe& pe, size_t ia, size_t ib, const A& made_a, const B& made_b, const F& f) {
  const Products p = products_of(pe.op, ia, ib);
  const Strides of_a = Strides::broadcast(p.a_batches, p.batches), of_b = Strides::broadcast(p.b_batches, p.batches);
  for_tiles(pe, elements_of(p.batches), p.m, p.n, [&](int64_t batch, int64_t i, int64_t ni, int64_t j, int64_t nj) {
    const Matrix a{ia, of_a.at(batch) * p.m * p.k, p.m, p.k}, b{ib, of_b.at(batch) * p.k * p.n, p.k, p.n};
    const Tensor sum = product(
        pe, p.k, [&](int64_t k, int64_t nk) { return made_a(a.tile(pe, i, ni, k, nk), i, ni); },
        [&](int64_t k, int64_t nk) { return made_b(b.tile(pe, k, nk, j, nj), j, nj); });
    put_tile(pe, batch * p.m * p.n, p.n, i, j, f(sum, i, ni, j, nj));
  });
}

void shape_matmul(Op& op) {
  op.require_same_types(0, 1);
  op.require_type(0, Takes::numbers);
  op.require(op.in(0).type != Type::uint32 && op.in(0).type != Type::int64, "pe_gemm has no " + name_of(op.in(0).type));
  op.set_output(0, op.in(0).type, product_shape(op, 0, 1));
}
void run_matmul(Pe& pe) {
  const auto same = [](const Tensor& t, int64_t, int64_t) { return t; };
  multiply(pe, 0, 1, same, same, [](const Tensor& sum, int64_t, int64_t, int64_t, int64_t) { return sum; });
}

/// The tile minus its zero point, exact, for pe_gemm. A zero point is a scalar, or one per row or column.
Tensor less_zero_point(Pe& pe, const Tensor& tile, size_t zero, int64_t first, int64_t count, bool of_rows) {
  const Tensor wide = pe.tl.cast(tile, DType::i32);
  if (!pe.op.has(zero)) return wide;
  const bool one = pe.op.in(zero).elements() == 1;
  const Tensor z = pe.cast(pe.tl.load(pe.in(zero) + (one ? 0 : first), {one ? 1 : count}), DType::i32);
  return wide - (of_rows ? z.reshape({one ? 1 : count, 1}) : z.reshape({1, one ? 1 : count}));
}

void check_zero_point(const Op& op, size_t i, size_t operand, int64_t n) {
  op.require_type(operand, Takes::integers);
  if (!op.has(i)) return;
  op.require_same_types(operand, i);
  op.require(op.in(i).elements() == 1 || (op.rank(i) == 1 && op.shape(i)[0] == n),
             "found a zero point of shape " + to_string(op.shape(i)) + "; not yet");
}

void shape_matmul_integer(Op& op) {
  const Products p = products_of(op, 0, 1);
  check_zero_point(op, 2, 0, p.m);
  check_zero_point(op, 3, 1, p.n);
  op.set_output(0, Type::int32, product_shape(op, 0, 1));
}
void run_matmul_integer(Pe& pe) {
  multiply(
      pe, 0, 1, [&](const Tensor& t, int64_t i, int64_t n) { return less_zero_point(pe, t, 2, i, n, true); },
      [&](const Tensor& t, int64_t j, int64_t n) { return less_zero_point(pe, t, 3, j, n, false); },
      [](const Tensor& sum, int64_t, int64_t, int64_t, int64_t) { return sum; });
}

/// A scale or zero point with one element.
Tensor one_of(Pe& pe, size_t i, DType type) {
  return pe.cast(pe.tl.load(pe.in(i), {1}), type);
}

/// Scales i32 sums, rounds and saturates them to the output's type.
Tensor requantized(Pe& pe, const Tensor& sum, const Tensor& scale, size_t zero) {
  Tensor y = pe.tl.round(pe.tl.cast(sum, DType::f32) * scale);
  if (pe.op.has(zero)) y = y + one_of(pe, zero, DType::f32);
  return pe.tl.cast(y, pe.out_type());
}

void shape_qlinear_matmul(Op& op) {
  const Products p = products_of(op, 0, 3);
  check_zero_point(op, 2, 0, p.m);
  check_zero_point(op, 5, 3, p.n);
  for (const size_t i : {size_t{1}, size_t{4}, size_t{6}, size_t{7}}) {
    op.require(op.in(i).elements() == 1, "found scales of each row or column; not yet");
    op.require_type(i, i == 7 ? Takes::integers : Takes::floats);
  }
  op.set_output(0, op.in(7).type, product_shape(op, 0, 3));
}
void run_qlinear_matmul(Pe& pe) {
  const Tensor scale = one_of(pe, 1, DType::f32) * one_of(pe, 4, DType::f32) / one_of(pe, 6, DType::f32);
  multiply(
      pe, 0, 3, [&](const Tensor& t, int64_t i, int64_t n) { return less_zero_point(pe, t, 2, i, n, true); },
      [&](const Tensor& t, int64_t j, int64_t n) { return less_zero_point(pe, t, 5, j, n, false); },
      [&](const Tensor& sum, int64_t, int64_t, int64_t, int64_t) { return requantized(pe, sum, scale, 7); });
}

struct GemmSizes {
  int64_t m, n, k;
  bool transpose_a, transpose_b;
};

GemmSizes gemm_sizes(const Op& op) {
  op.require(op.rank(0) == 2 && op.rank(1) == 2, "found operands that are no matrices");
  const bool ta = op.integer("transA", 0) != 0, tb = op.integer("transB", 0) != 0;
  const GemmSizes s{op.shape(0)[ta], op.shape(1)[!tb], op.shape(0)[!ta], ta, tb};
  op.require(op.shape(1)[tb] == s.k, "found " + to_string(op.shape(0)) + " times " + to_string(op.shape(1)));
  return s;
}

void shape_gemm(Op& op) {
  const GemmSizes s = gemm_sizes(op);
  op.require_same_types(0, 1);
  op.require(is_float(op.in(0).dtype()), "pe_gemm scales floats alone; found " + name_of(op.in(0).type));
  if (op.has(2)) {
    op.require_same_types(0, 2);
    op.require(broadcast({op.shape(2), {s.m, s.n}}) == Shape{s.m, s.n}, "found C of another shape");
  }
  op.set_output(0, op.in(0).type, {s.m, s.n});
}
void run_gemm(Pe& pe) {
  const GemmSizes s = gemm_sizes(pe.op);
  const Matrix a{0, 0, s.transpose_a ? s.k : s.m, s.transpose_a ? s.m : s.k, s.transpose_a};
  const Matrix b{1, 0, s.transpose_b ? s.n : s.k, s.transpose_b ? s.k : s.n, s.transpose_b};
  const float alpha = pe.op.real("alpha", 1), beta = pe.op.real("beta", 1);
  const Strides c = pe.op.has(2) ? Strides::broadcast(pe.op.shape(2), {s.m, s.n}) : Strides();
  for_tiles(pe, 1, s.m, s.n, [&](int64_t, int64_t i, int64_t ni, int64_t j, int64_t nj) {
    Tensor y = product(
        pe, s.k, [&](int64_t k, int64_t nk) { return a.tile(pe, i, ni, k, nk); },
        [&](int64_t k, int64_t nk) { return b.tile(pe, k, nk, j, nj); });
    if (alpha != 1) y = y * alpha;
    if (pe.op.has(2)) {
      std::vector<int64_t> places;
      for (int64_t r = i; r < i + ni; ++r) {
        for (const int64_t p : c.range(r * s.n + j, nj)) places.push_back(p);
      }
      const Tensor more = pe.widened(pe.pick(2, places, {ni, nj}));
      y = y + (beta != 1 ? more * beta : more);
    }
    put_tile(pe, 0, s.n, i, j, y);
  });
}

/// A and B are inputs ia and ib.
template <size_t ia, size_t ib>
double macs_of_product(const Op& op) {
  const Products p = products_of(op, ia, ib);
  return static_cast<double>(elements_of(p.batches)) * static_cast<double>(p.m * p.n) * static_cast<double>(p.k);
}
double macs_of_gemm(const Op& op) {
  const GemmSizes s = gemm_sizes(op);
  return static_cast<double>(s.m * s.n) * static_cast<double>(s.k);
}

const char* const kTiled = "GEMM: tiles, distributed over PEs round robin";
const RegisterOps registered_products{{
    tiled("MatMul", 1, shape_matmul, run_matmul, macs_of_product<0, 1>, kTiled, "2"),
    tiled("MatMulInteger", 10, shape_matmul_integer, run_matmul_integer, macs_of_product<0, 1>, kTiled, "4"),
    tiled("QLinearMatMul", 10, shape_qlinear_matmul, run_qlinear_matmul, macs_of_product<0, 3>, kTiled, "8"),
    tiled("Gemm", 7, shape_gemm, run_gemm, macs_of_gemm, kTiled, "3 alpha beta transA transB"),
}};

// ---- Convolutions: [channels out, k] · [k, pixels], of each image and group

struct ConvSizes {
  Window window;
  int64_t images, groups, in_channels, out_channels;  ///< channels: per group
  int64_t taps() const { return elements_of(window.kernel); }
};

ConvSizes conv_sizes(const Op& op, size_t ix, size_t iw) {
  const Shape &x = op.shape(ix), &w = op.shape(iw);
  op.require(x.size() >= 3 && w.size() == x.size(), "found X " + to_string(x) + " and W " + to_string(w));
  ConvSizes s;
  s.window = Window::of(op, Shape(x.begin() + 2, x.end()), Shape(w.begin() + 2, w.end()));
  s.images = x[0];
  s.groups = op.integer("group", 1);
  op.require(s.groups >= 1 && x[1] % s.groups == 0 && w[0] % s.groups == 0 && x[1] / s.groups == w[1],
             "found X " + to_string(x) + " and W " + to_string(w) + " in " + std::to_string(s.groups) + " groups");
  s.in_channels = w[1];
  s.out_channels = w[0] / s.groups;
  return s;
}

Shape conv_shape(const ConvSizes& s) {
  Shape to{s.images, s.groups * s.out_channels};
  to.insert(to.end(), s.window.out.begin(), s.window.out.end());
  return to;
}

/// out = f(Σ, first channel, channels) over tiles of channels and pixels. `fill` is used where the window leaves X.
template <class X, class W, class F>
void convolve(Pe& pe, const ConvSizes& s, size_t ix, size_t iw, double fill, const X& made_x, const W& made_w,
              const F& f) {
  const int64_t pixels = elements_of(s.window.out), taps = s.taps(), k_all = s.in_channels * taps;
  const int64_t image = elements_of(s.window.in);
  for_tiles(pe, s.images * s.groups, s.out_channels, pixels,
            [&](int64_t batch, int64_t i, int64_t ni, int64_t j, int64_t nj) {
              const int64_t group = batch % s.groups, channel = group * s.out_channels + i;
              const int64_t x0 = batch * s.in_channels * image;  // channels of the image's group
              const Matrix w{iw, group * s.out_channels * k_all, s.out_channels, k_all};
              const Tensor sum = product(
                  pe, k_all, [&](int64_t k, int64_t nk) { return made_w(w.tile(pe, i, ni, k, nk), channel, ni); },
                  [&](int64_t k, int64_t nk) {
                    std::vector<int64_t> places;
                    for (int64_t t = k; t < k + nk; ++t) {
                      for (int64_t p = j; p < j + nj; ++p) {
                        const int64_t place = s.window.place(p, t % taps);
                        places.push_back(place < 0 ? -1 : x0 + t / taps * image + place);
                      }
                    }
                    return made_x(pe.pick(ix, places, {nk, nj}, fill));
                  });
              put_tile(pe, batch * s.out_channels * pixels, pixels, i, j, f(sum, channel, ni));
            });
}

/// One number for each of some output channels, as a column.
Tensor of_channels(Pe& pe, size_t input, int64_t channel, int64_t n, DType type) {
  if (pe.op.in(input).elements() == 1) return one_of(pe, input, type).reshape({1, 1});
  return pe.cast(pe.tl.load(pe.in(input) + channel, {n}), type).reshape({n, 1});
}

/// Checks for one element per output channel.
void check_bias(const Op& op, size_t i, int64_t channels, Type type) {
  op.require_shape(i, {channels});
  op.require(op.in(i).type == type, "found a bias of " + name_of(op.in(i).type) + ", expected " + name_of(type));
}

void shape_conv(Op& op) {
  const ConvSizes s = conv_sizes(op, 0, 1);
  op.require(is_float(op.in(0).dtype()) && op.in(0).type == op.in(1).type, "found " + name_of(op.in(0).type));
  if (op.has(2)) check_bias(op, 2, op.shape(1)[0], op.in(0).type);
  op.set_output(0, op.in(0).type, conv_shape(s));
}
void run_conv(Pe& pe) {
  const auto same = [](const Tensor& t) { return t; };
  convolve(
      pe, conv_sizes(pe.op, 0, 1), 0, 1, 0, same, [](const Tensor& t, int64_t, int64_t) { return t; },
      [&](const Tensor& sum, int64_t channel, int64_t n) {
        return pe.op.has(2) ? sum + of_channels(pe, 2, channel, n, sum.dtype()) : sum;
      });
}

/// Quantized operands and their zero points: a scalar for X; a scalar or one per output channel for W.
void check_quantized(const Op& op, size_t ix, size_t zx, size_t iw, size_t zw) {
  op.require(op.rank(iw) >= 1, "found W of rank 0");
  check_zero_point(op, zx, ix, 1);
  check_zero_point(op, zw, iw, op.shape(iw)[0]);
}

/// Integers minus their zero points.
template <class F>
void convolve_integers(Pe& pe, size_t ix, size_t iw, size_t zx, size_t zw, const F& f) {
  // Outside X the fill is X's zero point, which contributes 0.
  const double fill = pe.op.has(zx) ? static_cast<double>(pe.ints(zx).at(0)) : 0;
  convolve(
      pe, conv_sizes(pe.op, ix, iw), ix, iw, fill,
      [&](const Tensor& t) { return pe.tl.cast(t, DType::i32) - static_cast<int64_t>(fill); },
      [&](const Tensor& t, int64_t channel, int64_t n) {
        const Tensor wide = pe.tl.cast(t, DType::i32);
        return pe.op.has(zw) ? wide - of_channels(pe, zw, channel, n, DType::i32) : wide;
      },
      f);
}

void shape_conv_integer(Op& op) {
  check_quantized(op, 0, 2, 1, 3);
  op.set_output(0, Type::int32, conv_shape(conv_sizes(op, 0, 1)));
}
void run_conv_integer(Pe& pe) {
  convolve_integers(pe, 0, 1, 2, 3, [](const Tensor& sum, int64_t, int64_t) { return sum; });
}

void shape_qlinear_conv(Op& op) {
  check_quantized(op, 0, 2, 3, 5);
  const int64_t channels = op.shape(3)[0];
  if (op.has(8)) check_bias(op, 8, channels, Type::int32);
  for (const size_t i : {size_t{1}, size_t{6}, size_t{7}}) op.require(op.in(i).elements() == 1, "found several scales");
  for (const size_t i : {size_t{1}, size_t{4}, size_t{6}}) op.require_type(i, Takes::floats);
  op.require_type(7, Takes::integers);
  op.require(op.in(4).elements() == 1 || op.in(4).elements() == channels, "found scales of W");
  op.set_output(0, op.in(7).type, conv_shape(conv_sizes(op, 0, 3)));
}
void run_qlinear_conv(Pe& pe) {
  const Tensor scale = one_of(pe, 1, DType::f32) / one_of(pe, 6, DType::f32);
  convolve_integers(pe, 0, 3, 2, 5, [&](const Tensor& sum, int64_t channel, int64_t n) {
    const Tensor biased = pe.op.has(8) ? sum + of_channels(pe, 8, channel, n, DType::i32) : sum;
    return requantized(pe, biased, scale.reshape({1, 1}) * of_channels(pe, 4, channel, n, DType::f32), 7);
  });
}

// ---- Transposed convolutions: each output pixel gathers the taps that reach it

struct TransposedSizes {
  Shape in, out, kernel, strides, dilations, before;
  int64_t images, groups, in_channels, out_channels;
  /// The pixel of X that tap t of output pixel p reads; −1: none.
  int64_t place(int64_t p, int64_t t) const {
    int64_t place = 0, stride = 1;
    for (size_t d = out.size(); d-- > 0; p /= out[d], t /= kernel[d]) {
      const int64_t scaled = p % out[d] + before[d] - t % kernel[d] * dilations[d];
      if (scaled < 0 || scaled % strides[d] != 0 || scaled / strides[d] >= in[d]) return -1;
      place += scaled / strides[d] * stride;
      stride *= in[d];
    }
    return place;
  }
};

TransposedSizes transposed_sizes(const Op& op) {
  const Shape &x = op.shape(0), &w = op.shape(1);
  op.require(x.size() >= 3 && w.size() == x.size(), "found X " + to_string(x) + " and W " + to_string(w));
  const size_t n = x.size() - 2;
  TransposedSizes s;
  s.in.assign(x.begin() + 2, x.end());
  s.kernel.assign(w.begin() + 2, w.end());
  s.strides = op.ints("strides", Shape(n, 1));
  s.dilations = op.ints("dilations", Shape(n, 1));
  Shape pads = op.ints("pads", Shape(2 * n, 0));
  const Shape extra = op.ints("output_padding", Shape(n, 0)), asked = op.ints("output_shape");
  const std::string mode = auto_pad_of(op);
  op.require(s.strides.size() == n && s.dilations.size() == n && pads.size() == 2 * n && extra.size() == n &&
                 (asked.empty() || asked.size() == n),
             "found attributes of another number of dimensions");
  op.require_range("strides", s.strides, 1, 1 << 20);
  op.require_range("dilations", s.dilations, 1, 1 << 20);
  op.require_small({pads, extra, asked});
  s.before.resize(n);
  for (size_t d = 0; d < n; ++d) {
    const int64_t whole = s.strides[d] * (s.in[d] - 1) + extra[d] + (s.kernel[d] - 1) * s.dilations[d] + 1;
    const bool same = mode == "SAME_UPPER" || mode == "SAME_LOWER";
    if (!asked.empty() || same) {
      const int64_t to = asked.empty() ? s.in[d] * s.strides[d] : asked[d];
      const int64_t total = whole - to, half = total / 2;
      pads[d] = total < 0 ? 0 : mode == "SAME_UPPER" ? half : total - half;  // the larger pad comes at the end
      pads[d + n] = total - pads[d];
    }
    s.before[d] = pads[d];
    s.out.push_back(whole - pads[d] - pads[d + n]);
    op.require(s.out[d] > 0, "its output has no elements");
  }
  s.images = x[0];
  s.groups = op.integer("group", 1);
  op.require(s.groups >= 1 && x[1] == w[0] && x[1] % s.groups == 0 && elements_of(w) > 0,
             "found X " + to_string(x) + " and W " + to_string(w));
  s.in_channels = x[1] / s.groups;
  s.out_channels = w[1];
  return s;
}

void shape_conv_transpose(Op& op) {
  const TransposedSizes s = transposed_sizes(op);
  op.require(is_float(op.in(0).dtype()) && op.in(0).type == op.in(1).type, "found " + name_of(op.in(0).type));
  if (op.has(2)) check_bias(op, 2, s.groups * s.out_channels, op.in(0).type);
  Shape to{s.images, s.groups * s.out_channels};
  to.insert(to.end(), s.out.begin(), s.out.end());
  op.set_output(0, op.in(0).type, to);
}
void run_conv_transpose(Pe& pe) {
  const TransposedSizes s = transposed_sizes(pe.op);
  const int64_t pixels = elements_of(s.out), taps = elements_of(s.kernel), image = elements_of(s.in);
  for_tiles(pe, s.images * s.groups, s.out_channels, pixels,
            [&](int64_t batch, int64_t i, int64_t ni, int64_t j, int64_t nj) {
              const int64_t group = batch % s.groups, x0 = batch * s.in_channels * image;
              const auto weights = [&](int64_t k, int64_t nk) {
                std::vector<int64_t> places;
                for (int64_t c = i; c < i + ni; ++c) {
                  for (int64_t t = k; t < k + nk; ++t)
                    places.push_back(((group * s.in_channels + t / taps) * s.out_channels + c) * taps + t % taps);
                }
                return pe.pick(1, places, {ni, nk});
              };
              const auto columns = [&](int64_t k, int64_t nk) {
                std::vector<int64_t> places;
                for (int64_t t = k; t < k + nk; ++t) {
                  for (int64_t p = j; p < j + nj; ++p) {
                    const int64_t place = s.place(p, t % taps);
                    places.push_back(place < 0 ? -1 : x0 + t / taps * image + place);
                  }
                }
                return pe.pick(0, places, {nk, nj});
              };
              Tensor y = product(pe, s.in_channels * taps, weights, columns);
              if (pe.op.has(2)) y = y + of_channels(pe, 2, group * s.out_channels + i, ni, y.dtype());
              put_tile(pe, batch * s.out_channels * pixels, pixels, i, j, y);
            });
}

/// The weights (input iw) of each pixel of an output channel's images.
template <size_t iw>
double macs_of_conv(const Op& op) {
  const double outputs = static_cast<double>(op.out().elements());
  return outputs * static_cast<double>(op.in(iw).elements() / std::max<int64_t>(1, op.shape(iw)[0]));
}
/// Each output iterates over all taps of its group's channels, also those that read nothing.
double macs_of_transposed(const Op& op) {
  const TransposedSizes s = transposed_sizes(op);
  return static_cast<double>(op.out().elements()) * static_cast<double>(s.in_channels * elements_of(s.kernel));
}

#define KB_CONV " auto_pad dilations group kernel_shape pads strides"
const char* const kImplicit = "GEMM: [channels, k] · [k, pixels] in tiles; DMA gathers the pixels' columns";
const RegisterOps registered_convolutions{{
    tiled("Conv", 1, shape_conv, run_conv, macs_of_conv<1>, kImplicit, "3" KB_CONV),
    tiled("ConvInteger", 10, shape_conv_integer, run_conv_integer, macs_of_conv<1>, kImplicit, "4" KB_CONV, true),
    tiled("QLinearConv", 10, shape_qlinear_conv, run_qlinear_conv, macs_of_conv<3>, kImplicit, "9" KB_CONV, true),
    tiled("ConvTranspose", 1, shape_conv_transpose, run_conv_transpose, macs_of_transposed, kImplicit,
          "3 auto_pad dilations group kernel_shape output_padding output_shape pads strides"),
}};

}  // namespace
}  // namespace kernbench::onnx
