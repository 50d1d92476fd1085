// SPDX-License-Identifier: Apache-2.0
// Blocks of a matrix that lies over the PEs of a rank, wherever they are: for kernels that take what they need from
// other PEs' memories.
#pragma once

#include <algorithm>
#include <string>
#include <vector>

#include "kernbench/kernel_api/args.h"
#include "kernbench/kernel_api/kernels/peers.h"
#include "kernbench/kernel_api/tl.h"

namespace kernbench::kernels {

/// Of one tensor of two dimensions. KernelFault, with the kernel's name, where no shard of the rank has an element.
class Shards {
 public:
  Shards(tl::Context& tl, const tl::Args& args, std::string kernel, std::string tensor);

  /// Rows from `row` on of which each shard that has some of these columns has all that follow.
  int64_t rows_at(int64_t row, int64_t col, int64_t cols) const;
  /// At most rows_at() rows; what lies side by side in several shards is put together. Not waited for where one has
  /// it all.
  tl::Tensor load(int64_t row, int64_t col, int64_t rows, int64_t cols) const;
  /// [rows, all of the columns]: in one command, so that a DMA may have several shards' on their way at once. Not
  /// waited for.
  tl::Tensor gather(const Range& rows, const std::vector<Range>& columns) const;
  /// t: [rows, cols], likewise.
  void scatter(const Range& rows, const Range& cols, const tl::Tensor& t) const;
  /// t: [rows, cols], at most rows_at() rows. Not waited for.
  void store(int64_t row, int64_t col, const tl::Tensor& t) const;

 private:
  /// The shard with an element, and its columns from there on, at most so many.
  struct Part {
    const tl::View* shard;
    int64_t cols;
  };
  Part at(int64_t row, int64_t col, int64_t cols) const;
  /// Rows and columns in the virtual range: its elements by runs of `width`.
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
  std::vector<int64_t> begins_;  ///< elements before each in the rank's virtual range
  int64_t end_ = 0;              ///< elements of the rank
  int64_t before_ = 0;           ///< elements of the launch before them
  const tl::Args& args_;
  mutable const tl::View* last_ = nullptr;  ///< the next block is mostly in it
};

}  // namespace kernbench::kernels
