// SPDX-License-Identifier: Apache-2.0
// Self-attention with its heads split over the ranks: y = attention(x wq, x wk, x wv) wo. Projections are split by
// columns, the last layer by rows. So intermediate values stay on their rank, and one all_reduce sums the results.
#include <algorithm>
#include <cmath>

#include "kernbench/phase2/op/errors.h"
#include "kernbench/platform/programs/common.h"

namespace kernbench::programs::tp_attention_program {
namespace {

int64_t width(const Params& p) {
  return p.integer("heads") * p.integer("dim");
}

void tp_attention(host::Context& h) {
  const int64_t heads = h.integer("heads");
  if (heads % h.num_ranks() != 0)
    throw InputError("program tp_attention: " + std::to_string(h.num_ranks()) + " ranks do not divide " +
                     std::to_string(heads) + " heads");
  const host::Tensor x = h.input("x");
  const auto by_heads = [&](const char* name) {
    return h.tensor(x.dtype(), x.shape(), host::columns_of_ranks(), name);
  };
  const host::Tensor q = by_heads("q"), k = by_heads("k"), v = by_heads("v"), o = by_heads("o");
  host::column_parallel_linear(h, x, h.input("wq"), q);
  host::column_parallel_linear(h, x, h.input("wk"), k);
  host::column_parallel_linear(h, x, h.input("wv"), v);
  h.launch(h.ranks(), "attention_columns",
           {{"dim", std::to_string(h.integer("dim"))},
            {"heads", std::to_string(heads)},
            {"causal", h.flag("causal") ? "true" : "false"}},
           {{"q", q}, {"k", k}, {"v", v}, {"o", o}});
  host::row_parallel_linear(h, o, h.input("wo"), h.output("y"), h.params().choice("algorithm"));
}

std::map<std::string, Expected> reference(const Params& p, const TensorMap& in) {
  const int64_t seq = p.integer("seq"), n = width(p);
  const kernels::Floats x = in.at("x").floats();
  TensorMap projected;
  for (const char* name : {"q", "k", "v"}) {
    const kernels::Floats w = in.at(std::string("w") + name).floats();
    projected[name] = HostTensor::from(p.dtype(), {seq, n}, kernels::matmul(x, w, seq, n, n));
  }
  const Expected attended = KernelRegistry::instance().at("attention_columns").reference(p, projected).at("o");
  const kernels::Floats o = attended.value.floats(), wo = in.at("wo").floats();
  // The tolerance of o passes through the last layer too.
  kernels::Floats off = attended.scale;
  for (size_t i = 0; i < off.size(); ++i) off[i] = std::max(off[i], std::abs(o[i]));
  return {{"y",
           {HostTensor::from(p.dtype(), {seq, n}, kernels::matmul(o, wo, seq, n, n)),
            kernels::gemm_error_scale(off, wo, seq, n, n)}}};
}

ProgramSpec spec() {
  ProgramSpec s;
  s.name = "tp_attention";
  s.help = "y = attention(x wq, x wk, x wv) wo, with heads split over the ranks";
  s.params = {ParamSpec::size("heads", 6, "heads; the ranks must divide them"),
              ParamSpec::size("seq", 64, "rows of x and y, split over the PEs of each rank"),
              ParamSpec::size("dim", 32, "elements of a head: x and y have heads · dim columns"),
              ParamSpec::flag("causal", false, "causal mask: a query sees no later keys"),
              algorithm_of("all_reduce"),
              ParamSpec::dtypes({DType::f32, DType::f16, DType::bf16})};
  s.params[2].max = 8192;
  const auto rows = [](const Params& p) { return Dims{p.integer("seq"), width(p)}; };
  const auto square = [](const Params& p) { return Dims{width(p), width(p)}; };
  const auto add = [&](const char* name, TensorSpec::Role role, const auto& shape, const host::Layout& layout) {
    ProgramTensor t;
    t.name = name;
    t.role = role;
    t.shape = shape;
    t.dtype = kernels::own_dtype;
    t.layout = layout;
    if (name[0] == 'w') t.init = Init::weights(width);
    s.tensors.push_back(std::move(t));
  };
  add("x", TensorSpec::Role::in, rows, host::rows_of_pes());
  for (const char* name : {"wq", "wk", "wv"}) add(name, TensorSpec::Role::in, square, host::rank_shard(1));
  add("wo", TensorSpec::Role::in, square, host::rank_shard(0));
  add("y", TensorSpec::Role::out, rows, host::rows_of_pes());
  s.function = tp_attention;
  s.reference = reference;
  return s;
}

const RegisterProgram registered{spec()};

}  // namespace
}  // namespace kernbench::programs::tp_attention_program
