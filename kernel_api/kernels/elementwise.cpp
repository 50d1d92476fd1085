// SPDX-License-Identifier: Apache-2.0
// z = op(x, y), elementwise, on a PE's parts of both.
#include <algorithm>

#include "kernbench/kernel_api/kernels/common.h"
#include "kernbench/kernel_api/kernels/order.h"
#include "kernbench/kernel_api/pe_backend.h"

namespace kernbench::kernels::elementwise_kernel {
namespace {

/// All axes but the last are flattened.
tl::Block as_matrix(const tl::View& v) {
  const int64_t cols = v.shape.rank() == 0 ? 1 : v.shape[v.shape.rank() - 1];
  return v.ptr.block({v.shape.elements() / cols, cols});
}

void elementwise(tl::Context& tl, const tl::Args& args) {
  const tl::View &x = args["x"], &y = args["y"], &z = args["z"];
  if (z.empty()) return;
  if (x.shape != z.shape || y.shape != z.shape || x.offset != z.offset || y.offset != z.offset)
    throw KernelFault("elementwise: the PE's parts of x, y and z are not alike");
  tl.wait(tl.composite(tl::elementwise(args.choice("op"), {as_matrix(x), as_matrix(y)})
                           .tiles(args.integer("tile_m"), args.integer("tile_n"))
                           .out(as_matrix(z))));
}

KernelSpec spec() {
  KernelSpec s;
  s.name = "elementwise";
  s.help = "z = op(x, y) elementwise, each PE on its parts";
  s.params = {ParamSpec::size("rows", 256, "rows of x, y and z, split over the PEs"),
              ParamSpec::size("cols", 256, "columns of x, y and z"),
              ParamSpec::choice("op", {"add", "sub", "mul", "maximum", "minimum"}, "elementwise op"),
              ParamSpec::size("tile_m", 16, "rows of a tile").tuning(),
              ParamSpec::size("tile_n", 1024, "columns of a tile").tuning(),
              ParamSpec::dtypes({DType::f32, DType::f16, DType::bf16, DType::i32})};
  s.tensors = {input("x", {"rows", "cols"}, Placement::rows), input("y", {"rows", "cols"}, Placement::rows),
               output("z", {"rows", "cols"}, Placement::rows)};
  s.any_shape = true;
  s.function = elementwise;
  s.reference = [](const Params& p, const TensorMap& in) {
    const std::string& op = p.choice("op");
    const auto result = [&](auto a, auto b) {
      if (op == "maximum") return order::maximum(a, b);
      if (op == "minimum") return order::minimum(a, b);
      return op == "add" ? a + b : op == "sub" ? a - b : a * b;
    };
    const HostTensor &x = in.at("x"), &y = in.at("y");
    HostTensor z;
    if (is_float(p.dtype())) {
      Floats a = x.floats();
      const Floats b = y.floats();
      for (size_t i = 0; i < a.size(); ++i) a[i] = result(a[i], b[i]);
      z = HostTensor::from(p.dtype(), x.shape, a);
    } else {
      std::vector<int32_t> a = x.ints();
      const std::vector<int32_t> b = y.ints();
      for (size_t i = 0; i < a.size(); ++i)  // wider, so that an overflow wraps
        a[i] = static_cast<int32_t>(static_cast<uint64_t>(result(int64_t{a[i]}, int64_t{b[i]})));
      z = HostTensor::from(p.dtype(), x.shape, a);
    }
    return std::map<std::string, Expected>{{"z", {std::move(z), {}}}};
  };
  return s;
}

const RegisterKernel registered{spec()};

}  // namespace
}  // namespace kernbench::kernels::elementwise_kernel
