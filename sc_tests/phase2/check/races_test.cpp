// SPDX-License-Identifier: Apache-2.0
// A race is found if, and only if, nothing orders two accesses.
#include "kernbench/phase2/check/races.h"

#include <gtest/gtest.h>

#include "kernbench/phase2/text/forms.h"
#include "replay_helpers.h"

namespace kernbench {
namespace {

/// Commands of up to four PEs, written by hand. A command's source line is the number of its call.
class Races : public ::testing::Test {
 protected:
  uint64_t submit(uint32_t pe, CommandType type, const std::vector<Operand>& operands, const TensorRef& out) {
    auto d = std::make_shared<OpDesc>();
    d->type = type;
    d->name = type == CommandType::load ? "dma_read" : type == CommandType::store ? "dma_write" : "add";
    d->operands = operands;
    d->output = out;
    d->pe = pe;
    d->seq = seq_[pe]++;
    d->submit_ns = now_++;
    d->where = {"k.cpp", ++line_};
    history_.submitted(d);
    history_.completed(pe, d->seq, now_ + 10);
    return d->seq;
  }
  uint64_t load(uint32_t pe, const TensorRef& from, uint64_t to) {
    return submit(pe, CommandType::load, {operand(from)}, tcm(pe, to, from.dtype, from.shape));
  }
  uint64_t store(uint32_t pe, uint64_t from, const TensorRef& to) {
    return submit(pe, CommandType::store, {operand(tcm(pe, from, to.dtype, to.shape))}, to);
  }
  uint64_t math(uint32_t pe, uint64_t from, uint64_t to) {
    const TensorRef t = tcm(pe, from, DType::f32, {4});
    return submit(pe, CommandType::math, {operand(t)}, tcm(pe, to, DType::f32, {4}));
  }
  /// "kind first-line second-line" of every race.
  std::vector<std::string> found() const {
    std::vector<std::string> v;
    for (const Race& r : find_races(history_)) {
      v.push_back(std::string(name_of(r.kind)) + " " + std::to_string(r.first.where.line) + " " +
                  std::to_string(r.second.where.line));
    }
    return v;
  }
  static TensorRef at(uint64_t addr, int64_t n = 4) { return hbm(addr, DType::f32, {n}); }

  CommandHistory history_;
  uint64_t seq_[4] = {};
  double now_ = 0;
  int line_ = 0;
};

using Found = std::vector<std::string>;

TEST_F(Races, a_load_that_did_not_wait_for_the_store_before_it) {
  store(0, 0, at(0));
  load(0, at(8), 64);
  EXPECT_EQ(found(), (Found{"read_of_unfinished_write 1 2"}));
  const Race r = find_races(history_)[0];
  EXPECT_EQ(r.addr, 8u);
  EXPECT_EQ(r.nbytes, 8u) << "what both touch";
  EXPECT_TRUE(r.first.writes);
  EXPECT_FALSE(r.second.writes);
}

TEST_F(Races, none_if_the_store_was_waited_for) {
  history_.waited(0, store(0, 0, at(0)));
  load(0, at(8), 64);
  EXPECT_EQ(found(), Found{});
}

TEST_F(Races, none_between_ranges_that_only_touch) {
  store(0, 0, at(0));
  load(0, at(16), 64);
  EXPECT_EQ(found(), Found{});
}

TEST_F(Races, a_wait_that_comes_too_late_orders_nothing) {
  const uint64_t s = store(0, 0, at(0));
  load(0, at(0), 64);
  history_.waited(0, s);
  EXPECT_EQ(found().size(), 1u);
}

TEST_F(Races, a_store_over_what_a_load_may_still_read) {
  load(0, at(0), 0);
  store(0, 64, at(0));
  EXPECT_EQ(found(), (Found{"overwrite_of_unfinished_read 1 2"}));
}

TEST_F(Races, tcm_used_again_under_a_dma) {
  load(0, at(0), 0);
  math(0, 64, 0);
  EXPECT_EQ(found(), (Found{"two_writes 1 2"}));
}

TEST_F(Races, none_if_the_allocator_saw_the_dma_complete_but_memory_is_still_unordered) {
  const uint64_t l = load(0, at(0), 0);
  history_.found_complete(0, l);
  math(0, 64, 0);
  EXPECT_EQ(found(), Found{});
  store(0, 128, at(0));
  EXPECT_EQ(found(), (Found{"overwrite_of_unfinished_read 1 3"}));
}

TEST_F(Races, a_result_read_by_another_engine_before_it_is_there) {
  math(0, 64, 0);
  store(0, 0, at(0));
  EXPECT_EQ(found(), (Found{"read_of_unfinished_write 1 2"}));
}

TEST_F(Races, none_between_commands_that_one_server_does_in_order) {
  history_.serves_in_order(0, CommandType::math);
  math(0, 64, 0);
  math(0, 0, 64);
  EXPECT_EQ(found(), Found{});
}

TEST_F(Races, two_pes_that_write_one_range) {
  history_.waited(0, store(0, 0, at(0)));
  history_.waited(1, store(1, 0, at(12)));
  EXPECT_EQ(found(), (Found{"two_writes 1 2"}));
  EXPECT_EQ(find_races(history_)[0].nbytes, 4u);
}

TEST_F(Races, a_pe_that_reads_what_another_writes) {
  history_.waited(0, store(0, 0, at(0)));
  load(1, at(0), 0);
  EXPECT_EQ(found(), (Found{"read_of_unfinished_write 1 2"}));
}

TEST_F(Races, none_between_pes_that_only_read) {
  for (uint32_t pe = 0; pe < 4; ++pe) load(pe, at(0), 0);
  EXPECT_EQ(found(), Found{});
}

TEST_F(Races, none_if_a_message_says_that_the_write_was_waited_for) {
  history_.waited(0, store(0, 0, at(0)));
  history_.sent(0, 7);
  history_.received(1, 7);
  load(1, at(0), 0);
  // And to a third one, which gets no message from the first.
  history_.sent(1, 8);
  history_.received(2, 8);
  load(2, at(0), 0);
  EXPECT_EQ(found(), Found{});
  load(3, at(0), 0);
  EXPECT_EQ(found(), (Found{"read_of_unfinished_write 1 4"}));
}

TEST_F(Races, a_message_sent_before_the_wait_orders_nothing) {
  const uint64_t s = store(0, 0, at(0));
  history_.sent(0, 7);
  history_.waited(0, s);
  history_.received(1, 7);
  load(1, at(0), 0);
  EXPECT_EQ(found().size(), 1u);
}

TEST_F(Races, none_across_launches) {
  store(0, 0, at(0));
  history_.launch_ended();
  load(1, at(0), 0);
  store(2, 0, at(0));
  EXPECT_EQ(found(), (Found{"overwrite_of_unfinished_read 2 3"}));
}

TEST_F(Races, strided_rows_race_only_where_they_meet) {
  const auto column = [](uint64_t first) { return hbm(first * 4, DType::f32, {8, 1}, {4, 1}); };
  submit(0, CommandType::store, {operand(tcm(0, 0, DType::f32, {8, 1}))}, column(0));
  submit(1, CommandType::store, {operand(tcm(1, 0, DType::f32, {8, 1}))}, column(1));
  EXPECT_EQ(found(), Found{});
  submit(2, CommandType::store, {operand(tcm(2, 0, DType::f32, {8, 1}))}, column(1));
  EXPECT_EQ(found(), (Found{"two_writes 2 3"}));
}

TEST_F(Races, from_the_same_lines_are_one_with_a_count) {
  for (int i = 0; i < 5; ++i) {
    line_ = 10;
    store(0, 64 * static_cast<uint64_t>(i) + 4096, at(64 * static_cast<uint64_t>(i)));
    load(0, at(64 * static_cast<uint64_t>(i)), 8192 + 64 * static_cast<uint64_t>(i));
  }
  ASSERT_EQ(find_races(history_).size(), 1u);
  EXPECT_EQ(find_races(history_)[0].count, 5u);
  const std::string text = races_text(find_races(history_), {"sip0.cube0.pe0"});
  EXPECT_NE(text.find("hbm [0x0, 0x10), and 4 more from these lines"), std::string::npos) << text;
  EXPECT_NE(text.find("write by dma_write of sip0.cube0.pe0 at k.cpp:11, submitted 0 ns, complete 11 ns"),
            std::string::npos)
      << text;
  std::string json;
  JsonWriter writer(json);
  JsonFields f(writer);
  f.record([&] { describe_races(f, find_races(history_), {"sip0.cube0.pe0"}); });
  EXPECT_NE(json.find(R"("kind":"read_of_unfinished_write","space":"hbm","addr":0,"nbytes":16,"count":5)"),
            std::string::npos)
      << json;
}

TEST_F(Races, of_a_hundred_thousand_commands_are_sought_in_a_moment) {
  for (int i = 0; i < 25000; ++i) {
    for (uint32_t pe = 0; pe < 2; ++pe) {
      const uint64_t slice = (uint64_t{pe} << 32) + 256 * static_cast<uint64_t>(i % 5000);
      history_.waited(pe, load(pe, at(slice), 0));
      history_.waited(pe, store(pe, 0, at(slice)));
    }
  }
  EXPECT_EQ(found(), Found{});
}

}  // namespace
}  // namespace kernbench
