// SPDX-License-Identifier: Apache-2.0
// Draws a token of each row of logits from its nucleus: the smallest set of the likeliest tokens whose probabilities,
// by softmax over the k greatest logits, reach p. The token is the first one whose cumulative probability exceeds u
// times the nucleus's total. u is an input, so that runs are reproducible. A row must fit a PE's TCM.
#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include "kernbench/kernel_api/kernels/common.h"
#include "kernbench/kernel_api/kernels/order.h"

namespace kernbench::kernels::top_p_kernel {
namespace {

constexpr int64_t kElements = 16384;  // of a block
constexpr float kBelowOne = 0x1.fffffep-1F;

/// Logits of a row that are in question; at temperature 0 the greatest alone.
int64_t kept(const Params& p) {
  const int64_t cols = p.integer("cols"), k = p.integer("k");
  return p.number("temperature") == 0 ? 1 : k == 0 ? cols : k;
}

/// How many of each row's elements are so.
tl::Tensor count(tl::Context& tl, const tl::Tensor& so) {
  return tl.sum(tl.cast(so, DType::i32), 1, true);
}

void top_p(tl::Context& tl, const tl::Args& args) {
  if (args["token"].empty()) return;
  const tl::Block x = args["x"];
  const tl::View &u = args["u"], &token = args["token"], &prob = args["prob"];
  const int64_t rows = x.shape()[0], k = kept(args.params());
  const int64_t step = std::max<int64_t>(1, kElements / x.shape()[1]);
  const double temperature = args.number("temperature");
  for (int64_t first = 0; first < rows; first += step) {
    const int64_t n = std::min(step, rows - first);
    const auto number = tl.load_async(u.ptr + first, {n});
    const auto logits = tl.load(x.rows(first, n));
    // By the logits as they are: what they are over the temperature may be rounded to the same.
    const tl::Tensor order = tl.copy(tl.argsort(logits, 1, true).slice(1, 0, k));
    tl::Tensor weight = tl.cast(tl.gather(logits, order, 1), DType::f32);
    weight = weight - weight.slice(1, 0, 1);
    if (temperature > 0 && temperature != 1)  // a factor of f32: beyond it, 0 would become a NaN
      weight = weight * std::min<double>(1 / temperature, std::numeric_limits<float>::max());
    weight = tl.exp(weight);
    const tl::Tensor sums = tl.cumsum(weight, 1);
    const tl::Tensor last = count(tl, sums < sums.slice(1, k - 1, 1) * args.number("p"));
    const tl::Tensor nucleus = tl.gather(sums, last, 1);
    const tl::Tensor which = tl.minimum(count(tl, sums <= nucleus * number.reshape({n, 1})), last);
    tl.store_async(token.block().slice(first, n), tl.gather(order, which, 1).reshape({n}));
    tl.store_async(prob.block().slice(first, n), (tl.gather(weight, which, 1) / nucleus).reshape({n}));
  }
}

/// A row in f64. What the machine may make of it where sums are as near to p, or to u, as its own may be away.
class Row {
 public:
  Row(const float* x, const Params& p) : order_(static_cast<size_t>(p.integer("cols"))) {
    std::iota(order_.begin(), order_.end(), 0);
    std::stable_sort(order_.begin(), order_.end(),
                     [x](int32_t a, int32_t b) { return order::comes_before(x[b], x[a]); });
    order_.resize(static_cast<size_t>(kept(p)));
    const double temperature = p.number("temperature") == 0 ? 1 : p.number("temperature");
    double sum = 0, lost = 0;
    for (const int32_t i : order_) {
      weights_.push_back(std::exp((double{x[i]} - double{x[order_[0]]}) / temperature));
      sums_.push_back(sum += weights_.back());
      if (weights_.back() < sum * 0x1p-20) lost += std::min(weights_.back(), sum * 0x1p-24);
    }
    // Of sums in f32, one after the other, into which small weights may go not at all or all too large, and of weights
    // whose exponents were rounded.
    const double n = static_cast<double>(order_.size()), range = std::log(1 / std::max(weights_.back(), 1e-30));
    away_ = lost + sum * 0x1p-23 * (4 + std::sqrt(n) + range);
  }
  size_t last(double p, double away) const {
    return first([&](double s) { return s >= p * sums_.back() + away; });
  }
  /// By a nucleus up to `last`.
  size_t drawn(size_t last, double u, double away) const {
    return std::min(last, first([&](double s) { return s > u * sums_[last] + away; }));
  }
  double away() const { return away_; }
  int32_t token(size_t i) const { return order_[i]; }
  double probability(size_t i, size_t last) const { return weights_[i] / sums_[last]; }

 private:
  template <class Is>
  size_t first(const Is& is) const {
    return static_cast<size_t>(std::min(std::find_if(sums_.begin(), sums_.end(), is), sums_.end() - 1) - sums_.begin());
  }
  std::vector<int32_t> order_;
  std::vector<double> weights_, sums_;
  double away_ = 0;
};

std::map<std::string, Expected> reference(const Params& p, const TensorMap& in) {
  const int64_t rows = p.integer("rows"), cols = p.integer("cols");
  const Floats x = in.at("x").floats(), u = in.at("u").floats();
  std::vector<int32_t> tokens;
  Floats probs, any_token, any_prob;
  for (int64_t r = 0; r < rows; ++r) {
    const Row row(x.data() + r * cols, p);
    const double number = double{u[static_cast<size_t>(r)]}, near = row.away();
    const size_t last = row.last(p.number("p"), 0), which = row.drawn(last, number, 0);
    const size_t from = row.last(p.number("p"), -near), to = row.last(p.number("p"), near);
    const size_t low = row.drawn(from, number, -2 * near), high = row.drawn(to, number, 2 * near);
    tokens.push_back(row.token(which));
    any_token.push_back(low == high ? 0.0F : static_cast<float>(cols));
    const double prob = row.probability(which, last);
    probs.push_back(static_cast<float>(prob));
    any_prob.push_back(
        static_cast<float>(std::max(row.probability(low, from) - prob, prob - row.probability(high, to))));
  }
  return {{"token", {HostTensor::from(DType::i32, {rows}, tokens), {}, any_token}},
          {"prob", {HostTensor::from(DType::f32, {rows}, probs), {}, any_prob}}};
}

/// The seeded values, each made another by f.
template <class F>
TensorSpec filled(TensorSpec t, const F& f) {
  t.fill = [of = t, f](const Params& p, uint64_t seed) {
    Floats values = make_input(of, p, seed).floats();
    for (float& v : values) v = f(v);
    return HostTensor::from(of.dtype(p), of.shape(p), values);
  };
  return t;
}

KernelSpec spec() {
  KernelSpec s;
  s.name = "top_p";
  s.help = "nucleus sampling: one token for each row of logits, drawn with the random number u from the top p or top k";
  s.params = {ParamSpec::size_over_pes("rows", 256, "rows, split over the PEs"),
              ParamSpec::size("cols", 1024, "columns: the vocabulary"),
              ParamSpec::number("p", 0.9, 0, 1, "cumulative probability of the nucleus; 0: the most likely token"),
              ParamSpec::size("k", 0, "top k, applied before p; 0: all"),
              ParamSpec::number("temperature", 1, 0, 1e6, "divisor of the logits; 0: the most likely token"),
              ParamSpec::dtypes({DType::f32, DType::f16, DType::bf16}, "element type of x")};
  s.params[3].min = 0;
  const auto f32 = [](const Params&) { return DType::f32; };
  TensorSpec u = input("u", {"rows"}, Placement::rows);
  u.dtype = f32;
  s.tensors = {filled(input("x", {"rows", "cols"}, Placement::rows), [](float v) { return 8 * v; }),
               filled(u, [](float v) { return std::min(std::abs(v), kBelowOne); }),
               output("token", {"rows"}, Placement::rows, [](const Params&) { return DType::i32; }),
               output("prob", {"rows"}, Placement::rows, f32)};
  s.prepare = [](Params* p, const LaunchCosts&, LaunchNotes*) {
    if (p->integer("k") > p->integer("cols"))
      throw BadParam("k: found " + std::to_string(p->integer("k")) + ", expected at most cols, " +
                     std::to_string(p->integer("cols")));
  };
  s.function = top_p;
  s.reference = reference;
  return s;
}

const RegisterKernel registered{spec()};

}  // namespace
}  // namespace kernbench::kernels::top_p_kernel
