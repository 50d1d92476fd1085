// SPDX-License-Identifier: Apache-2.0
// Attention over heads in adjacent columns of q, k, v and o [seq, heads · dim], the layout of linear layers. Each PE
// has rows of queries. Keys and values are distributed by rows over the PEs of its rank or of all ranks, or each PE has
// a copy. Every PE reads all of them in place.
#include <algorithm>

#include "kernbench/kernel_api/kernels/common.h"
#include "kernbench/kernel_api/kernels/flash.h"
#include "kernbench/kernel_api/launch_shape.h"
#include "kernbench/kernel_api/pe_backend.h"

namespace kernbench::kernels::attention_columns_kernel {
namespace {

/// The shards with the rows of k (or v), in order. This is the PE's own shard if it has all rows; else those of its
/// rank; else those of all ranks, if each has different rows.
std::vector<tl::View> row_shards(tl::Context& tl, const tl::Args& args, const char* name) {
  const tl::View& mine = args[name];
  if (mine.shape[0] == mine.whole[0]) return {mine};
  const auto is_of_rank = [&](uint32_t p) { return tl.launch().pes[p].rank == tl.rank(); };
  int64_t of_rank = 0;
  for (uint32_t p = 0; p < args.shards(); ++p) of_rank += is_of_rank(p) ? args.shard(name, p).shape[0] : 0;
  std::vector<tl::View> shards;
  int64_t rows = 0;
  for (uint32_t p = 0; p < args.shards(); ++p) {
    const tl::View& s = args.shard(name, p);
    if (s.empty() || (of_rank >= mine.whole[0] && !is_of_rank(p))) continue;
    if (s.offset[0] != rows || s.offset[1] != mine.offset[1] || s.shape[1] != mine.shape[1])
      throw KernelFault(std::string("attention_columns: ") + name +
                        " lies in other than rows over the PEs of the rank, or of all");
    rows += s.shape[0];
    shards.push_back(s);
  }
  if (rows != mine.whole[0]) throw KernelFault(std::string("attention_columns: no PE has some rows of ") + name);
  return shards;
}

void attend(tl::Context& tl, const Queries& block, const std::vector<tl::View>& k, const std::vector<tl::View>& v,
            int64_t column, int64_t dim, const tl::Block& o, bool causal) {
  FlashAttention running(tl, block, causal);
  const int64_t step = flash_rows(dim);
  for (size_t s = 0; s < k.size(); ++s) {
    const int64_t first = k[s].offset[0];
    const int64_t end = causal ? std::min(first + k[s].shape[0], block.first + block.rows) : first + k[s].shape[0];
    for (int64_t j = first; j < end; j += step) {
      const int64_t count = std::min(step, end - j);
      const auto key = tl.load_async(k[s].block().tile(j - first, column, count, dim));
      const auto value = tl.load_async(v[s].block().tile(j - first, column, count, dim));
      running.add(key, value, j);
    }
  }
  tl.store(o, tl.cast(running.result(), o.dtype()));
}

void attention_columns(tl::Context& tl, const tl::Args& args) {
  const tl::View& mine = args["q"];
  if (mine.empty()) return;
  const int64_t dim = args.integer("dim");
  if (mine.offset[1] % dim != 0 || mine.shape[1] % dim != 0)
    throw KernelFault("attention_columns: q is split inside a head");
  const std::vector<tl::View> k = row_shards(tl, args, "k"), v = row_shards(tl, args, "v");
  const tl::Block q = mine, o = args["o"];
  const int64_t step = flash_rows(dim);
  for (int64_t column = 0; column < mine.shape[1]; column += dim) {
    for (int64_t i = 0; i < mine.shape[0]; i += step) {
      Queries block;
      block.first = mine.offset[0] + i;
      block.rows = std::min(step, mine.shape[0] - i);
      block.q = tl.load(q.tile(i, column, block.rows, dim));
      attend(tl, block, k, v, column, dim, o.tile(i, column, block.rows, dim), args.flag("causal"));
    }
  }
}

/// Computed by the kernel attention, whose heads follow each other in rows.
std::map<std::string, Expected> reference(const Params& p, const TensorMap& in) {
  const int64_t heads = p.integer("heads"), seq = p.integer("seq"), dim = p.integer("dim");
  const auto moved = [&](const Floats& from, bool to_heads) {
    Floats to(from.size());
    for (int64_t h = 0; h < heads; ++h) {
      for (int64_t s = 0; s < seq; ++s) {
        const auto by_head = static_cast<size_t>((h * seq + s) * dim),
                   by_row = static_cast<size_t>((s * heads + h) * dim);
        for (size_t i = 0; i < static_cast<size_t>(dim); ++i)
          to_heads ? to[by_head + i] = from[by_row + i] : to[by_row + i] = from[by_head + i];
      }
    }
    return to;
  };
  TensorMap split;
  for (const auto& [name, t] : in) split[name] = HostTensor::from(t.dtype, {heads, seq, dim}, moved(t.floats(), true));
  const auto all = KernelRegistry::instance().at("attention").reference(p, split);
  const Expected& o = all.at("o");
  return {
      {"o", {HostTensor::from(p.dtype(), {seq, heads * dim}, moved(o.value.floats(), false)), moved(o.scale, false)}}};
}

KernelSpec spec() {
  KernelSpec s;
  s.name = "attention_columns";
  s.help = "o = softmax(q k^T / sqrt(dim)) v per head; the heads are side by side in the columns";
  s.params = {ParamSpec::size("heads", 4, "heads"),
              ParamSpec::size("seq", 256, "queries and keys a head, split over the PEs"),
              ParamSpec::size("dim", 64, "elements of a head"),
              ParamSpec::flag("causal", false, "causal mask: a query sees no later keys"),
              ParamSpec::dtypes({DType::f32, DType::f16, DType::bf16})};
  s.params[2].max = kFlashElements;
  const auto shape = [](const Params& p) { return Dims{p.integer("seq"), p.integer("heads") * p.integer("dim")}; };
  for (const char* name : {"q", "k", "v", "o"}) {
    TensorSpec t = name[0] == 'o' ? output(name, {}, Placement::rows) : input(name, {}, Placement::rows);
    t.shape = shape;
    s.tensors.push_back(std::move(t));
  }
  s.function = attention_columns;
  s.reference = reference;
  return s;
}

const RegisterKernel registered{spec()};

}  // namespace
}  // namespace kernbench::kernels::attention_columns_kernel
