// SPDX-License-Identifier: Apache-2.0
// Positions of the heads of q, k and v in the columns of one tensor, as a linear layer writes them: q, then k, then v.
// For several ranks it has `parts` equal shares of the heads in sequence, one for each rank.
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
  int64_t group;  ///< heads of q per head of k and v
  int64_t heads_of_part, kv_of_part;
  /// From the parameters heads, kv_heads, dim, parts and, if present, seq.
  explicit Heads(const Params&);

  int64_t width() const { return (heads + 2 * kv) * dim; }
  int64_t part_width() const { return width() / parts; }
  /// First columns, by head of k: of q of a group, of k and of v, and of o. By head of q: of q.
  int64_t q_col(int64_t kv_head) const { return q_col_of(kv_head * group); }
  int64_t k_col(int64_t kv_head) const { return part_of(kv_head) + (heads_of_part + kv_head % kv_of_part) * dim; }
  int64_t v_col(int64_t kv_head) const { return k_col(kv_head) + kv_of_part * dim; }
  int64_t o_col(int64_t kv_head) const { return kv_head * group * dim; }
  int64_t q_col_of(int64_t head) const { return part_of(head / group) + head % heads_of_part * dim; }
  /// The first head of k of the PE's rank: that of its part, or 0. KernelFault if there are several parts but not as
  /// many ranks.
  int64_t first_head(const tl::Context&, const std::string& kernel) const;
  /// Number of heads of q and k at the beginning of a PE's columns. KernelFault if a head is split or if the columns
  /// span two parts.
  int64_t heads_at(const tl::View&, const std::string& kernel) const;

 private:
  int64_t part_of(int64_t kv_head) const { return kv_head / kv_of_part * part_width(); }
};

/// A PE's number among the launched PEs of its rank.
struct PlaceInRank {
  int64_t pe = 0, pes = 0;
};
PlaceInRank place_in_rank(const tl::Context&);

/// heads, kv_heads, dim, parts.
std::vector<ParamSpec> head_params();
/// window: 0 or more.
ParamSpec window_param();
/// score_scale: factor of the scores q k; 0: 1 / √dim.
ParamSpec score_scale_param();
double scale_of_scores(const Params&);
/// rotary: 0 or more.
ParamSpec rotary_param();
/// Number of rotated elements of a head, its first ones; all if the parameter is 0.
int64_t turned_of_head(const Params&);
/// BadParam if they do not form pairs or exceed a head.
void check_rotary(const Params&);
/// sink [heads], optional: an additional score of each head without a value (attention sinks of gpt-oss).
TensorSpec sink_spec();
/// exp(sink − top) for the heads of q of one head of k, [group, 1] in f32: the sink's contribution to a sum of
/// exp(score − top). `top` […, group, 1].
tl::Tensor sink_beside(tl::Context&, const tl::Args&, const Heads&, int64_t kv_head, const tl::Tensor& top);
/// The same for references: 0 without a sink.
double sink_beside(const TensorMap& in, int64_t head, double top);
/// BadParam unless kv_heads divides heads and parts divides kv_heads.
void check_heads(const Params&);
/// BadParam if there are several parts and the launch has another number of ranks.
void check_parts(const Params&);

}  // namespace kernbench::kernels
