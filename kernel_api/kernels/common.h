// What the shipped kernels' registrations and references share.
#pragma once

#include <string>
#include <vector>

#include "kernbench/kernel_api/layout.h"
#include "kernbench/kernel_api/registry.h"
#include "kernbench/kernel_api/tl.h"

namespace kernbench::kernels {

/// A shape whose dimensions are the integer parameters of these names.
std::function<Dims(const Params&)> dims(std::vector<std::string> params);
/// The parameter dtype.
DType own_dtype(const Params& p);
/// Of a parameter that names a type of its own, or says kOwnType: that of dtype.
constexpr const char* kOwnType = "dtype";
DType type_or_own(const Params& p, const std::string& param);
/// i32 for an integer dtype, else dtype: what a GEMM's output is stored as.
DType gemm_out_dtype(const Params& p);
std::function<int64_t(const Params&)> value_of(const std::string& param);

TensorSpec input(const std::string& name, std::vector<std::string> shape, Placement placement,
                 Init init = Init::uniform());
TensorSpec output(const std::string& name, std::vector<std::string> shape, Placement placement,
                  std::function<DType(const Params&)> dtype = own_dtype);
/// One copy of zeros that all PEs share, written by the kernel.
TensorSpec zeroed(const std::string& name, std::function<Dims(const Params&)> shape, DType dtype);

/// t, which a run of its kernel alone has in this layout over the PEs of its launch.
TensorSpec placed(TensorSpec t, std::function<host::Layout(const Params&)> layout);
TensorSpec placed(TensorSpec t, const host::Layout& layout);

/// Rows of `width` elements from `from` on, by a gather: of index's shape, with `width` behind it if that is more
/// than 1. Index -1 gives zeros.
tl::Loaded gather_rows(tl::Context& tl, const tl::Ptr& from, const tl::Loaded& index, int64_t width);

/// m, n, k, tile_m, tile_n, tile_k, dtype; a [m, k] by rows, b [k, n] replicated, c [m, n] by rows: gemm and gemm_dot.
void add_gemm_interface(KernelSpec* spec);
Expected gemm_reference(const Params& p, const TensorMap& in);
/// Of parameters m, n and k, as KernelSpec::products.
std::vector<MatrixProduct> product_of_mnk(const Params&);

/// Of the shape: x's rows of so many elements, by index one behind the other; zeros for -1.
HostTensor rows_by_index(const HostTensor& x, const HostTensor& index, const Dims& shape);

// Plain matrices for references, row-major.
using Floats = std::vector<float>;
Floats matmul(const Floats& a, const Floats& b, int64_t m, int64_t n, int64_t k);
std::vector<int32_t> matmul(const std::vector<int32_t>& a, const std::vector<int32_t>& b, int64_t m, int64_t n,
                            int64_t k);
/// Σ|a||b|/√K for every output element (data contract §4).
Floats gemm_error_scale(const Floats& a, const Floats& b, int64_t m, int64_t n, int64_t k);
/// "none", "relu", "gelu" (exact, by erf), "silu".
float activate(const std::string& activation, float x);

}  // namespace kernbench::kernels
