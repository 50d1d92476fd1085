// SPDX-License-Identifier: Apache-2.0
#include "kernbench/kernel_api/kernels/shards.h"

#include <limits>
#include <numeric>

#include "kernbench/kernel_api/launch_shape.h"
#include "kernbench/kernel_api/pe_backend.h"

namespace kernbench::kernels {

Shards::Shards(tl::Context& tl, const tl::Args& args, std::string kernel, std::string tensor)
    : tl_(tl), kernel_(std::move(kernel)), tensor_(std::move(tensor)), args_(args) {
  for (uint32_t p = 0; p < args.shards(); ++p) {
    const tl::View& v = args.shard(tensor_, p);
    if (v.empty()) continue;
    if (tl.launch().pes[p].rank < tl.rank()) before_ += v.shape.elements();
    if (tl.launch().pes[p].rank != tl.rank()) continue;
    shards_.push_back(&v);
    begins_.push_back(end_);
    end_ += v.shape.elements();
  }
}

Shards::Part Shards::at(int64_t row, int64_t col, int64_t cols) const {
  const auto has = [&](const tl::View* v) {
    return v != nullptr && v->offset[0] <= row && row < v->offset[0] + v->shape[0] && v->offset[1] <= col &&
           col < v->offset[1] + v->shape[1];
  };
  if (!has(last_)) {
    const auto it = std::find_if(shards_.begin(), shards_.end(), has);
    if (it == shards_.end())
      throw KernelFault(kernel_ + ": no PE of the rank has row " + std::to_string(row) + ", column " +
                        std::to_string(col) + " of " + tensor_);
    last_ = *it;
  }
  return {last_, std::min(cols, last_->offset[1] + last_->shape[1] - col)};
}

int64_t Shards::rows_at(int64_t row, int64_t col, int64_t cols) const {
  int64_t rows = std::numeric_limits<int64_t>::max();
  for_each(row, col, cols,
           [&](const tl::View& v, int64_t, int64_t) { rows = std::min(rows, v.offset[0] + v.shape[0] - row); });
  return rows;
}

tl::Tensor Shards::load(int64_t row, int64_t col, int64_t rows, int64_t cols) const {
  std::vector<tl::Tensor> parts;
  for_each(row, col, cols, [&](const tl::View& v, int64_t done, int64_t n) {
    parts.push_back(tl_.load_async(v.block().tile(row - v.offset[0], col + done - v.offset[1], rows, n)));
  });
  return parts.size() == 1 ? parts.front() : tl_.cat(parts, 1);
}

Shards::Runs Shards::runs_of(const Range& rows, const std::vector<Range>& columns) const {
  const tl::Ptr range = args_.virtual_ptr(tensor_);  // in a program: of the rank; in a run of one kernel: of all ranks
  const bool of_all = range.bounds.nbytes > static_cast<uint64_t>(end_) * size_of(range.dtype);
  std::vector<Range> runs;
  int64_t width = 0;
  for (int64_t row = rows.first; row < rows.end(); ++row) {
    for (const Range& c : columns) {
      for_each(row, c.first, c.count, [&](const tl::View& v, int64_t done, int64_t n) {
        const auto which = static_cast<size_t>(std::find(shards_.begin(), shards_.end(), &v) - shards_.begin());
        runs.push_back(
            {(of_all ? before_ : 0) + begins_[which] + (row - v.offset[0]) * v.shape[1] + c.first + done - v.offset[1],
             n});
        width = std::gcd(width, std::gcd(runs.back().first, n));
      });
    }
  }
  std::vector<int64_t> index;
  for (const Range& r : runs) {
    for (int64_t i = 0; i < r.count / width; ++i) index.push_back(r.first / width + i);
  }
  const auto count = static_cast<int64_t>(index.size());
  return {tl_.tensor(index, {count}, DType::i64), width};
}

tl::Tensor Shards::gather(const Range& rows, const std::vector<Range>& columns) const {
  const Runs r = runs_of(rows, columns);
  return tl_.gather_async(args_.virtual_ptr(tensor_), r.index, {}, 0, r.width)
      .reshape({rows.count, r.index.elements() * r.width / rows.count});
}

void Shards::scatter(const Range& rows, const Range& cols, const tl::Tensor& t) const {
  const Runs r = runs_of(rows, {cols});
  const Dims by_runs = r.width > 1 ? Dims{r.index.elements(), r.width} : Dims{r.index.elements()};
  const tl::Tensor dense = t.contiguous() ? t : tl_.copy(t);
  tl_.scatter_async(args_.virtual_ptr(tensor_), r.index, dense.reshape(by_runs), {}, r.width);
}

void Shards::store(int64_t row, int64_t col, const tl::Tensor& t) const {
  for_each(row, col, t.dim(1), [&](const tl::View& v, int64_t done, int64_t n) {
    tl_.store_async(v.block().tile(row - v.offset[0], col + done - v.offset[1], t.dim(0), n),
                    n == t.dim(1) ? t : t.slice(1, done, n));
  });
}

}  // namespace kernbench::kernels
