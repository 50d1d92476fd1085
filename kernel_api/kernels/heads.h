// SPDX-License-Identifier: Apache-2.0
// Where heads of q, k and v stand in the columns of one tensor, as a linear layer leaves them: q, then k, then v; of
// `parts` equal shares of the heads one behind the other, so that each of as many ranks may have one.
#pragma once

#include <string>
#include <vector>

#include "kernbench/kernel_api/args.h"
#include "kernbench/kernel_api/params.h"
#include "kernbench/kernel_api/registry.h"
#include "kernbench/kernel_api/tl.h"

namespace kernbench::kernels {

struct Heads {
  int64_t heads, kv, dim, parts, seq;
  int64_t group;  ///< heads of q for one of k and v
  int64_t heads_of_part, kv_of_part;
  /// Of parameters heads, kv_heads, dim, parts and, where there is one, seq.
  explicit Heads(const Params&);

  int64_t width() const { return (heads + 2 * kv) * dim; }
  int64_t part_width() const { return width() / parts; }
  /// The first column of q of a group, of k and of v, by head of k; of o by the same; of q by head of q.
  int64_t q_col(int64_t kv_head) const { return q_col_of(kv_head * group); }
  int64_t k_col(int64_t kv_head) const { return part_of(kv_head) + (heads_of_part + kv_head % kv_of_part) * dim; }
  int64_t v_col(int64_t kv_head) const { return k_col(kv_head) + kv_of_part * dim; }
  int64_t o_col(int64_t kv_head) const { return kv_head * group * dim; }
  int64_t q_col_of(int64_t head) const { return part_of(head / group) + head % heads_of_part * dim; }
  /// The first head of k that the PE's rank has: that of its part, or 0. KernelFault where there are several parts and
  /// not as many ranks.
  int64_t first_head(const tl::Context&, const std::string& kernel) const;
  /// Heads of q and k in a PE's columns, which begin with them. KernelFault where a head is split, or two parts meet.
  int64_t heads_at(const tl::View&, const std::string& kernel) const;

 private:
  int64_t part_of(int64_t kv_head) const { return kv_head / kv_of_part * part_width(); }
};

/// Which of the launch's PEs of its rank a PE is.
struct PlaceInRank {
  int64_t pe = 0, pes = 0;
};
PlaceInRank place_in_rank(const tl::Context&);

/// heads, kv_heads, dim, parts.
std::vector<ParamSpec> head_params();
/// window: 0 or more.
ParamSpec window_param();
/// score_scale: what scores q k are times; 0: 1 / √dim.
ParamSpec score_scale_param();
double scale_of_scores(const Params&);
/// rotary: 0 or more.
ParamSpec rotary_param();
/// How many elements of a head are turned, its first ones: all of them where the parameter is 0.
int64_t turned_of_head(const Params&);
/// BadParam where these are no pairs, or more than a head has.
void check_rotary(const Params&);
/// sink [heads], optional: of each head a score beside those of its keys, which has no value (gpt-oss' attention
/// sinks).
TensorSpec sink_spec();
/// exp(sink − top) of the heads of q for one of k, [group, 1] in f32: what a sink adds to a sum of exp(score − top).
/// `top` […, group, 1].
tl::Tensor sink_beside(tl::Context&, const tl::Args&, const Heads&, int64_t kv_head, const tl::Tensor& top);
/// The same for references: 0 without a sink.
double sink_beside(const TensorMap& in, int64_t head, double top);
/// BadParam where these do not divide each other.
void check_heads(const Params&);
/// BadParam where the launch has not as many ranks as there are parts, of several.
void check_parts(const Params&);

}  // namespace kernbench::kernels
