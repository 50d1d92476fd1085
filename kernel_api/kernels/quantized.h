// SPDX-License-Identifier: Apache-2.0
// Matrices of weights in a type of their own, with scales: the value of an element is what lies there times its scale.
// Of f8e4m3, i8 and i4 (two columns a byte), one scale a column, or one for each `group` rows (k) of a column.
#pragma once

#include <string>
#include <vector>

#include "kernbench/kernel_api/kernels/common.h"
#include "kernbench/kernel_api/kernels/peers.h"
#include "kernbench/kernel_api/kernels/shards.h"

namespace kernbench::kernels {

/// weights and group, before dtype, which is the last parameter.
void add_weights_params(KernelSpec*);
/// The type of a kernel's weights. check_weights(): BadParam where it is not that of integers.
DType weights_dtype(const Params&);
void check_weights(const Params&);
/// [k, n] of weights; and its optional scale [groups, n], in dtype.
TensorSpec weights_spec(const std::string& name, const Init&);
TensorSpec scale_spec(const std::string& name);

/// Rows (k) that share a scale: all of them where none are said.
int64_t rows_of_group(const Params&);

/// [k, n] in f32, each value times its scale, if there is one: for references.
Floats weights_of(const Params&, const HostTensor& weights, const HostTensor* scale);

/// Columns of a shard of weights, of n in all: twice as many as elements where these are packed.
Range weight_columns(const tl::View& weights, int64_t n);

/// The scales of a matrix, as a PE loads them from whoever of its rank has them.
class Scales {
 public:
  Scales(tl::Context&, const tl::Args&, const std::string& kernel, const std::string& tensor);
  Scales(tl::Context&, const tl::Args&, const std::string& kernel, const std::string& tensor, int64_t group);
  int64_t group() const { return group_; }
  /// Of these rows (k) and columns, a row a group: not waited for where one PE has them all.
  tl::Tensor load(const Range& k, const Range& columns) const;
  /// The row of load()'s, from a group of the matrix on whose rows begin at k.
  int64_t row_of(const Range& loaded, int64_t k) const { return k / group_ - loaded.first / group_; }

 private:
  tl::Context& tl_;
  const Shards shards_;
  const int64_t group_;
};

}  // namespace kernbench::kernels
