// SPDX-License-Identifier: Apache-2.0
// A user-defined memory defines its service once. Zero load is that service on an idle state. Traffic does not change
// it, and a query during traffic does not change traffic.
#include <gtest/gtest.h>

#include "kernbench/systemc_models/fabric/memory_target.h"
#include "system_support.h"

namespace kernbench::testing::zero_load_leaves_the_state_alone {
namespace {

/// Each access takes 10 ns more than the one before.
struct Tired {
  double more_ns = 0, free_ns = 0;
};
class TiredMemory : public StatefulMemory<Tired> {
 public:
  using MemoryTarget::begin_service;
  using StatefulMemory::StatefulMemory;

 protected:
  Service serve(Tired& state, const Request& q) const override {
    const double start = std::max(q.arrival_ns, state.free_ns);
    state.free_ns = start + 100 + state.more_ns;
    state.more_ns += 10;
    return {start, state.free_ns};
  }
};
/// Like its base, plus a microsecond.
class MoreTired : public TiredMemory {
 public:
  using TiredMemory::TiredMemory;

 protected:
  Service serve(Tired& state, const Request& q) const override {
    Service s = TiredMemory::serve(state, q);
    s.finish_ns += 1000;
    return s;
  }
};

template <class Memory>
void expect_alone(double more_ns) {
  System system;
  Memory memory("memory", system, BlockParameters{}), other("other", system, BlockParameters{});
  Route route;
  route.target = &memory;
  const auto zero_ns = [&] { return memory.at_zero_load({route, false, 0, 64, {1, 64, 0}}).finish_ns; };
  FabricTransaction x(nullptr);
  x.route = &route;
  x.rows = {1, 64, 0};
  for (int i = 0; i < 4; ++i) {
    x.time_ns = 5000.0 * i;
    x.own_service_ns = x.drain_ns = 0;
    EXPECT_EQ(zero_ns(), 100 + more_ns);
    const Service s = memory.begin_service(x);
    EXPECT_EQ(s.finish_ns - x.time_ns, 100 + 10 * i + more_ns);
    EXPECT_EQ(x.own_service_ns, 100 + 10 * i + more_ns);  // none of it is counted
    EXPECT_EQ(zero_ns(), 100 + more_ns);
  }
  EXPECT_EQ(other.at_zero_load({route, false, 0, 64, {1, 64, 0}}).finish_ns, 100 + more_ns);
}

TEST(zero_load, is_the_law_on_an_idle_state) {
  expect_alone<TiredMemory>(0);
}

TEST(zero_load, of_an_heir_follows_from_its_serve_alone) {
  expect_alone<MoreTired>(1000);
}

}  // namespace
}  // namespace kernbench::testing::zero_load_leaves_the_state_alone
