// SPDX-License-Identifier: Apache-2.0
#include "kernbench/kernel_api/kernels/sum_over_ranks.h"

#include <algorithm>

namespace kernbench::kernels {
namespace {

constexpr Exchange kParts{"part", "rank"}, kSums{"sum", "rank"};

}  // namespace

void SumOverRanks::join(const LaunchShape& launch, Rings* rings) {
  rings->join(launch, kParts);
  rings->join(launch, kSums);
}

SumOverRanks::SumOverRanks(tl::Context& tl, std::vector<Range> owned, bool all, Store store)
    : tl_(tl), owned_(std::move(owned)), all_(all), store_(std::move(store)), parts_(tl, kParts), sums_(tl, kSums) {
  blocks_.emplace_back();
}

void SumOverRanks::add(const Range& rows, const Range& cols, const tl::Tensor& summand, const tl::Tensor& residual) {
  const auto part = [&](const tl::Tensor& t, const Range& c) { return t.slice(1, c.first - cols.first, c.count); };
  const auto dense = [&](const tl::Tensor& t) { return t.contiguous() ? t : tl_.copy(t); };
  Block& now = blocks_.back();
  for (size_t i = 1; i < parts_.size(); ++i) {
    const size_t to = parts_.behind(i);
    const Range theirs = cut(cols, owned_[to]);
    if (theirs.empty()) continue;
    parts_.send(to, dense(part(summand, theirs)));
    if (all_) now.theirs.push_back({rows, theirs, sums_.recv_async(to, {rows.count, theirs.count}, summand.dtype())});
  }
  const Range own = cut(cols, owned_[parts_.me()]);
  if (own.empty()) return;
  now.mine.push_back({rows, own, {}, residual});
  for (size_t r = 0; r < parts_.size(); ++r) {
    now.mine.back().summands.push_back(
        r == parts_.me() ? part(summand, own) : parts_.recv_async(r, {rows.count, own.count}, summand.dtype()));
  }
}

void SumOverRanks::next() {
  blocks_.emplace_back();
}

void SumOverRanks::go_on() {
  if (!all_ || blocks_.size() < 2) return;  // if no rank waits for the sums, they are left for the end
  const size_t done = blocks_.size() - 2;
  add_up(&blocks_[done]);
  if (done < 2) return;
  store(&blocks_.front());
  blocks_.pop_front();
}

void SumOverRanks::finish(const std::function<void()>& flush) {
  flush();
  for (size_t i = 0; i < blocks_.size(); ++i) {
    if (!all_ && i + 2 == blocks_.size()) flush();  // while the last one is being sent
    add_up(&blocks_[i]);
  }
  for (Block& b : blocks_) {
    store(&b);
    if (all_) flush();
  }
  if (!all_) flush();
  blocks_.clear();
}

void SumOverRanks::add_up(Block* b) {
  std::vector<tl::Tensor> sums;
  for (const Mine& m : b->mine) {
    tl::Tensor sum = m.summands.front();
    for (size_t r = 1; r < m.summands.size(); ++r) sum = tl_.async().add(sum, m.summands[r]);
    if (m.residual.valid()) sum = tl_.async().add(m.residual, sum);
    sums.push_back(sum);
  }
  for (size_t i = 0; i < sums.size(); ++i) {
    tl_.wait(sums[i]);
    if (all_) sums_.send_to_all(sums[i]);
    store_(b->mine[i].rows, b->mine[i].cols, sums[i]);
  }
  b->mine.clear();
}

void SumOverRanks::store(Block* b) {
  for (const Theirs& t : b->theirs) store_(t.rows, t.cols, t.sum);
  b->theirs.clear();
}

}  // namespace kernbench::kernels
