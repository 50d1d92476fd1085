// SPDX-License-Identifier: Apache-2.0
// tl.materialize: a computed handle can be read, branched on and stored, with the bits of Phase 2. All other handles
// stay pending.
#include "kernel_harness.h"
#include "tl_fixture.h"

namespace kernbench::testing {
namespace {

using Materialize = TlTest;

TEST_F(Materialize, gives_the_elements_of_a_compute_result) {
  const auto x = loaded({2, 3}, {1, 2, 3, 4, 5, 6});
  const auto sums = tl.materialize(tl.sum(x * x, 1));
  EXPECT_EQ(sums.to_vector<float>(), (Floats{14, 77}));
  EXPECT_EQ(sums(1), 77.0);
  EXPECT_TRUE(tl.materialize(tl.max(x) > 5).item<bool>());
}

TEST_F(Materialize, gives_what_was_loaded_from_pending_memory) {
  const tl::Ptr at = fresh(DType::f32, 3);
  tl.store(at, -loaded({3}, {1, 2, 3}));
  const auto again = tl.load(at, {3});
  EXPECT_NE(fault_of([&] { again(0); }).find("pending"), std::string::npos);
  EXPECT_EQ(tl.materialize(again).to_vector<float>(), (Floats{-1, -2, -3}));
  EXPECT_EQ(again(2), -3.0) << "copies of the handle are the same value";
}

TEST_F(Materialize, of_a_view_makes_the_whole_handle_real) {
  const auto square = -loaded({2, 2}, {1, 2, 3, 4});
  EXPECT_EQ(tl.materialize(square.transpose()).to_vector<float>(), (Floats{-1, -3, -2, -4}));
  EXPECT_EQ(square.loaded()(0, 1), -2.0);
}

TEST_F(Materialize, costs_no_command_for_data_that_is_there) {
  const auto x = loaded({2}, {1, 2});
  const size_t before = backend.commands.size();
  EXPECT_EQ(tl.materialize(x)(1), 2.0);
  EXPECT_EQ(backend.commands.size(), before);
  const auto y = -x;
  tl.materialize(y);
  tl.materialize(y);
  EXPECT_EQ(backend.commands.size(), before + 2);
}

TEST_F(Materialize, waits_for_a_load_in_flight) {
  const auto x = tl.load_async(place(DType::f32, {1, 2}), {2});
  EXPECT_EQ(backend.loads_in_flight(), 1u);
  EXPECT_EQ(tl.materialize(x)(0), 1.0);
}

TEST_F(Materialize, leaves_everything_else_pending) {
  const auto x = loaded({2}, {1, 2});
  const auto y = -x;
  const auto z = tl.exp(y);
  tl.materialize(tl.sum(z));
  EXPECT_NE(fault_of([&] { y.loaded(); }).find("pending"), std::string::npos);
  EXPECT_NE(fault_of([&] { z.loaded(); }).find("pending"), std::string::npos);
}

TEST_F(Materialize, makes_stores_of_the_handle_real) {
  const tl::Ptr at = fresh(DType::f32, 2);
  const auto y = -loaded({2}, {1, 2});
  tl.materialize(y);
  tl.store(at, y);
  EXPECT_NE(last().data, nullptr);
  EXPECT_EQ(tl.load(at, {2})(1), -2.0);
  EXPECT_EQ(memory_after(at, {2}), (Floats{-1, -2}));
}

TEST_F(Materialize, is_a_record_that_says_what_was_computed) {
  const auto x = loaded({4}, {1, 2, 3, 4});
  tl.exp(x);
  tl.materialize(tl.sum(-x));
  const OpDesc& d = last();
  EXPECT_EQ(d.name, "materialize");
  ASSERT_NE(d.materialized, nullptr);
  ASSERT_EQ(d.materialized->computed.size(), 2u) << "neg and sum, not exp";
  EXPECT_EQ(backend.commands[d.materialized->computed[0].seq]->op, "neg");
  EXPECT_EQ(backend.commands[d.materialized->computed[1].seq]->op, "sum");
  EXPECT_EQ(d.materialized->operations, 8);
  EXPECT_EQ(d.data->size(), 4u);
}

TEST_F(Materialize, beyond_the_limits_is_a_fault_with_the_kernels_line) {
  system.limits.operations = 100;
  const auto a = loaded({8, 8}, std::vector<float>(64, 1));
  const std::string fault = fault_of([&] { tl.materialize(tl.dot(a, a)); });
  EXPECT_NE(fault.find("materialize_test.cpp:"), std::string::npos) << fault;
  EXPECT_NE(fault.find("1 ops of 1.02e+03 operations"), std::string::npos) << fault;
}

TEST_F(Materialize, of_a_result_in_memory_is_a_fault) {
  const tl::Ptr p = place(DType::f32, {1, 2, 3, 4});
  const auto c = tl.composite(tl::elementwise("neg", {tl::Context::ref(p, {4})}).out(fresh(DType::f32, 4).block({4})));
  EXPECT_NE(fault_of([&] { tl.materialize(c); }), "");
}

TEST(NewtonSqrt, stops_when_it_has_converged_and_is_verified) {
  for (const char* n : {"1", "7", "1000"}) {
    for (uint32_t pes : {1u, 3u}) {
      RunOptions o;
      o.pes = pes;
      expect_verified("newton_sqrt", {{"n", n}, {"block", "128"}}, o);
    }
  }
}

TEST(NewtonSqrt, takes_as_many_steps_as_the_values_need) {
  const auto steps = [](float value) {
    RunOptions o;
    o.pes = 1;
    o.inputs["x"] = HostTensor::from(DType::f32, {8}, Floats(8, value));
    const KernelRun run = run_kernel("newton_sqrt", {{"n", "8"}}, o);
    size_t n = 0;
    for (const auto& c : run.commands[0]) n += c->name == "materialize";
    return n;
  };
  EXPECT_EQ(steps(1), 1u);
  EXPECT_GT(steps(1e-4f), 5u);
}

}  // namespace
}  // namespace kernbench::testing
