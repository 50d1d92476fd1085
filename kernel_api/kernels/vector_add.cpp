// SPDX-License-Identifier: Apache-2.0
// c = a + b, elementwise. Each PE adds its contiguous part, block by block.
#include <algorithm>

#include "kernbench/kernel_api/kernels/common.h"

namespace kernbench::kernels::vector_add_kernel {
namespace {

constexpr int64_t kBlock = 16384;

void vector_add(tl::Context& tl, const tl::Args& args) {
  const tl::View& a = args["a"];
  const tl::View& b = args["b"];
  const tl::View& c = args["c"];
  if (c.empty()) return;
  const int64_t n = c.shape[0];
  for (int64_t i = 0; i < n; i += kBlock) {
    const int64_t count = std::min(kBlock, n - i);
    // Both loads are in flight at once; the sum waits for them.
    const auto x = tl.load_async(a.ptr + i, {count});
    const auto y = tl.load_async(b.ptr + i, {count});
    tl.store(c.ptr + i, x + y);
  }
}

std::map<std::string, Expected> reference(const Params& p, const TensorMap& in) {
  const Dims shape = in.at("a").shape;
  if (!is_float(p.dtype())) {
    std::vector<int32_t> sum = in.at("a").ints();
    const std::vector<int32_t> b = in.at("b").ints();
    for (size_t i = 0; i < sum.size(); ++i) {
      sum[i] = static_cast<int32_t>(static_cast<uint32_t>(sum[i]) + static_cast<uint32_t>(b[i]));
    }
    return {{"c", {HostTensor::from(p.dtype(), shape, sum), {}}}};
  }
  Floats sum = in.at("a").floats();
  const Floats b = in.at("b").floats();
  for (size_t i = 0; i < sum.size(); ++i) sum[i] += b[i];
  return {{"c", {HostTensor::from(p.dtype(), shape, sum), {}}}};
}

KernelSpec spec() {
  KernelSpec s;
  s.name = "vector_add";
  s.help = "c = a + b, elementwise";
  s.params = {ParamSpec::size_over_pes("n", 65536, "elements, split over the PEs"),
              ParamSpec::dtypes({DType::f32, DType::f16, DType::bf16, DType::i8, DType::i16, DType::i32, DType::u8},
                                "element type; integers wrap")};
  s.tensors = {input("a", {"n"}, Placement::rows), input("b", {"n"}, Placement::rows),
               output("c", {"n"}, Placement::rows)};
  s.function = vector_add;
  s.reference = reference;
  return s;
}

const RegisterKernel registered{spec()};

}  // namespace
}  // namespace kernbench::kernels::vector_add_kernel
