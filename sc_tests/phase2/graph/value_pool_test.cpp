// SPDX-License-Identifier: Apache-2.0
// Memory for values is reused, and cut from separate blocks for each thread.
#include "kernbench/phase2/graph/value_pool.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <cstring>
#include <set>
#include <thread>

namespace kernbench {
namespace {

constexpr uint64_t kLargePage = uint64_t{2} << 20;

TEST(ValuePool, gives_back_what_was_put_and_new_memory_beside_it) {
  ValuePool pool;
  for (uint64_t nbytes : {uint64_t{100}, uint64_t{16} << 10, uint64_t{3} << 20}) {
    uint8_t* first = pool.get(nbytes);
    EXPECT_EQ(reinterpret_cast<uintptr_t>(first) % 64, 0u);
    std::memset(first, 1, nbytes);
    pool.put(first, nbytes);
    EXPECT_EQ(pool.get(nbytes), first);
    EXPECT_NE(pool.get(nbytes), first);
  }
}

TEST(ValuePool, never_lets_two_threads_touch_one_new_page) {
  ValuePool pool;
  std::set<uintptr_t> pages[2];
  const auto take = [&pool](std::set<uintptr_t>& mine) {
    for (int i = 0; i < 1000; ++i) {
      const auto at = reinterpret_cast<uintptr_t>(pool.get(16384));
      mine.insert(at / kLargePage);
      mine.insert((at + 16383) / kLargePage);
    }
  };
  std::thread other([&] { take(pages[1]); });
  take(pages[0]);
  other.join();
  for (uintptr_t page : pages[0]) EXPECT_EQ(pages[1].count(page), 0u);
}

TEST(ValuePool, memory_with_an_owner_outlives_the_pool) {
  std::shared_ptr<const void> owner;
  uint8_t* value = nullptr;
  {
    ValuePool pool;
    pool.get(5000);
    value = pool.get(5000);
    std::memset(value, 7, 5000);
    owner = pool.owner_of(value + 4000);
  }
  for (int i = 0; i < 5000; ++i) ASSERT_EQ(value[i], 7);
}

}  // namespace
}  // namespace kernbench
