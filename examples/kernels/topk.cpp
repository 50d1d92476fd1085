// SPDX-License-Identifier: Apache-2.0
// The k largest elements of every row and where they are, the greatest first; a row must fit a PE's TCM.
#include <algorithm>
#include <numeric>

#include "kernbench/kernel_api/kernels/common.h"
#include "kernbench/kernel_api/kernels/order.h"

namespace kernbench::kernels::topk_kernel {
namespace {

constexpr int64_t kElements = 16384;  // of a block

void topk(tl::Context& tl, const tl::Args& args) {
  if (args["values"].empty()) return;
  const tl::Block x = args["x"];
  const tl::Block values = args["values"];
  const tl::Block indices = args["indices"];
  const int64_t rows = x.shape()[0];
  const int64_t k = args.integer("k");
  const int64_t step = std::max<int64_t>(1, kElements / x.shape()[1]);
  for (int64_t i = 0; i < rows; i += step) {
    const int64_t count = std::min(step, rows - i);
    const auto block = tl.load(x.rows(i, count));
    const tl::Tensor first = tl.copy(tl.argsort(block, 1, true).slice(1, 0, k));
    tl.store_async(indices.rows(i, count), first);
    tl.store_async(values.rows(i, count), tl.gather(block, first, 1));
  }
}

std::map<std::string, Expected> reference(const Params& p, const TensorMap& in) {
  const int64_t rows = p.integer("rows"), cols = p.integer("cols"), k = p.integer("k");
  std::vector<int32_t> indices;
  const auto greatest = [&](const auto& x) {
    auto values = x;
    values.clear();
    for (int64_t r = 0; r < rows; ++r) {
      std::vector<int32_t> places(static_cast<size_t>(cols));
      std::iota(places.begin(), places.end(), 0);
      const auto* row = x.data() + r * cols;
      std::stable_sort(places.begin(), places.end(),
                       [row](int32_t a, int32_t b) { return order::comes_before(row[b], row[a]); });
      for (int64_t i = 0; i < k; ++i) {
        indices.push_back(places[static_cast<size_t>(i)]);
        values.push_back(row[indices.back()]);
      }
    }
    return HostTensor::from(p.dtype(), {rows, k}, values);
  };
  HostTensor values = is_float(p.dtype()) ? greatest(in.at("x").floats()) : greatest(in.at("x").ints());
  return {{"values", {std::move(values), {}}}, {"indices", {HostTensor::from(DType::i32, {rows, k}, indices), {}}}};
}

KernelSpec spec() {
  KernelSpec s;
  s.name = "topk";
  s.help = "the k largest elements of each row and their indices";
  s.params = {ParamSpec::size_over_pes("rows", 1024, "rows, split over the PEs"),
              ParamSpec::size("cols", 256, "columns"), ParamSpec::size("k", 8, "elements kept for each row"),
              ParamSpec::dtypes({DType::f32, DType::f16, DType::bf16, DType::i32})};
  s.tensors = {input("x", {"rows", "cols"}, Placement::rows), output("values", {"rows", "k"}, Placement::rows),
               output("indices", {"rows", "k"}, Placement::rows, [](const Params&) { return DType::i32; })};
  s.function = topk;
  s.prepare = [](Params* p, const LaunchCosts&, LaunchNotes*) {
    if (p->integer("k") > p->integer("cols"))
      throw BadParam("kernel topk: k=" + std::to_string(p->integer("k")) +
                     " is more than cols=" + std::to_string(p->integer("cols")));
  };
  s.reference = reference;
  return s;
}

const RegisterKernel registered{spec()};

}  // namespace
}  // namespace kernbench::kernels::topk_kernel
