// SPDX-License-Identifier: Apache-2.0
// Handles: readable and unreadable ones, views, and the lifetime of their TCM.
#include <gtest/gtest.h>

#include <type_traits>

#include "tl_fixture.h"

namespace kernbench::testing {
namespace {

// ---- What does not compile ---------------------------------------------------------------------------------------

template <class T, class = void>
struct HasItem : std::false_type {};
template <class T>
struct HasItem<T, std::void_t<decltype(std::declval<const T&>().template item<float>())>> : std::true_type {};
template <class T, class = void>
struct HasVector : std::false_type {};
template <class T>
struct HasVector<T, std::void_t<decltype(std::declval<const T&>().template to_vector<float>())>> : std::true_type {};

static_assert(std::is_invocable_v<const tl::Loaded&, int, int>, "a load's elements can be read");
static_assert(std::is_constructible_v<bool, const tl::Loaded&>, "a load has a truth value");
static_assert(HasItem<tl::Loaded>::value && HasVector<tl::Loaded>::value);

static_assert(!std::is_invocable_v<const tl::Tensor&, int, int>, "a compute result's elements cannot be read");
static_assert(!std::is_constructible_v<bool, const tl::Tensor&>, "a compute result has no truth value");
static_assert(!HasItem<tl::Tensor>::value && !HasVector<tl::Tensor>::value);
static_assert(!std::is_convertible_v<tl::Tensor, tl::Loaded>, "a compute result does not become data by assignment");
static_assert(std::is_convertible_v<tl::Loaded, tl::Tensor>);
static_assert(std::is_same_v<decltype(std::declval<tl::Loaded>() + 1), tl::Tensor>, "sums of loads are pending");
static_assert(std::is_same_v<decltype(std::declval<tl::Loaded>() < 1), tl::Tensor>);
static_assert(std::is_same_v<decltype(std::declval<tl::Loaded>().transpose()), tl::Loaded>, "views of loads are data");

// ---- Reading -----------------------------------------------------------------------------------------------------

class TensorTest : public TlTest {};

TEST_F(TensorTest, a_load_gives_its_elements_in_every_type) {
  for (DType t : {DType::f32, DType::f16, DType::bf16, DType::i8, DType::i16, DType::i32}) {
    const auto x = loaded({2, 3}, {1, -2, 3, 4, 5, -6}, t);
    EXPECT_EQ(x(0, 1), -2) << name_of(t);
    EXPECT_EQ(x(1, 2), -6);
    EXPECT_EQ(x.to_vector<int>(), (std::vector<int>{1, -2, 3, 4, 5, -6}));
  }
  EXPECT_EQ(loaded({1}, {200}, DType::u8).item<int>(), 200);
  EXPECT_TRUE(loaded({1, 1}, {0.5f}));
  EXPECT_FALSE(loaded({1}, {0}));
}

TEST_F(TensorTest, faults_of_views_and_indices_name_the_kernels_line) {
  const auto x = loaded({2, 3}, {0, 1, 2, 3, 4, 5});
  const auto line = [](int n) { return "tensor_test.cpp:" + std::to_string(n) + ": "; };
  const auto begins = [](const std::string& text, const std::string& with) {
    return text.compare(0, with.size(), with) == 0;
  };
  const auto check = [&](int n, const std::string& fault) {
    EXPECT_TRUE(begins(fault, line(n))) << n << ": " << fault;
  };
  check(__LINE__, fault_of([&] { x(1); }));
  check(__LINE__, fault_of([&] { x(1, 3); }));
  check(__LINE__, fault_of([&] { x.item<float>(); }));
  check(__LINE__, fault_of([&] { x.slice(0, 1, 2); }));
  check(__LINE__, fault_of([&] { x.slice(2, 0, 1); }));
  check(__LINE__, fault_of([&] { x.dim(2); }));
  check(__LINE__, fault_of([&] { x.slice(0, 0, 1).slice(1, 0, 1).reshape({1}).transpose(); }));
  check(__LINE__, fault_of([&] { x.permute({0, 0}); }));
  check(__LINE__, fault_of([&] { x.reshape({7}); }));
  check(__LINE__, fault_of([&] { x.view({7}); }));
  check(__LINE__, fault_of([&] { x.transpose().reshape({6}); }));
  check(__LINE__, fault_of([&] { x.expand_dims(4); }));
  check(__LINE__, fault_of([&] { x.broadcast_to({2, 4}); }));
  check(__LINE__, fault_of([&] { tl.reshape(x, {7}); }));
  check(__LINE__, fault_of([&] { tl.program_id(3); }));
  const tl::Ptr p = fresh(DType::f32, 64);
  check(__LINE__, fault_of([&] { p.block({0}); }));
  check(__LINE__, fault_of([&] { p.block({4, 4}, 3); }));
  check(__LINE__, fault_of([&] { p.block({64}).slice(60, 5); }));
  check(__LINE__, fault_of([&] { p.block({8, 8}).rows(8, 1); }));
  check(__LINE__, fault_of([&] { p.block({8, 8}).tile(0, 0, 9, 1); }));
  check(__LINE__, fault_of([&] { tl.load(p, {0}); }));
}

TEST_F(TensorTest, views_of_a_load_read_the_elements_they_show) {
  const auto x = loaded({2, 3}, {0, 1, 2, 3, 4, 5});
  EXPECT_EQ(x.transpose().to_vector<int>(), (std::vector<int>{0, 3, 1, 4, 2, 5}));
  EXPECT_EQ(x.slice(1, 1, 2).to_vector<int>(), (std::vector<int>{1, 2, 4, 5}));
  EXPECT_EQ(x.slice(-2, 1, 1).to_vector<int>(), (std::vector<int>{3, 4, 5}));
  EXPECT_EQ(x.reshape({3, -1})(2, 0), 4);
  EXPECT_EQ(x.slice(0, 1, 1).broadcast_to({2, 3}).to_vector<int>(), (std::vector<int>{3, 4, 5, 3, 4, 5}));
  EXPECT_EQ(x.expand_dims(1).shape(), (Dims{2, 1, 3}));
  EXPECT_EQ(x.permute({1, 0})(2, 1), 5);
  EXPECT_EQ(backend.commands.size(), 1u) << "views are no commands";
}

TEST_F(TensorTest, a_strided_view_reshapes_only_where_no_copy_is_needed) {
  const auto x = loaded({4, 6}, Floats(24, 1));
  EXPECT_TRUE(x.slice(1, 0, 3).can_reshape({2, 2, 3}));
  EXPECT_FALSE(x.slice(1, 0, 3).can_reshape({12}));
  EXPECT_FALSE(x.transpose().can_reshape({24}));
  EXPECT_NE(fault_of([&] { (void)x.transpose().reshape({24}); }).find("needs a copy"), std::string::npos);
  const tl::Tensor copied = tl.reshape(x.transpose(), {24});
  EXPECT_EQ(last().op, "copy");
  EXPECT_EQ(copied.shape(), (Dims{24}));
}

TEST_F(TensorTest, reshape_copies_what_a_transposed_view_shows) {
  const auto x = loaded({2, 3}, {0, 1, 2, 3, 4, 5});
  EXPECT_EQ(values(tl.reshape(x.transpose(), {6})), (Floats{0, 3, 1, 4, 2, 5}));
}

TEST_F(TensorTest, reading_an_async_load_waits_for_it) {
  const auto p = place(DType::f32, {7, 8});
  const auto x = tl.load_async(p, {2});
  EXPECT_EQ(backend.loads_in_flight(), 1u);
  EXPECT_EQ(x(1), 8);
  EXPECT_EQ(backend.loads_in_flight(), 0u);
}

TEST_F(TensorTest, an_index_outside_is_a_fault) {
  const auto x = loaded({2, 3}, Floats(6, 0));
  EXPECT_THROW(x(2, 0), KernelFault);
  EXPECT_THROW(x(0, -1), KernelFault);
  EXPECT_THROW(x(0), KernelFault);
  EXPECT_THROW(x.item<float>(), KernelFault);
}

// ---- Pending -----------------------------------------------------------------------------------------------------

TEST_F(TensorTest, a_compute_result_read_at_run_time_names_handle_and_op) {
  const auto x = loaded({4, 8}, Floats(32, 1));
  const tl::Tensor sum = x + x;
  const int line = __LINE__ - 1;
  const std::string m = fault_of([&] { (void)sum.loaded(); });
  EXPECT_NE(m.find("handle h" + std::to_string(sum.id()) +
                   " (shape [4, 8] f32) is pending: made by op 'add' at "
                   "tensor_test.cpp:" +
                   std::to_string(line) + ", computed in Phase 2"),
            std::string::npos)
      << m;
}

TEST_F(TensorTest, a_load_of_pending_memory_can_be_passed_on_but_not_read) {
  const auto p = fresh(DType::f32, 4);
  tl.store(p, tl.exp(loaded({4}, {0, 1, 2, 3})));
  const int line = __LINE__ - 1;
  const auto back = tl.load(p, {4});
  const std::string m = fault_of([&] { (void)back(0); });
  EXPECT_NE(m.find("h" + std::to_string(back.id())), std::string::npos) << m;
  EXPECT_NE(m.find("made by op 'exp' at tensor_test.cpp:" + std::to_string(line)), std::string::npos) << m;
  EXPECT_THROW((void)static_cast<bool>(back.slice(0, 0, 1)), KernelFault);
  EXPECT_FLOAT_EQ(values(back * 2.0)[1], 2 * 2.7182817f);
}

TEST_F(TensorTest, one_pending_byte_makes_the_whole_handle_pending) {
  const auto p = place(DType::f32, {1, 2, 3, 4});
  tl.store(p + 3, tl.neg(loaded({1}, {9})));
  const auto x = tl.load(p, {4});
  EXPECT_THROW(x(0), KernelFault);
  EXPECT_THROW((void)x.slice(0, 0, 1).to_vector<float>(), KernelFault);
  EXPECT_EQ(tl.load(p, {3})(2), 3) << "what is not pending stays readable";
}

TEST_F(TensorTest, a_later_real_store_makes_pending_memory_real_again) {
  const auto p = place(DType::f32, {1, 2});
  tl.store(p, tl.neg(loaded({2}, {9, 9})));
  const auto pending = tl.load(p, {2});
  tl.store(p, loaded({2}, {5, 6}));
  EXPECT_EQ(tl.load(p, {2})(1), 6);
  EXPECT_THROW(pending(0), KernelFault) << "a handle is a value: what it holds never changes";
  EXPECT_EQ(values(pending), (Floats{-9, -9}));
}

TEST_F(TensorTest, a_handle_keeps_its_value_when_memory_changes) {
  const auto p = place(DType::f32, {1, 2});
  const auto before = tl.load(p, {2});
  tl.store(p, loaded({2}, {5, 6}));
  EXPECT_EQ(before(0), 1);
  EXPECT_EQ(values(before), (Floats{1, 2}));
}

TEST_F(TensorTest, loaded_gives_the_data_of_a_load_whose_static_type_was_lost) {
  const std::vector<tl::Tensor> kept{loaded({2}, {3, 4})};
  EXPECT_EQ(kept[0].loaded()(1), 4);
}

TEST_F(TensorTest, an_empty_tensor_is_a_fault_wherever_it_is_used) {
  const tl::Tensor none;
  const tl::Loaded nothing;
  const auto x = loaded({1}, {1});
  EXPECT_THROW((void)(none + x), KernelFault);
  EXPECT_THROW((void)(x + none), KernelFault);
  EXPECT_THROW((void)-none, KernelFault);
  EXPECT_THROW((void)tl.exp(none), KernelFault);
  EXPECT_THROW((void)tl.dot(none, none), KernelFault);
  EXPECT_THROW(tl.store(fresh(DType::f32, 1), none), KernelFault);
  EXPECT_THROW(tl.wait(none), KernelFault);
  EXPECT_THROW((void)nothing(0), KernelFault);
  EXPECT_THROW((void)none.reshape({}), KernelFault);
}

// ---- TCM ---------------------------------------------------------------------------------------------------------

TEST_F(TensorTest, the_last_copy_or_view_gives_the_tcm_back) {
  const auto p = place(DType::f32, Floats(64, 1));
  {
    tl::Tensor view;
    {
      const auto x = tl.load(p, {8, 8});
      view = x.transpose().slice(0, 1, 1);
      EXPECT_EQ(backend.tcm().used_bytes(), 256u);
    }
    EXPECT_EQ(backend.tcm().used_bytes(), 256u);
    view = tl::Tensor();
    EXPECT_EQ(backend.tcm().used_bytes(), 0u);
  }
}

TEST_F(TensorTest, assigning_a_result_frees_what_the_variable_held) {
  tl::Tensor acc = tl.zeros({64}, DType::f32);
  for (int i = 0; i < 10; ++i) acc += 1.0;
  EXPECT_EQ(backend.tcm().used_bytes(), 256u);
  EXPECT_EQ(backend.tcm().high_water(), 512u);
  EXPECT_EQ(values(acc), Floats(64, 10));
}

TEST_F(TensorTest, exhausted_tcm_is_a_fault_that_says_how_much_was_asked) {
  const std::string m = fault_of([&] { (void)tl.zeros({1 << 20}, DType::f32); });
  EXPECT_NE(m.find("4194304 bytes asked, 1048576 free"), std::string::npos) << m;
}

TEST_F(TensorTest, tcm_under_a_load_in_flight_is_not_handed_on) {
  const auto p = place(DType::f32, Floats(64, 3));
  { const auto dropped = tl.load_async(p, {64}); }
  EXPECT_EQ(backend.tcm().used_bytes(), 256u);
  const auto other = loaded({64}, Floats(64, 5));
  EXPECT_NE(other.ref().addr, 0u);
  tl.finish();
  EXPECT_EQ(backend.loads_in_flight(), 0u);
  EXPECT_EQ(other(63), 5);
  EXPECT_EQ(backend.tcm().used_bytes(), 256u);
}

TEST_F(TensorTest, exhaustion_first_waits_for_room_that_commands_in_flight_still_hold) {
  backend.hold_stores = true;
  const auto to = fresh(DType::f32, 1 << 20);
  for (int i = 0; i < 40; ++i) {  // 40 times 64 KiB through 1 MiB
    tl.store_async(to + i * 16384, tl.full({16384}, i, DType::f32));
  }
  EXPECT_EQ(memory_after(to + 39 * 16384, {1}), Floats{39});
  EXPECT_EQ(memory_after(to, {1}), Floats{0});
}

}  // namespace
}  // namespace kernbench::testing
