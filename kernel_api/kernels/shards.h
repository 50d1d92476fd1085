// SPDX-License-Identifier: Apache-2.0
// Blocks of a matrix that is distributed over the PEs of a rank. For kernels that read from and write to other PEs'
// memories.
#pragma once

#include <algorithm>
#include <string>
#include <vector>

#include "kernbench/kernel_api/args.h"
#include "kernbench/kernel_api/kernels/peers.h"
#include "kernbench/kernel_api/tl.h"

namespace kernbench::kernels {

/// For one two-dimensional tensor. KernelFault, with the kernel's name, if no shard of the rank has elements.
class Shards {
 public:
  Shards(tl::Context& tl, const tl::Args& args, std::string kernel, std::string tensor);

  /// The number of rows from `row` on that are complete in every shard with some of these columns.
  int64_t rows_at(int64_t row, int64_t col, int64_t cols) const;
  /// At most rows_at() rows. Parts from several shards are joined. Does not wait if one shard has everything.
  tl::Tensor load(int64_t row, int64_t col, int64_t rows, int64_t cols) const;
  /// [rows, all of the columns] in one command, so that a DMA can have requests to several shards in flight. Does not
  /// wait.
  tl::Tensor gather(const Range& rows, const std::vector<Range>& columns) const;
  /// The same for a store of t: [rows, cols].
  void scatter(const Range& rows, const Range& cols, const tl::Tensor& t) const;
  /// t: [rows, cols], at most rows_at() rows. Does not wait.
  void store(int64_t row, int64_t col, const tl::Tensor& t) const;

 private:
  /// The shard with an element, and the number of its columns from there on, at most `most`.
  struct Part {
    const tl::View* shard;
    int64_t cols;
  };
  Part at(int64_t row, int64_t col, int64_t cols) const;
  /// Rows and columns in the virtual range: its elements in runs of `width`.
  struct Runs {
    tl::Tensor index;
    int64_t width;
  };
  Runs runs_of(const Range& rows, const std::vector<Range>& columns) const;
  template <class Visit>
  void for_each(int64_t row, int64_t col, int64_t cols, const Visit& visit) const {
    for (int64_t done = 0; done < cols;) {
      const Part p = at(row, col + done, cols - done);
      visit(*p.shard, done, p.cols);
      done += p.cols;
    }
  }

  tl::Context& tl_;
  std::string kernel_, tensor_;
  std::vector<const tl::View*> shards_;
  std::vector<int64_t> begins_;  ///< elements before each shard in the rank's virtual range
  int64_t end_ = 0;              ///< elements of the rank
  int64_t before_ = 0;           ///< elements of the launch before them
  const tl::Args& args_;
  mutable const tl::View* last_ = nullptr;  ///< usually the shard of the next block too
};

}  // namespace kernbench::kernels
