// SPDX-License-Identifier: Apache-2.0
// y[t] = sum over j of weight[t, j] · buffer[slot[t, j]]: the experts' results for a token, from the buffers of
// moe_dispatch. Slot -1 adds nothing.
#include <algorithm>
#include <cmath>

#include "kernbench/kernel_api/kernels/common.h"

namespace kernbench::kernels::moe_combine_kernel {
namespace {

constexpr int64_t kElements = 16384;  // per block

void moe_combine(tl::Context& tl, const tl::Args& args) {
  const tl::View& to = args["y"];
  if (to.empty()) return;
  const tl::Ptr buffer = args.whole("buffer").ptr;
  const tl::Block y = to;
  const int64_t dim = to.shape[1];
  const int64_t k = args.integer("k");
  const int64_t step = std::max<int64_t>(1, kElements / dim);
  for (int64_t first = 0; first < to.shape[0]; first += step) {
    const int64_t count = std::min(step, to.shape[0] - first);
    const auto slot = tl.load(args["slot"].block().rows(first, count));
    const auto weight = tl.cast(tl.load(args["weight"].block().rows(first, count)), DType::f32);
    tl::Tensor sum;
    for (int64_t j = 0; j < k; ++j) {
      const auto rows = gather_rows(tl, buffer, slot.slice(1, j, 1), dim).reshape({count, dim});
      const auto part = tl.cast(rows, DType::f32) * weight.slice(1, j, 1);
      sum = j == 0 ? part : sum + part;
    }
    tl.store_async(y.rows(first, count), y.dtype() == DType::f32 ? sum : tl.cast(sum, y.dtype()));
  }
}

std::map<std::string, Expected> reference(const Params& p, const TensorMap& in) {
  const int64_t tokens = p.integer("tokens"), dim = p.integer("dim"), k = p.integer("k");
  const Floats buffer = in.at("buffer").floats(), weight = in.at("weight").floats();
  const std::vector<int32_t> slot = in.at("slot").ints();
  Floats y(static_cast<size_t>(tokens * dim)), scale(y.size());
  for (int64_t t = 0; t < tokens; ++t) {
    for (int64_t d = 0; d < dim; ++d) {
      double sum = 0, size = 0;
      for (int64_t j = 0; j < k; ++j) {
        const auto at = static_cast<size_t>(t * k + j);
        if (slot[at] < 0) continue;
        const double part =
            static_cast<double>(weight[at]) * static_cast<double>(buffer[static_cast<size_t>(slot[at] * dim + d)]);
        sum += part;
        size += std::abs(part);
      }
      y[static_cast<size_t>(t * dim + d)] = static_cast<float>(sum);
      scale[static_cast<size_t>(t * dim + d)] = static_cast<float>(size);
    }
  }
  return {{"y", {HostTensor::from(p.dtype(), {tokens, dim}, y), scale}}};
}

KernelSpec spec() {
  KernelSpec s;
  s.name = "moe_combine";
  s.help = "y[t] = sum over j of weight[t, j] buffer[slot[t, j]], by gathers; slot -1 is skipped";
  s.params = {ParamSpec::size("tokens", 256, "tokens, split over the PEs"),
              ParamSpec::size("dim", 64, "elements of a token"), ParamSpec::size("k", 2, "experts of a token"),
              ParamSpec::size("slots", 512, "rows of the buffer, split over the PEs"),
              ParamSpec::dtypes({DType::f32, DType::f16, DType::bf16})};
  s.tensors = {input("buffer", {"slots", "dim"}, Placement::rows),
               {"slot", TensorSpec::Role::in, dims({"tokens", "k"}), [](const Params&) { return DType::i32; },
                Placement::rows, Init::index(value_of("slots"))},
               input("weight", {"tokens", "k"}, Placement::rows),
               output("y", {"tokens", "dim"}, Placement::rows)};
  s.function = moe_combine;
  s.reference = reference;
  return s;
}

const RegisterKernel registered{spec()};

}  // namespace
}  // namespace kernbench::kernels::moe_combine_kernel
