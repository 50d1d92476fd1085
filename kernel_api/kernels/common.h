// SPDX-License-Identifier: Apache-2.0
// Helpers of the registrations and references of shipped kernels.
#pragma once

#include <string>
#include <vector>

#include "kernbench/kernel_api/layout.h"
#include "kernbench/kernel_api/registry.h"
#include "kernbench/kernel_api/tl.h"

namespace kernbench::kernels {

/// A shape whose dimensions are the integer parameters with these names.
std::function<Dims(const Params&)> dims(std::vector<std::string> params);
/// The parameter dtype.
DType own_dtype(const Params& p);
/// Type from a parameter that names a type, or the parameter dtype if its value is kOwnType.
constexpr const char* kOwnType = "dtype";
DType type_or_own(const Params& p, const std::string& param);
/// Output type of a GEMM: i32 for an integer dtype, else dtype.
DType gemm_out_dtype(const Params& p);
std::function<int64_t(const Params&)> value_of(const std::string& param);

TensorSpec input(const std::string& name, std::vector<std::string> shape, Placement placement,
                 Init init = Init::uniform());
TensorSpec output(const std::string& name, std::vector<std::string> shape, Placement placement,
                  std::function<DType(const Params&)> dtype = own_dtype);
/// One copy of zeros that all PEs share and the kernel writes.
TensorSpec zeroed(const std::string& name, std::function<Dims(const Params&)> shape, DType dtype);

/// t with this layout over the PEs of the launch, if its kernel runs alone.
TensorSpec placed(TensorSpec t, std::function<host::Layout(const Params&)> layout);
TensorSpec placed(TensorSpec t, const host::Layout& layout);

/// Gathers rows of `width` elements from `from` on. The result has the shape of index, with a last dimension `width` if
/// that is more than 1. Index -1 gives zeros.
tl::Loaded gather_rows(tl::Context& tl, const tl::Ptr& from, const tl::Loaded& index, int64_t width);

/// m, n, k, tile_m, tile_n, tile_k, dtype; a [m, k] by rows, b [k, n] replicated, c [m, n] by rows: gemm and gemm_dot.
void add_gemm_interface(KernelSpec* spec);
Expected gemm_reference(const Params& p, const TensorMap& in);
/// From the parameters m, n and k, as KernelSpec::products.
std::vector<MatrixProduct> product_of_mnk(const Params&);

/// Rows of x by index, in sequence, in this shape; zeros for -1.
HostTensor rows_by_index(const HostTensor& x, const HostTensor& index, const Dims& shape);

// Dense matrices for references, row-major.
using Floats = std::vector<float>;
Floats matmul(const Floats& a, const Floats& b, int64_t m, int64_t n, int64_t k);
std::vector<int32_t> matmul(const std::vector<int32_t>& a, const std::vector<int32_t>& b, int64_t m, int64_t n,
                            int64_t k);
/// Σ|a||b|/√K for each output element (data rules §4).
Floats gemm_error_scale(const Floats& a, const Floats& b, int64_t m, int64_t n, int64_t k);
/// "none", "relu", "gelu" (exact, by erf), "silu".
float activate(const std::string& activation, float x);

}  // namespace kernbench::kernels
