// SPDX-License-Identifier: Apache-2.0
// counts[v] = how many elements of x are v, in one array that all PEs share: an atomic for each element, or a PE's own
// histogram of a block and one atomic add of that. Values outside of the bins count nowhere.
#include <algorithm>

#include "kernbench/kernel_api/kernels/common.h"

namespace kernbench::kernels::histogram_kernel {
namespace {

constexpr int64_t kElements = 4096;  // of a block

void histogram(tl::Context& tl, const tl::Args& args) {
  const tl::View& x = args["x"];
  if (x.empty()) return;
  const tl::View& counts = args["counts"];
  const int64_t bins = args.integer("bins");
  const bool local = args.choice("method") == "local";
  for (int64_t i = 0; i < x.shape[0]; i += kElements) {
    const int64_t count = std::min(kElements, x.shape[0] - i);
    const auto values = tl.load(x.ptr + i, {count});
    if (local) {
      tl.async().red_add(counts, tl.histogram(values, bins), {}, tl::Sem::relaxed);
      continue;
    }
    std::vector<uint8_t> has_bin;
    for (const int64_t v : values.to_vector<int64_t>()) has_bin.push_back(v >= 0 && v < bins);
    tl.async().red_add(counts.ptr, values, 1, tl.tensor(has_bin, {count}, DType::u8), tl::Sem::relaxed);
  }
}

std::map<std::string, Expected> reference(const Params& p, const TensorMap& in) {
  std::vector<int32_t> counts = in.at("counts").ints();
  for (const int32_t v : in.at("x").ints()) {
    if (v >= 0 && v < p.integer("bins")) ++counts[static_cast<size_t>(v)];
  }
  return {{"counts", {HostTensor::from(DType::i32, {p.integer("bins")}, counts), {}}}};
}

KernelSpec spec() {
  KernelSpec s;
  s.name = "histogram";
  s.help = "counts[v] += number of elements of x equal to v, by atomics on one array";
  s.params = {ParamSpec::size("n", 1 << 14, "elements, split over the PEs"),
              ParamSpec::size("bins", 64, "size of counts"),
              ParamSpec::choice("method", {"atomics", "local"},
                                "update: an atomic for each element, or one add of the histogram of each block")
                  .tuning()};
  const auto i32 = [](const Params&) { return DType::i32; };
  s.tensors = {{"x", TensorSpec::Role::in, dims({"n"}), i32, Placement::rows, Init::index(value_of("bins"))},
               zeroed("counts", dims({"bins"}), DType::i32)};
  s.function = histogram;
  s.reference = reference;
  return s;
}

const RegisterKernel registered{spec()};

}  // namespace
}  // namespace kernbench::kernels::histogram_kernel
