// SPDX-License-Identifier: Apache-2.0
#include "kernbench/kernel_api/kernels/common.h"

#include <Eigen/Core>
#include <cmath>
#include <stdexcept>

#include "kernbench/kernel_api/kernels/activations.h"
#include "kernbench/phase2/op/math_op.h"

namespace kernbench::kernels {

namespace {

template <class T>
using Matrix = Eigen::Matrix<T, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;
template <class T>
using In = Eigen::Map<const Matrix<T>>;

template <class T>
std::vector<T> product(const std::vector<T>& a, const std::vector<T>& b, int64_t m, int64_t n, int64_t k) {
  std::vector<T> c(static_cast<size_t>(m * n));
  Eigen::Map<Matrix<T>>(c.data(), m, n).noalias() = In<T>(a.data(), m, k) * In<T>(b.data(), k, n);
  return c;
}

}  // namespace

std::function<Dims(const Params&)> dims(std::vector<std::string> params) {
  return [names = std::move(params)](const Params& p) {
    Dims d;
    for (const std::string& n : names) d.push_back(p.integer(n));
    return d;
  };
}

DType own_dtype(const Params& p) {
  return p.dtype();
}

DType type_or_own(const Params& p, const std::string& param) {
  const std::string& name = p.choice(param);
  return name == kOwnType ? p.dtype() : *parse_dtype(name);
}

DType gemm_out_dtype(const Params& p) {
  return is_float(p.dtype()) ? p.dtype() : DType::i32;
}

std::function<int64_t(const Params&)> value_of(const std::string& param) {
  return [param](const Params& p) { return p.integer(param); };
}

TensorSpec input(const std::string& name, std::vector<std::string> shape, Placement placement, Init init) {
  return {name, TensorSpec::Role::in, dims(std::move(shape)), own_dtype, placement, std::move(init)};
}

TensorSpec output(const std::string& name, std::vector<std::string> shape, Placement placement,
                  std::function<DType(const Params&)> dtype) {
  return {name, TensorSpec::Role::out, dims(std::move(shape)), std::move(dtype), placement, {}};
}

TensorSpec zeroed(const std::string& name, std::function<Dims(const Params&)> shape, DType dtype) {
  TensorSpec t{
      name, TensorSpec::Role::in_out, std::move(shape), [dtype](const Params&) { return dtype; }, Placement::single,
      {}};
  t.fill = [of = t.shape, dtype](const Params& p, uint64_t) { return HostTensor(dtype, of(p)); };
  return t;
}

TensorSpec placed(TensorSpec t, std::function<host::Layout(const Params&)> layout) {
  t.shards = [dtype = t.dtype, shape = t.shape, layout = std::move(layout)](const Params& p) {
    return host::plan_shards(layout(p), dtype(p), shape(p), p.launch());
  };
  return t;
}

TensorSpec placed(TensorSpec t, const host::Layout& layout) {
  return placed(std::move(t), [layout](const Params&) { return layout; });
}

tl::Loaded gather_rows(tl::Context& tl, const tl::Ptr& from, const tl::Loaded& index, int64_t width) {
  std::vector<uint8_t> has_row;
  for (const int64_t row : index.to_vector<int64_t>()) has_row.push_back(row != -1);
  return tl.gather(from, index, tl.tensor(has_row, index.shape(), DType::u8), 0, width);
}

void add_gemm_interface(KernelSpec* spec) {
  spec->params = {ParamSpec::size_over_pes("m", 1024, "rows of a and c, split over the PEs"),
                  ParamSpec::size("n", 256, "columns of b and c"),
                  ParamSpec::size("k", 256, "columns of a, rows of b"),
                  ParamSpec::size("tile_m", 32, "rows of a tile").tuning(),
                  ParamSpec::size("tile_n", 32, "columns of a tile").tuning(),
                  ParamSpec::size("tile_k", 64, "depth of a tile").tuning(),
                  ParamSpec::dtypes({DType::f32, DType::f16, DType::bf16, DType::i8},
                                    "element type of a and b; c has it too, i32 for i8")};
  spec->tensors = {input("a", {"m", "k"}, Placement::rows),
                   input("b", {"k", "n"}, Placement::replicate, Init::weights(value_of("k"))),
                   output("c", {"m", "n"}, Placement::rows, gemm_out_dtype)};
}

std::vector<MatrixProduct> product_of_mnk(const Params& p) {
  return {{p.integer("m"), p.integer("n"), p.integer("k")}};
}

Expected gemm_reference(const Params& p, const TensorMap& in) {
  const int64_t m = p.integer("m");
  const int64_t n = p.integer("n");
  const int64_t k = p.integer("k");
  if (!is_float(p.dtype())) {
    return {HostTensor::from(DType::i32, {m, n}, matmul(in.at("a").ints(), in.at("b").ints(), m, n, k)), {}};
  }
  const Floats a = in.at("a").floats();
  const Floats b = in.at("b").floats();
  return {HostTensor::from(p.dtype(), {m, n}, matmul(a, b, m, n, k)), gemm_error_scale(a, b, m, n, k)};
}

HostTensor rows_by_index(const HostTensor& x, const HostTensor& index, const Dims& shape) {
  const std::vector<int32_t> rows = index.ints();
  HostTensor y(x.dtype, shape);
  const size_t row = y.bytes.size() / rows.size();
  for (size_t i = 0; i < rows.size(); ++i) {
    if (rows[i] < 0) continue;
    std::copy_n(x.bytes.begin() + static_cast<std::ptrdiff_t>(static_cast<size_t>(rows[i]) * row), row,
                y.bytes.begin() + static_cast<std::ptrdiff_t>(i * row));
  }
  return y;
}

Floats matmul(const Floats& a, const Floats& b, int64_t m, int64_t n, int64_t k) {
  return product(a, b, m, n, k);
}

std::vector<int32_t> matmul(const std::vector<int32_t>& a, const std::vector<int32_t>& b, int64_t m, int64_t n,
                            int64_t k) {
  // Unsigned, so that an overflow wraps like in the accumulator.
  const std::vector<uint32_t> c =
      product(std::vector<uint32_t>(a.begin(), a.end()), std::vector<uint32_t>(b.begin(), b.end()), m, n, k);
  return {c.begin(), c.end()};
}

Floats gemm_error_scale(const Floats& a, const Floats& b, int64_t m, int64_t n, int64_t k) {
  Floats c(static_cast<size_t>(m * n));
  const Matrix<float> abs_a = In<float>(a.data(), m, k).cwiseAbs();
  const Matrix<float> abs_b = In<float>(b.data(), k, n).cwiseAbs();
  Eigen::Map<Matrix<float>>(c.data(), m, n) = abs_a * abs_b / std::sqrt(static_cast<float>(k));
  return c;
}

float activate(const std::string& activation, float x) {
  const double v = x;
  if (activation == "none") return x;
  if (activation == "gelu_tanh")
    return static_cast<float>(0.5 * v * (1 + std::tanh(kGeluSlope * (v + kGeluCubic * v * v * v))));
  if (const MathOp* op = find_math_op(activation)) return static_cast<float>(op->f64(v, 0, 0));
  throw std::logic_error("there is no activation '" + activation + "'");
}

}  // namespace kernbench::kernels
