// SPDX-License-Identifier: Apache-2.0
// The router of a layer with experts: computes the k experts of each token and their weights from logits. moe_top_k
// selects the k largest logits, which it computes (tl.materialize). moe_route does the same work but then uses given
// choices, because a run without values cannot compute them.
#include <algorithm>
#include <cmath>
#include <numeric>

#include "kernbench/kernel_api/kernels/common.h"
#include "kernbench/kernel_api/kernels/expert_choices.h"
#include "kernbench/kernel_api/kernels/order.h"
#include "kernbench/phase2/io/random.h"

namespace kernbench::kernels::moe_route_kernel {
namespace {

constexpr int64_t kElements = 16384;  // per block

void route(tl::Context& tl, const tl::Args& args) {
  if (args["weight"].empty()) return;
  const tl::Block logits = args["logits"], choice = args["choice"], weight = args["weight"];
  const int64_t rows = logits.shape()[0], k = args.integer("k");
  const int64_t step = std::max<int64_t>(1, kElements / logits.shape()[1]);
  for (int64_t i = 0; i < rows; i += step) {
    const int64_t count = std::min(step, rows - i);
    const auto block = tl.load(logits.rows(i, count));
    const tl::Tensor best = tl.copy(tl.argsort(block, 1, true).slice(1, 0, k));
    tl.wait(best);
    const tl::Loaded chosen = args.has("given") ? tl.load(args["given"].block().rows(i, count)) : tl.materialize(best);
    const tl::Tensor wide = tl.cast(block, DType::f32);
    const tl::Tensor shares =
        args.flag("of_chosen") ? tl.softmax(tl.gather(wide, chosen, 1)) : tl.gather(tl.softmax(wide), chosen, 1);
    tl.store_async(choice.rows(i, count), chosen);
    tl.store_async(weight.rows(i, count), tl.cast(shares, weight.dtype()));
  }
}

/// The k greatest elements, greatest first; equal ones keep their order.
std::vector<int32_t> largest(const float* row, int64_t experts, int64_t k) {
  std::vector<int32_t> places(static_cast<size_t>(experts));
  std::iota(places.begin(), places.end(), 0);
  std::stable_sort(places.begin(), places.end(),
                   [row](int32_t a, int32_t b) { return order::comes_before(row[b], row[a]); });
  places.resize(static_cast<size_t>(k));
  return places;
}

std::map<std::string, Expected> reference(const Params& p, const TensorMap& in) {
  const int64_t tokens = p.integer("tokens"), experts = p.integer("experts"), k = p.integer("k");
  const Floats logits = in.at("logits").floats();
  std::vector<int32_t> choices;
  Floats weights;
  for (int64_t t = 0; t < tokens; ++t) {
    const float* row = logits.data() + t * experts;
    std::vector<int32_t> chosen;
    if (in.count("given") > 0) {
      const std::vector<int32_t> given = in.at("given").ints();
      chosen.assign(given.begin() + t * k, given.begin() + (t + 1) * k);
    } else {
      chosen = largest(row, experts, k);
    }
    std::vector<int32_t> weighed = chosen;
    if (!p.flag("of_chosen")) {
      weighed.resize(static_cast<size_t>(experts));
      std::iota(weighed.begin(), weighed.end(), 0);
    }
    double top = row[weighed.front()], sum = 0;
    for (const int32_t e : weighed) top = std::max<double>(top, row[e]);
    const auto size = [&](int32_t e) { return std::exp(static_cast<double>(row[e]) - top); };
    for (const int32_t e : weighed) sum += size(e);
    for (const int32_t e : chosen) {
      choices.push_back(e);
      weights.push_back(static_cast<float>(size(e) / sum));
    }
  }
  return {{"choice", {HostTensor::from(DType::i32, {tokens, k}, choices), {}}},
          {"weight", {HostTensor::from(p.dtype(), {tokens, k}, weights), {}}}};
}

KernelSpec spec(bool is_given) {
  KernelSpec s;
  s.name = is_given ? "moe_route" : "moe_top_k";
  s.help = is_given ? "weights of given experts, by softmax of their logits; also finds the k largest"
                    : "the k experts with the largest logits, and their weights by softmax";
  s.params = {
      ParamSpec::size("tokens", 256, "tokens, split over the PEs"), ParamSpec::size("experts", 8, "columns of logits"),
      ParamSpec::size("k", 2, "experts of a token"),
      ParamSpec::flag("of_chosen", true,
                      "softmax over the k chosen experts only; false: over all experts, so weights sum to less than 1"),
      ParamSpec::dtypes({DType::f32, DType::f16, DType::bf16})};
  const auto i32 = [](const Params&) { return DType::i32; };
  s.tensors = {input("logits", {"tokens", "experts"}, Placement::rows),
               output("choice", {"tokens", "k"}, Placement::rows, i32),
               output("weight", {"tokens", "k"}, Placement::rows)};
  if (is_given) {
    TensorSpec given = {"given", TensorSpec::Role::in, dims({"tokens", "k"}), i32, Placement::rows, {}};
    given.fill = [](const Params& p, uint64_t seed) {
      return drawn_choices(p.integer("tokens"), p.integer("k"), p.integer("experts"), seed_for(seed, "given"));
    };
    s.tensors.push_back(given);
  }
  s.prepare = [](Params* p, const LaunchCosts&, LaunchNotes*) {
    if (p->integer("k") > p->integer("experts"))
      throw BadParam("k=" + std::to_string(p->integer("k")) +
                     " is more than experts=" + std::to_string(p->integer("experts")));
  };
  s.function = route;
  s.reference = reference;
  s.materializes = !is_given;
  return s;
}

const RegisterKernel registered_given{spec(true)}, registered_top_k{spec(false)};

}  // namespace
}  // namespace kernbench::kernels::moe_route_kernel
