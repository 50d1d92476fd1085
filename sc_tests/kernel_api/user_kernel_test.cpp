// SPDX-License-Identifier: Apache-2.0
// The kernel of docs/kernels.md, word for word, registered from outside the library.
#include <gtest/gtest.h>

#include "kernbench/kernel_api/registry.h"
#include "kernbench/kernel_api/tl.h"
#include "kernel_harness.h"

namespace {
using namespace kernbench;

void scale_rows(tl::Context& tl, const tl::Args& args) {
  if (args["y"].empty()) return;  // fewer rows than PEs: this one is idle
  const tl::Block x = args["x"];  // this PE's rows, in its HBM slice
  const tl::Block y = args["y"];
  const auto s = tl.load(args["s"]);  // [rows], real data: may be read
  for (int64_t r = 0; r < x.shape()[0]; ++r) {
    if (s(r) == 1) {  // branch on what was loaded
      tl.store(y.rows(r, 1), tl.load(x.rows(r, 1)));
    } else {
      tl.store(y.rows(r, 1), tl.load(x.rows(r, 1)) * s.slice(0, r, 1));
    }
  }
}

KernelSpec spec() {
  KernelSpec k;
  k.name = "scale_rows";
  k.help = "y = x * s, row by row";
  k.params = {ParamSpec::size("rows", 256, "rows, split over the PEs"), ParamSpec::size("cols", 64, "columns"),
              ParamSpec::dtypes({DType::f32, DType::f16})};
  const auto dtype = [](const Params& p) { return p.dtype(); };
  const auto matrix = [](const Params& p) { return Dims{p.integer("rows"), p.integer("cols")}; };
  const auto vector = [](const Params& p) { return Dims{p.integer("rows")}; };
  k.tensors = {{"x", TensorSpec::Role::in, matrix, dtype, Placement::rows, Init::uniform()},
               {"s", TensorSpec::Role::in, vector, dtype, Placement::rows, Init::uniform()},
               {"y", TensorSpec::Role::out, matrix, dtype, Placement::rows, {}}};
  k.function = scale_rows;
  k.reference = [](const Params& p, const TensorMap& in) {  // plain arithmetic over the whole tensors
    std::vector<float> y = in.at("x").floats();
    const std::vector<float> s = in.at("s").floats();
    for (size_t i = 0; i < y.size(); ++i) y[i] *= s[i / static_cast<size_t>(p.integer("cols"))];
    return std::map<std::string, Expected>{{"y", {HostTensor::from(p.dtype(), in.at("x").shape, y), {}}}};
  };
  return k;
}

const RegisterKernel registered{spec()};  // the one line that makes it known
}  // namespace

namespace kernbench::testing {
namespace {

TEST(UserKernel, registers_from_an_executable_and_verifies) {
  for (uint32_t pes : {1, 3, 8}) {
    RunOptions o;
    o.pes = pes;
    for (const char* t : {"f32", "f16"}) expect_verified("scale_rows", {{"rows", "5"}, {"cols", "9"}, {"dtype", t}}, o);
  }
}

TEST(UserKernel, takes_the_branch_that_loaded_data_chooses) {
  RunOptions o;
  o.pes = 1;
  o.inputs["s"] = HostTensor::from(DType::f32, {2}, std::vector<float>{1, 2});
  const KernelRun run = run_kernel("scale_rows", {{"rows", "2"}, {"cols", "3"}}, o);
  std::vector<std::string> names;
  for (const auto& c : run.commands[0]) names.push_back(c->name);
  EXPECT_EQ(names, (std::vector<std::string>{"dma_read", "dma_read", "dma_write", "dma_read", "mul", "dma_write"}));
}

}  // namespace
}  // namespace kernbench::testing
