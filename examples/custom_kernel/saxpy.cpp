// SPDX-License-Identifier: Apache-2.0
// z = alpha x + y on every PE, each on its part.
#include "kernbench/kernel_api/plugin.h"
#include "kernbench/kernel_api/registry.h"
#include "kernbench/kernel_api/tl.h"

namespace {
using namespace kernbench;

void saxpy(tl::Context& tl, const tl::Args& args) {
  if (args["y"].empty()) return;                      // fewer elements than PEs: this one is idle
  const auto x = tl.load_async(args["x"]);            // this PE's part, from its HBM slice to its TCM
  const auto y = tl.load_async(args["y"]);            // both loads are in flight at once
  tl.store(args["z"], x * args.number("alpha") + y);  // waits for them; the sum is timed now, computed later
}

KernelSpec spec() {
  KernelSpec k;
  k.name = "saxpy";
  k.help = "z = alpha x + y";
  k.params = {ParamSpec::size("n", 4096, "elements, split over the PEs"),
              ParamSpec::number("alpha", 2, -100, 100, "factor")};
  const auto shape = [](const Params& p) { return Dims{p.integer("n")}; };
  const auto f32 = [](const Params&) { return DType::f32; };
  k.tensors = {{"x", TensorSpec::Role::in, shape, f32, Placement::rows, Init::uniform()},
               {"y", TensorSpec::Role::in, shape, f32, Placement::rows, Init::uniform()},
               {"z", TensorSpec::Role::out, shape, f32, Placement::rows, {}}};
  k.function = saxpy;
  k.reference = [](const Params& p, const TensorMap& in) {  // what z must be, over the whole tensors
    const std::vector<float> x = in.at("x").floats();
    std::vector<float> z = in.at("y").floats();
    for (size_t i = 0; i < z.size(); ++i) z[i] += static_cast<float>(p.number("alpha")) * x[i];
    return std::map<std::string, Expected>{{"z", {HostTensor::from(DType::f32, in.at("y").shape, z), {}}}};
  };
  return k;
}

const RegisterKernel registered{spec()};
}  // namespace

KERNBENCH_PLUGIN("saxpy")
