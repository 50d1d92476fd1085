// SPDX-License-Identifier: Apache-2.0
// The prefill of a Llama layer on each rank's PEs, as in models (platform/models/decoder_layer.h): rmsnorm, q k v in
// one GEMM, rope, attention with grouped heads, output projection, gated MLP, and both residual additions. The residual
// stream is split by rows, as the norms need it. GEMMs are two-dimensional with operands stored once per rank;
// redistribute() converts between both. Defaults are small; llama3-8b: tokens=2048 dim=4096 heads=32 kv_heads=8
// head_dim=128 hidden=14336 dtype=f16.
#include <cmath>

#include "kernbench/platform/models/decoder_layer.h"
#include "kernbench/platform/programs/common.h"

namespace kernbench::programs::llama_layer_program {
namespace {

using host::Layout;

const models::Way kWay{true};

struct Sizes {
  int64_t tokens, dim, heads, kv, head, hidden;
  int64_t half, width, qkv;  // of a head; of all heads of q; of q, k and v
  explicit Sizes(const Params& p)
      : tokens(p.integer("tokens")),
        dim(p.integer("dim")),
        heads(p.integer("heads")),
        kv(p.integer("kv_heads")),
        head(p.integer("head_dim")),
        hidden(p.integer("hidden")),
        half(head / 2),
        width(heads * head),
        qkv(width + 2 * kv * head) {}
};

void llama_layer(host::Context& h) {
  const Sizes s(h.params());
  models::LayerSizes sizes;
  sizes.rows = s.tokens;
  sizes.dim = s.dim;
  sizes.heads = s.heads;
  sizes.kv_heads = s.kv;
  sizes.head_dim = s.head;
  sizes.hidden = s.hidden;
  models::LayerWeights w;
  w.norm1 = h.input("w_norm1");
  w.norm2 = h.input("w_norm2");
  w.qkv = h.input("w_qkv");
  w.o = h.input("w_o");
  w.mlp.gate = h.input("w_gate");
  w.mlp.up = h.input("w_up");
  w.mlp.down = h.input("w_down");
  models::DecoderLayer(h, sizes, kWay).prefill(h.input("x"), h.output("y"), w, h.input("cos"), h.input("sin"));
}

std::map<std::string, Expected> reference(const Params& p, const TensorMap& in) {
  const Sizes s(p);
  const auto kernel = [](const char* name) -> const KernelSpec& { return KernelRegistry::instance().at(name); };
  const auto params = [&](const char* name, std::vector<std::pair<std::string, int64_t>> sizes) {
    Params q = kernel_params(kernel(name), {{"dtype", std::string(name_of(p.dtype()))}});
    for (const auto& [key, value] : sizes) q.set(key, value);
    return q;
  };
  const auto matrix = [&](const HostTensor& a, const char* b, int64_t n, const char* activation = "none") {
    Params q = params("gemm_2d", {{"m", s.tokens}, {"n", n}, {"k", a.shape[1]}});
    q.set("activation", std::string(activation));
    return kernel("gemm_2d").reference(q, {{"a", a}, {"b", in.at(b)}}).at("c").value;
  };
  const auto norm = [&](const HostTensor& x, const char* w) {
    Params q = params("rmsnorm", {{"rows", s.tokens}, {"cols", s.dim}});
    q.set("eps", 1e-5);
    return kernel("rmsnorm").reference(q, {{"x", x}, {"w", in.at(w)}}).at("y").value;
  };
  const auto binary = [&](const char* op, const HostTensor& x, const HostTensor& y) {
    Params q = params("elementwise", {{"rows", x.shape[0]}, {"cols", x.shape[1]}});
    q.set("op", std::string(op));
    return kernel("elementwise").reference(q, {{"x", x}, {"y", y}}).at("z").value;
  };
  const auto heads = [&](const char* name) {
    return params(name, {{"heads", s.heads}, {"kv_heads", s.kv}, {"dim", s.head}, {"seq", s.tokens}});
  };
  const HostTensor qkv = matrix(norm(in.at("x"), "w_norm1"), "w_qkv", s.qkv);
  const HostTensor turned =
      kernel("rope").reference(heads("rope"), {{"x", qkv}, {"cos", in.at("cos")}, {"sin", in.at("sin")}}).at("y").value;
  const HostTensor o = kernel("gqa_attention").reference(heads("gqa_attention"), {{"qkv", turned}}).at("o").value;
  const HostTensor x1 = binary("add", in.at("x"), matrix(o, "w_o", s.dim));
  const HostTensor n = norm(x1, "w_norm2");
  const HostTensor gated = binary("mul", matrix(n, "w_gate", s.hidden, "silu"), matrix(n, "w_up", s.hidden));
  Expected y{binary("add", x1, matrix(gated, "w_down", s.dim)), {}};
  // Between x and y there are eight roundings to the element type, of values about this large.
  const kernels::Floats first = in.at("x").floats();
  for (const float v : first) y.scale.push_back(8 * std::max(1.0F, std::abs(v)));
  return {{"y", std::move(y)}};
}

ProgramSpec spec() {
  ProgramSpec s;
  s.name = "llama_layer";
  s.help = "prefill of a Llama layer: norms, RoPE, attention with grouped heads, gated MLP, two-dimensional GEMMs";
  s.params = {ParamSpec::size("tokens", 64, "rows of x and y"),
              ParamSpec::size("dim", 64, "columns of x and y"),
              ParamSpec::size("heads", 4, "heads of q"),
              ParamSpec::size("kv_heads", 2, "heads of k and of v"),
              ParamSpec::size("head_dim", 16, "elements of a head"),
              ParamSpec::size("hidden", 128, "width of the MLP"),
              ParamSpec::dtypes({DType::f32, DType::f16, DType::bf16})};
  const Layout rows = kWay.stream(), weights = kWay.weights(), positions = kWay.positions();
  enum class Is { stream, table, norm, matrix };
  struct Row {
    const char* name;
    Is is;
    Layout layout;
    std::vector<int64_t Sizes::*> shape;
  };
  const Row all[] = {
      {"x", Is::stream, rows, {&Sizes::tokens, &Sizes::dim}},
      {"cos", Is::table, positions, {&Sizes::tokens, &Sizes::half}},
      {"sin", Is::table, positions, {&Sizes::tokens, &Sizes::half}},
      {"w_norm1", Is::norm, Layout(), {&Sizes::dim}},
      {"w_norm2", Is::norm, Layout(), {&Sizes::dim}},
      {"w_qkv", Is::matrix, weights, {&Sizes::dim, &Sizes::qkv}},
      {"w_o", Is::matrix, weights, {&Sizes::width, &Sizes::dim}},
      {"w_gate", Is::matrix, weights, {&Sizes::dim, &Sizes::hidden}},
      {"w_up", Is::matrix, weights, {&Sizes::dim, &Sizes::hidden}},
      {"w_down", Is::matrix, weights, {&Sizes::hidden, &Sizes::dim}},
      {"y", Is::stream, rows, {&Sizes::tokens, &Sizes::dim}},
  };
  for (const Row& row : all) {
    ProgramTensor t;
    t.name = row.name;
    t.role = t.name == "y" ? TensorSpec::Role::out : TensorSpec::Role::in;
    t.shape = [shape = row.shape](const Params& p) {
      const Sizes sizes(p);
      Dims d;
      for (const auto side : shape) d.push_back(sizes.*side);
      return d;
    };
    t.dtype = kernels::own_dtype;
    t.layout = row.layout;
    if (row.is == Is::matrix) t.init = Init::weights([shape = t.shape](const Params& p) { return shape(p)[0]; });
    t.already_there = row.is != Is::stream;
    s.tensors.push_back(std::move(t));
  }
  s.function = llama_layer;
  s.reference = reference;
  return s;
}

const RegisterProgram registered{spec()};

}  // namespace
}  // namespace kernbench::programs::llama_layer_program
