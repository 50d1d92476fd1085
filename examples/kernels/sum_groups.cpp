// SPDX-License-Identifier: Apache-2.0
// y[g] = the sum, or another reduction, of x over the PEs of group g: each PE is a source of a reduction on the way.
// Routers that declare `reduces` add up the messages that meet there, so the last links carry a group's sum once.
#include <algorithm>
#include <cmath>
#include <limits>

#include "kernbench/kernel_api/kernels/common.h"

namespace kernbench::kernels::sum_groups_kernel {
namespace {

int64_t pes(const Params& p) {
  return p.launch() == nullptr ? 1 : static_cast<int64_t>(p.launch()->pes.size());
}
int64_t group_size(const Params& p) {
  return p.integer("group") == 0 ? pes(p) : p.integer("group");
}

void sum_groups(tl::Context& tl, const tl::Args& args) {
  const int64_t size = group_size(args.params()), group = tl.index() / size, n = args.integer("n");
  std::vector<int64_t> members;
  for (int64_t i = group * size; i < std::min(tl.size(), (group + 1) * size); ++i) members.push_back(i);
  const tl::ReduceGroup sources("row " + std::to_string(group), static_cast<int64_t>(members.size()), members);
  const tl::Block y = (args["y"].ptr + group * n).block({n});
  for (int64_t i = 0; i < args.integer("times"); ++i) {
    const tl::Tensor x = tl.load(args["x"].ptr, {n});
    tl.red(args.choice("op").c_str(), y, args.flag("pending") ? tl.abs(x) : x, sources, tl::Sem::acq_rel);
  }
}

Dims shape_of_y(const Params& p) {
  return {(pes(p) + group_size(p) - 1) / group_size(p), p.integer("n")};
}

std::map<std::string, Expected> reference(const Params& p, const TensorMap& in) {
  const std::vector<float> x = in.at("x").floats();
  const Dims shape = shape_of_y(p);
  const auto n = static_cast<size_t>(shape[1]);
  std::vector<float> y(static_cast<size_t>(shape.elements())), scale(y.size());
  for (size_t i = 0; i < x.size(); ++i) {
    const float v = p.flag("pending") ? std::abs(x[i]) : x[i];
    float& sum = y[i / n / static_cast<size_t>(group_size(p)) * n + i % n];
    for (int64_t t = 0; t < p.integer("times"); ++t) {
      sum = p.choice("op") == "add" ? sum + v : p.choice("op") == "max" ? std::max(sum, v) : std::min(sum, v);
      scale[static_cast<size_t>(&sum - y.data())] += std::abs(v);
    }
  }
  return {{"y", {HostTensor::from(p.dtype(), shape, y), scale}}};
}

KernelSpec spec() {
  KernelSpec s;
  s.name = "sum_groups";
  s.help = "y = reduction of x over groups of PEs, on the way into memory";
  s.params = {ParamSpec::size("n", 1024, "elements of a PE"),
              ParamSpec::size("group", 0, "PEs of a group; 0: all"),
              ParamSpec::size("times", 1, "operations of a group"),
              ParamSpec::choice("op", {"add", "max", "min"}, "the reduction"),
              ParamSpec::flag("pending", false, "reduce |x|, which Phase 2 computes"),
              ParamSpec::dtypes({DType::f32, DType::f16, DType::bf16})};
  s.params[1].min = 0;
  TensorSpec x = input("x", {"n"}, Placement::rows), y = zeroed("y", shape_of_y, DType::f32);
  x.shape = [](const Params& p) { return Dims{pes(p), p.integer("n")}; };
  y.dtype = own_dtype;
  y.fill = [](const Params& p, uint64_t) { return HostTensor(p.dtype(), shape_of_y(p)); };
  s.tensors = {x, y};
  s.function = sum_groups;
  s.reference = reference;
  return s;
}

const RegisterKernel registered{spec()};

}  // namespace
}  // namespace kernbench::kernels::sum_groups_kernel
