// SPDX-License-Identifier: Apache-2.0
// Are entries of one instant processed by their order, and those of equal order in sequence of entry?
#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <random>
#include <tuple>
#include <vector>

#include "kernbench/systemc_models/core/timeline.h"

namespace kernbench::testing {
namespace {

/// Entries at random instants and orders; half of them are made while others are processed.
class Agenda {
 public:
  Agenda(uint32_t most_numbers, unsigned seed) : timeline_("timeline", most_numbers), random_(seed) {
    for (int i = 0; i < 500; ++i) add(0);
  }

  /// Processed entries, as (instant, major, minor, order of entry).
  using Done = std::tuple<double, uint64_t, uint64_t, size_t>;
  std::vector<Done> run() {
    sc_core::sc_start();
    return done_;
  }

 private:
  struct Item {
    Done done;
  };

  void add(double from_ns) {
    const double t_ns = from_ns + 1 + static_cast<double>(random_() % 3);
    const Order order(Order::kEngines, random_() % 3, random_() % 2);
    items_.push_back(std::make_unique<Item>(Item{{t_ns, order.major, order.minor, items_.size()}}));
    timeline_.at(t_ns, order, call<&Agenda::work_off>(*this, *items_.back()));
  }
  void work_off(Item& i) {
    done_.push_back(i.done);
    if (items_.size() < 3000) add(std::get<0>(i.done));
  }

  Timeline timeline_;
  std::mt19937 random_;
  std::vector<std::unique_ptr<Item>> items_;
  std::vector<Done> done_;
};

TEST(Timeline, works_off_entries_in_their_order) {
  const std::vector<Agenda::Done> done = Agenda(~0u, 1).run();
  EXPECT_EQ(done.size(), 3000u);
  EXPECT_TRUE(std::is_sorted(done.begin(), done.end()));
}

TEST(Timeline, keeps_the_order_when_its_numbers_are_used_up) {
  const std::vector<Agenda::Done> done = Agenda(700, 2).run();
  EXPECT_EQ(done.size(), 3000u);
  EXPECT_TRUE(std::is_sorted(done.begin(), done.end()));
}

}  // namespace
}  // namespace kernbench::testing
