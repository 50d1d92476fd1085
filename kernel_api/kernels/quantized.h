// SPDX-License-Identifier: Apache-2.0
// Weight matrices with their own type and with scales: an element's value is the stored number times its scale. Types
// are f8e4m3, i8 and i4 (two columns per byte). Each column has one scale, or one for each `group` rows (k).
#pragma once

#include <string>
#include <vector>

#include "kernbench/kernel_api/kernels/common.h"
#include "kernbench/kernel_api/kernels/peers.h"
#include "kernbench/kernel_api/kernels/shards.h"

namespace kernbench::kernels {

/// The parameters weights and group. They come before dtype, which is the last parameter.
void add_weights_params(KernelSpec*);
/// weights_dtype(): the type of a kernel's weights. check_weights(): BadParam if an integer kernel has weights of
/// another type.
DType weights_dtype(const Params&);
void check_weights(const Params&);
/// [k, n] of weights, and the optional scales [groups, n] in dtype.
TensorSpec weights_spec(const std::string& name, const Init&);
TensorSpec scale_spec(const std::string& name);

/// Rows (k) that share a scale; all if no group is given.
int64_t rows_of_group(const Params&);

/// [k, n] in f32 for references: each value times its scale, if there is one.
Floats weights_of(const Params&, const HostTensor& weights, const HostTensor* scale);

/// Columns of a shard of weights; n is the total. Packed elements have two columns each.
Range weight_columns(const tl::View& weights, int64_t n);

/// The scales of a matrix. A PE loads them from the PEs of its rank that have them.
class Scales {
 public:
  Scales(tl::Context&, const tl::Args&, const std::string& kernel, const std::string& tensor);
  Scales(tl::Context&, const tl::Args&, const std::string& kernel, const std::string& tensor, int64_t group);
  int64_t group() const { return group_; }
  /// For these rows (k) and columns, one row per group. Does not wait if one PE has all of them.
  tl::Tensor load(const Range& k, const Range& columns) const;
  /// The row in load()'s result for the group of the matrix that begins at k.
  int64_t row_of(const Range& loaded, int64_t k) const { return k / group_ - loaded.first / group_; }

 private:
  tl::Context& tl_;
  const Shards shards_;
  const int64_t group_;
};

}  // namespace kernbench::kernels
