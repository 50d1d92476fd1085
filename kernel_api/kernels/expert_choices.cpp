// SPDX-License-Identifier: Apache-2.0
#include "kernbench/kernel_api/kernels/expert_choices.h"

#include <numeric>
#include <utility>

#include "kernbench/phase2/io/random.h"

namespace kernbench::kernels {

HostTensor drawn_choices(int64_t tokens, int64_t k, int64_t experts, uint64_t stream) {
  std::vector<int32_t> left(static_cast<size_t>(experts)), all;
  std::iota(left.begin(), left.end(), 0);  // any order will do, so the previous token's is reused
  for (int64_t i = 0; i < tokens * k; ++i) {
    const auto j = static_cast<size_t>(i % k);
    if (j >= left.size()) {
      all.push_back(-1);
      continue;
    }
    const uint64_t word = random_word(stream, static_cast<uint64_t>(i)) >> 16;
    std::swap(left[j], left[j + word % (left.size() - j)]);
    all.push_back(left[j]);
  }
  return HostTensor::from(DType::i32, {tokens, k}, all);
}

}  // namespace kernbench::kernels
