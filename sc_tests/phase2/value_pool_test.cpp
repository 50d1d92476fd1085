// Memory for values: used again, told apart from new memory, and cut for each thread from blocks of its own.
#include "kernbench/phase2/graph/value_pool.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <cstring>
#include <set>
#include <thread>

namespace kernbench {
namespace {

constexpr uint64_t kLargePage = uint64_t{2} << 20;

TEST(ValuePool, gives_back_what_was_put_and_says_that_it_is_not_fresh) {
  ValuePool pool;
  for (uint64_t nbytes : {uint64_t{100}, uint64_t{16} << 10, uint64_t{3} << 20}) {
    const ValuePool::Place first = pool.get(nbytes);
    EXPECT_TRUE(first.fresh);
    EXPECT_EQ(reinterpret_cast<uintptr_t>(first.bytes) % 64, 0u);
    std::memset(first.bytes, 1, nbytes);
    pool.put(first.bytes, nbytes);
    const ValuePool::Place again = pool.get(nbytes);
    EXPECT_EQ(again.bytes, first.bytes);
    EXPECT_FALSE(again.fresh);
    EXPECT_TRUE(pool.get(nbytes).fresh);
  }
}

TEST(ValuePool, never_lets_two_threads_touch_one_new_page) {
  ValuePool pool;
  std::set<uintptr_t> pages[2];
  const auto take = [&pool](std::set<uintptr_t>& mine) {
    for (int i = 0; i < 1000; ++i) {
      const auto at = reinterpret_cast<uintptr_t>(pool.get(16384).bytes);
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
    value = pool.get(5000).bytes;
    std::memset(value, 7, 5000);
    owner = pool.owner_of(value + 4000);
  }
  for (int i = 0; i < 5000; ++i) ASSERT_EQ(value[i], 7);
}

}  // namespace
}  // namespace kernbench
