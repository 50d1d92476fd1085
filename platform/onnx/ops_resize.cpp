// SPDX-License-Identifier: Apache-2.0
// Ops whose outputs are weighted sums of a few elements of an image: Resize, Upsample, GridSample.
#include <algorithm>
#include <cmath>

#include "kernbench/platform/onnx/pe.h"

namespace kernbench::onnx {
namespace {

using tl::Tensor;

/// An element's index along one axis and its weight; −1: outside.
struct Tap {
  int64_t index;
  double weight;
};
using Taps = std::vector<Tap>;

/// Four weights of a cubic convolution (Keys) around x = floor(x) + t, with the given coefficient.
std::vector<double> cubic_weights(double t, double a) {
  const auto near = [&](double d) { return ((a + 2) * d - (a + 3)) * d * d + 1; };
  const auto far = [&](double d) { return ((a * d - 5 * a) * d + 8 * a) * d - 4 * a; };
  return {far(t + 1), near(t), near(1 - t), far(2 - t)};
}

// ---- Resize

struct Resizing {
  std::string mode, coordinates, rounding;
  double cubic = -0.75, extrapolated = 0;
  bool excludes_outside = false;
  Shape to;
  std::vector<double> scales, roi;  ///< per axis; roi: all starts, then all ends
};

/// Applies to the named axes only.
void scale_axes(const Op& op, const std::vector<int64_t>& axes, bool crops, Resizing* r) {
  const bool named = op.opset >= 11 && op.node->op == "Resize";
  const size_t at_scales = named ? 2 : 1;
  const bool by_size = named && op.has(3) && op.in(3).elements() > 0;
  const std::vector<float> scales_attribute =
      op.opset < 9 && op.given("scales") ? op.attribute("scales", AttributeType::reals).floats : std::vector<float>();
  const std::vector<double> scales = by_size ? std::vector<double>()
                                     : op.opset < 9 && op.given("scales")
                                         ? std::vector<double>(scales_attribute.begin(), scales_attribute.end())
                                         : op.reals(at_scales);
  const std::vector<int64_t> sizes = by_size ? op.values(3) : std::vector<int64_t>();
  op.require((by_size ? sizes.size() : scales.size()) == axes.size(), "found scales or sizes of another rank");
  for (size_t i = 0; i < axes.size(); ++i) {
    const auto d = static_cast<size_t>(op.axis(axes[i], op.rank()));
    const auto from = static_cast<double>(op.shape()[d]);
    r->scales[d] = by_size ? static_cast<double>(sizes[i]) / from : scales[i];
    op.require(r->scales[d] > 0 && r->scales[d] <= 1e6, "found a scale of " + std::to_string(r->scales[d]));
    const double part = crops ? r->roi[d + r->to.size()] - r->roi[d] : 1;
    op.require(part >= 0 && part <= 1e3, "found a roi that is none");
    r->to[d] = by_size ? sizes[i] : static_cast<int64_t>(std::floor(from * part * r->scales[d]));
  }
}

Resizing resizing_of(const Op& op) {
  Resizing r;
  const bool newer = op.opset >= 11 && op.node->op == "Resize";
  op.require(newer || op.inputs.size() <= 2, "found more than 2 inputs in opset 10");
  r.mode = op.word("mode", {"nearest", "linear", "cubic"}, "nearest");
  r.coordinates = newer ? op.word("coordinate_transformation_mode",
                                  {"half_pixel", "half_pixel_symmetric", "pytorch_half_pixel", "align_corners",
                                   "asymmetric", "tf_half_pixel_for_nn", "tf_crop_and_resize"},
                                  "half_pixel")
                        : "asymmetric";
  r.rounding = newer ? op.word("nearest_mode", {"round_prefer_floor", "round_prefer_ceil", "floor", "ceil"},
                               "round_prefer_floor")
                     : "floor";
  r.cubic = op.real("cubic_coeff_a", -0.75f);
  r.extrapolated = op.real("extrapolation_value", 0);
  r.excludes_outside = op.integer("exclude_outside", 0) != 0;
  op.require(op.integer("antialias", 0) == 0, "it smoothes (antialias); not yet");
  op.require(op.word("keep_aspect_ratio_policy", {"stretch", "not_larger", "not_smaller"}, "stretch") == "stretch",
             "it keeps the aspect ratio; not yet");
  const size_t rank = op.shape().size();
  r.to = op.shape();
  r.scales.assign(rank, 1);
  std::vector<int64_t> axes = op.ints("axes");
  if (axes.empty()) {
    for (size_t d = 0; d < rank; ++d) axes.push_back(static_cast<int64_t>(d));
  }
  const bool crops = r.coordinates == "tf_crop_and_resize";
  r.roi.assign(2 * rank, 0);
  std::fill(r.roi.begin() + static_cast<std::ptrdiff_t>(rank), r.roi.end(), 1);
  if (crops) {
    const std::vector<double> roi = op.reals(1);
    op.require(roi.size() == 2 * axes.size(), "found a roi of " + std::to_string(roi.size()) + " numbers");
    for (size_t i = 0; i < axes.size(); ++i) {
      const auto d = static_cast<size_t>(op.axis(axes[i], op.rank()));
      r.roi[d] = roi[i];
      r.roi[d + rank] = roi[i + axes.size()];
    }
  }
  scale_axes(op, axes, crops, &r);
  return r;
}

double coordinate(const Resizing& r, size_t d, int64_t i, double from) {
  const auto x = static_cast<double>(i);
  const double scale = r.scales[d], half = (x + 0.5) / scale - 0.5;
  const double to = from * scale;  // ONNX's reference does not round it
  if (r.coordinates == "asymmetric") return x / scale;
  if (r.coordinates == "pytorch_half_pixel") return to > 1 ? half : 0;
  if (r.coordinates == "align_corners") return to > 1 ? x * (from - 1) / (to - 1) : 0;
  if (r.coordinates == "tf_half_pixel_for_nn") return (x + 0.5) / scale;
  if (r.coordinates == "half_pixel_symmetric") return from / 2 * (1 - static_cast<double>(r.to[d]) / to) + half;
  if (r.coordinates == "tf_crop_and_resize") {
    const double start = r.roi[d], end = r.roi[d + r.to.size()];
    return to > 1 ? start * (from - 1) + x * (end - start) * (from - 1) / (to - 1) : 0.5 * (start + end) * (from - 1);
  }
  return half;
}

int64_t nearest(const std::string& rounding, double x) {
  if (rounding == "floor") return static_cast<int64_t>(std::floor(x));
  if (rounding == "ceil") return static_cast<int64_t>(std::ceil(x));
  return static_cast<int64_t>(rounding == "round_prefer_ceil" ? std::floor(x + 0.5) : std::ceil(x - 0.5));
}

/// The inputs that contribute to output index i of an axis of n elements.
Taps taps_of(const Resizing& r, size_t d, int64_t i, int64_t n) {
  if (r.scales[d] == 1 && r.to[d] == n && r.coordinates != "tf_crop_and_resize") return {{i, 1}};
  const double x = std::clamp(coordinate(r, d, i, static_cast<double>(n)), -1e12, 1e12);
  if (r.coordinates == "tf_crop_and_resize" && (x < 0 || x > static_cast<double>(n - 1))) return {{-1, 1}};
  const auto inside = [&](int64_t k) { return std::clamp<int64_t>(k, 0, n - 1); };
  if (r.mode == "nearest") return {{inside(nearest(r.rounding, x)), 1}};
  const auto base = static_cast<int64_t>(std::floor(x));
  const double t = x - std::floor(x);
  if (r.mode == "linear") return {{inside(base), 1 - t}, {inside(base + 1), t}};
  const std::vector<double> w = cubic_weights(t, r.cubic);
  Taps taps;
  double sum = 0;
  for (int64_t k = 0; k < 4; ++k) {
    const int64_t at = base - 1 + k;
    const bool counts = !r.excludes_outside || (at >= 0 && at < n);
    taps.push_back({inside(at), counts ? w[static_cast<size_t>(k)] : 0});
    sum += taps.back().weight;
  }
  if (r.excludes_outside) {
    for (Tap& tap : taps) tap.weight /= sum;
  }
  return taps;
}

void shape_resize(Op& op) {
  const Resizing r = resizing_of(op);
  if (r.mode != "nearest") op.require_type(0, Takes::numbers);
  int64_t taps = 1;
  for (size_t d = 0; d < r.to.size(); ++d) {
    op.require(r.to[d] >= 0, "its output has no elements");
    if (r.to[d] > 0) taps *= static_cast<int64_t>(taps_of(r, d, 0, op.shape()[d]).size());
  }
  op.require(taps <= 4096, "it interpolates over too many axes");
  op.set_output(0, op.in(0).type, r.to);
}

/// Products of the weights along each axis.
Taps joined(const std::vector<const Taps*>& axes, const Shape& shape) {
  Taps all = {{0, 1}};
  for (size_t d = 0; d < axes.size(); ++d) {
    Taps next;
    for (const Tap& t : all) {
      for (const Tap& own : *axes[d])
        next.push_back({t.index < 0 || own.index < 0 ? -1 : t.index * shape[d] + own.index, t.weight * own.weight});
    }
    all = std::move(next);
  }
  return all;
}

/// Output elements as weighted sums with equally many taps. `taps(i)` gives those of output element i.
template <class F>
void put_sums(Pe& pe, size_t count_of_taps, double outside, const F& taps) {
  pe.for_pieces(
      [&](int64_t first, int64_t count) {
        std::vector<int64_t> places;
        std::vector<double> weights;
        for (int64_t i = first; i < first + count; ++i) {
          for (const Tap& t : taps(i)) {
            places.push_back(t.index);
            weights.push_back(t.weight);
          }
        }
        if (count_of_taps == 1) return pe.put(0, first, pe.pick(0, places, outside));
        const Dims shape{count, static_cast<int64_t>(count_of_taps)};
        const Tensor w = pe.tl.tensor(weights, shape, DType::f32);
        pe.put(0, first, pe.tl.sum(pe.cast(pe.pick(0, places, shape, outside), DType::f32) * w, 1));
      },
      0, std::max<int64_t>(1, kPiece / static_cast<int64_t>(count_of_taps)));
}

void run_resize(Pe& pe) {
  const Resizing r = resizing_of(pe.op);
  const Shape& from = pe.op.shape();
  std::vector<std::vector<Taps>> axes(from.size());
  size_t count = 1;
  for (size_t d = 0; d < from.size(); ++d) {
    for (int64_t i = 0; i < r.to[d]; ++i) axes[d].push_back(taps_of(r, d, i, from[d]));
    size_t most = 0;
    for (const Taps& t : axes[d]) most = std::max(most, t.size());
    for (Taps& t : axes[d]) t.resize(most, {t[0].index, 0});  // an axis that is outside has one tap only
    count *= most;
  }
  put_sums(pe, count, r.extrapolated, [&](int64_t i) {
    const Shape index = unflattened(i, r.to);
    std::vector<const Taps*> own;
    for (size_t d = 0; d < index.size(); ++d) own.push_back(&axes[d][static_cast<size_t>(index[d])]);
    return joined(own, from);
  });
}

// ---- GridSample

struct Sampling {
  std::string mode, padding;
  bool corners = false;
};

Sampling sampling_of(const Op& op) {
  Sampling s{op.word("mode", {"bilinear", "linear", "nearest", "bicubic", "cubic"}, "bilinear"),
             op.word("padding_mode", {"zeros", "border", "reflection"}, "zeros"), op.integer("align_corners", 0) != 0};
  if (s.mode == "linear") s.mode = "bilinear";
  if (s.mode == "cubic") s.mode = "bicubic";
  return s;
}

void shape_grid_sample(Op& op) {
  const Sampling s = sampling_of(op);
  const Shape &x = op.shape(), &grid = op.shape(1);
  op.require(x.size() == 4 && grid.size() == 4 && grid[3] == 2 && grid[0] == x[0],
             "found X " + to_string(x) + " and grid " + to_string(grid) + ", expected [N, C, H, W] and [N, H, W, 2]");
  if (s.mode != "nearest") op.require_type(0, Takes::numbers);
  op.require_type(1, Takes::floats);
  op.set_output(0, op.in(0).type, {x[0], x[1], grid[1], grid[2]});
}

double reflected(double x, double least, double most) {
  const double span = most - least;
  if (span <= 0) return 0;
  const double from = std::abs(x - least), over = std::fmod(from, span);
  return std::fmod(std::floor(from / span), 2) == 0 ? least + over : most - over;
}

/// The element read at index k of an axis of n; −1: zero.
int64_t sampled_index(const Sampling& s, double k, int64_t n) {
  const auto last = static_cast<double>(n - 1);
  if (k >= 0 && k <= last) return static_cast<int64_t>(k);
  if (s.padding == "zeros" || !std::isfinite(k)) return -1;
  if (s.padding == "border") return k < 0 ? 0 : n - 1;
  const double at = s.corners ? reflected(k, 0, last) : reflected(k, -0.5, last + 0.5);
  return std::clamp<int64_t>(static_cast<int64_t>(std::nearbyint(at)), 0, n - 1);
}

Taps sampled_taps(const Sampling& s, double g, int64_t n) {
  const auto length = static_cast<double>(n);
  double x = s.corners ? (g + 1) / 2 * (length - 1) : ((g + 1) * length - 1) / 2;
  if (s.padding == "border" && s.mode != "bicubic") x = std::clamp(x, 0.0, length - 1);
  if (s.padding == "reflection" && s.mode != "bicubic")
    x = std::clamp(s.corners ? reflected(x, 0, length - 1) : reflected(x, -0.5, length - 0.5), 0.0, length - 1);
  if (s.mode == "nearest") return {{sampled_index(s, std::nearbyint(x), n), 1}};
  const double base = std::floor(x), t = x - base;
  if (s.mode == "bilinear") return {{sampled_index(s, base, n), 1 - t}, {sampled_index(s, base + 1, n), t}};
  const std::vector<double> w = cubic_weights(t, -0.75);
  Taps taps;
  for (int k = 0; k < 4; ++k) taps.push_back({sampled_index(s, base - 1 + k, n), w[static_cast<size_t>(k)]});
  return taps;
}

void run_grid_sample(Pe& pe) {
  const Sampling s = sampling_of(pe.op);
  const Shape &x = pe.op.shape(), &to = pe.op.out().shape;
  const std::vector<double> grid = pe.reals(1);
  const size_t each = s.mode == "nearest" ? 1 : s.mode == "bilinear" ? 2 : 4;
  put_sums(pe, each * each, 0, [&](int64_t i) {
    const Shape o = unflattened(i, to);
    const auto at = static_cast<size_t>(2 * ((o[0] * to[2] + o[2]) * to[3] + o[3]));
    const Taps columns = sampled_taps(s, grid[at], x[3]), rows = sampled_taps(s, grid[at + 1], x[2]);
    Taps all = joined({&rows, &columns}, {x[2], x[3]});
    for (Tap& t : all) t.index = t.index < 0 ? -1 : (o[0] * x[1] + o[1]) * x[2] * x[3] + t.index;
    return all;
  });
}

const char* const kSums = "DMA gathers the sources of each output; MATH computes their weighted sum";
const RegisterOps registered_sums{{
    {"Resize", 10, shape_resize, run_resize, kSums,
     "4 antialias axes coordinate_transformation_mode cubic_coeff_a exclude_outside extrapolation_value "
     "keep_aspect_ratio_policy mode nearest_mode"},
    {"Upsample", 7, shape_resize, run_resize, kSums, "2>=9 mode scales<9", false, false, 9},
    {"GridSample", 16, shape_grid_sample, run_grid_sample, "pe_cpu reads the grid; DMA gathers, MATH adds up",
     "2 align_corners mode padding_mode", true},
}};

}  // namespace
}  // namespace kernbench::onnx
