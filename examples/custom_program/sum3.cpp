// SPDX-License-Identifier: Apache-2.0
// y = a + b + c by two launches of a kernel that adds two vectors, with what a driver costs between them.
#include "kernbench/kernel_api/plugin.h"
#include "kernbench/platform/host/context.h"

namespace {
using namespace kernbench;

/// Over ranks (SIPs), the cubes of each, and their PEs.
const host::Layout kEverywhere = host::rank_shard(0).cube(host::shard(0)).pe(host::shard(0));

void sum3(host::Context& h) {
  const host::Tensor a = h.input("a");
  const host::Tensor sum = h.tensor(a.dtype(), a.shape(), kEverywhere);  // stays in memory from launch to launch
  h.launch(h.ranks(), "vector_add", {}, {{"a", a}, {"b", h.input("b")}, {"c", sum}});
  h.delay(h.ranks(), h.params().number("driver_ns"));
  h.launch(h.ranks(), "vector_add", {}, {{"a", sum}, {"b", h.input("c")}, {"c", h.output("y")}});
}  // at its end the program waits for what it has enqueued

ProgramSpec spec() {
  ProgramSpec p;
  p.name = "sum3";
  p.help = "y = a + b + c";
  p.params = {ParamSpec::size("n", 4096, "elements, split over all PEs"),
              ParamSpec::number("driver_ns", 500, 0, 1e9, "of the host between two launches, ns")};
  for (const char* name : {"a", "b", "c", "y"}) {
    ProgramTensor t;
    t.name = name;
    t.role = name[0] == 'y' ? TensorSpec::Role::out : TensorSpec::Role::in;
    t.shape = [](const Params& params) { return Dims{params.integer("n")}; };
    t.dtype = [](const Params&) { return DType::f32; };
    t.layout = kEverywhere;
    p.tensors.push_back(t);
  }
  p.function = sum3;
  p.reference = [](const Params&, const TensorMap& in) {
    std::vector<float> y = in.at("a").floats();
    const std::vector<float> b = in.at("b").floats(), c = in.at("c").floats();
    for (size_t i = 0; i < y.size(); ++i) y[i] = (y[i] + b[i]) + c[i];
    return std::map<std::string, Expected>{{"y", {HostTensor::from(DType::f32, in.at("a").shape, y), {}}}};
  };
  return p;
}

const RegisterProgram registered{spec()};
}  // namespace

KERNBENCH_PLUGIN("sum3")
