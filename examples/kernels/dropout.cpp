// SPDX-License-Identifier: Apache-2.0
// y[i] = x[i] / (1 - p) where Philox draws more than p for offset i, else 0: the same for any number of PEs.
#include <algorithm>

#include "kernbench/kernel_api/kernels/common.h"
#include "kernbench/phase2/eval/philox.h"

namespace kernbench::kernels::dropout_kernel {
namespace {

constexpr int64_t kElements = 16384;  // of a block

void dropout(tl::Context& tl, const tl::Args& args) {
  const tl::View& x = args["x"];
  const tl::View& y = args["y"];
  if (y.empty()) return;
  const double p = args.number("p");
  const int64_t n = y.shape[0];
  for (int64_t i = 0; i < n; i += kElements) {
    const int64_t count = std::min(kElements, n - i);
    const auto values = tl.load_async(x.ptr + i, {count});
    const auto first = static_cast<double>(y.offset[0] + i);
    const auto offsets = tl.arange(first, first + static_cast<double>(count), 1, DType::i64);
    const auto kept = tl.rand(args.integer("seed"), offsets) > p;
    tl.store_async(y.ptr + i, tl.where(kept, values * (1 / (1 - p)), 0.0));
  }
}

std::map<std::string, Expected> reference(const Params& p, const TensorMap& in) {
  Floats y = in.at("x").floats();
  const auto scale = static_cast<float>(1 / (1 - p.number("p")));
  for (size_t i = 0; i < y.size(); ++i) {
    const float drawn = uniform_of(philox(static_cast<uint64_t>(p.integer("seed")), i, 10)[0]);
    y[i] = drawn > static_cast<float>(p.number("p")) ? y[i] * scale : 0;
  }
  return {{"y", {HostTensor::from(p.dtype(), in.at("x").shape, y), {}}}};
}

KernelSpec spec() {
  KernelSpec s;
  s.name = "dropout";
  s.help = "y = x / (1 - p) where a random number exceeds p, else 0";
  s.params = {ParamSpec::size_over_pes("n", 1 << 20, "elements, split over the PEs"),
              ParamSpec::number("p", 0.5, 0, 0.999, "share of elements that are dropped"),
              ParamSpec::size("seed", 1, "seed of the random numbers"),
              ParamSpec::dtypes({DType::f32, DType::f16, DType::bf16})};
  s.tensors = {input("x", {"n"}, Placement::rows), output("y", {"n"}, Placement::rows)};
  s.function = dropout;
  s.reference = reference;
  return s;
}

const RegisterKernel registered{spec()};

}  // namespace
}  // namespace kernbench::kernels::dropout_kernel
