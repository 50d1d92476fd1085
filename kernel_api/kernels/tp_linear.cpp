// y = activation(x · w): what each rank does of a tensor-parallel linear layer; its tensors may be shards of any layout
// (collectives contract §12.8, §13.7).
#include "kernbench/kernel_api/kernels/common.h"

namespace kernbench::kernels {
namespace {

void tp_linear(tl::Context& tl, const tl::Args& args) {
  if (args["y"].empty()) return;
  auto fused = tl::gemm(args["x"].block(), args["w"].block())
                   .tiles(args.integer("tile_m"), args.integer("tile_n"), args.integer("tile_k"))
                   .out(args["y"]);
  const std::string& activation = args.choice("activation");
  if (activation != "none") fused.then(activation);
  tl.wait(tl.composite(fused));
}

std::map<std::string, Expected> reference(const Params& p, const TensorMap& in) {
  const int64_t m = p.integer("m"), n = p.integer("n"), k = p.integer("k");
  const Floats x = in.at("x").floats(), w = in.at("w").floats();
  Floats y = matmul(x, w, m, n, k);
  for (float& v : y) v = activate(p.choice("activation"), v);
  return {{"y", {HostTensor::from(p.dtype(), {m, n}, y), gemm_error_scale(x, w, m, n, k)}}};
}

KernelSpec spec() {
  KernelSpec s;
  s.name = "tp_linear";
  s.help = "y = activation(x w), on shards of any layout";
  s.params = {ParamSpec::size("m", 256, "rows of x and y, split over the PEs"),
              ParamSpec::size("n", 256, "columns of w and y"),
              ParamSpec::size("k", 256, "columns of x, rows of w"),
              ParamSpec::choice("activation", {"none", "relu", "gelu", "silu"}, "fused behind the product"),
              ParamSpec::size("tile_m", 32, "rows of a tile"),
              ParamSpec::size("tile_n", 32, "columns of a tile"),
              ParamSpec::size("tile_k", 64, "depth of a tile"),
              ParamSpec::dtypes({DType::f32, DType::f16, DType::bf16})};
  s.tensors = {input("x", {"m", "k"}, Placement::rows),
               input("w", {"k", "n"}, Placement::replicate, Init::weights(value_of("k"))),
               output("y", {"m", "n"}, Placement::rows)};
  s.function = tp_linear;
  s.reference = reference;
  s.any_shape = true;
  return s;
}

const RegisterKernel registered{spec()};

}  // namespace
}  // namespace kernbench::kernels
