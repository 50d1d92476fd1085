// SPDX-License-Identifier: Apache-2.0
// Streams, events, delays and launches by rank: all begin, start and end times by hand on a machine of two or three
// ranks.
#include <gtest/gtest.h>

#include "kernbench/phase2/op/errors.h"
#include "kernbench/platform/host/program.h"
#include "ranks_toy_system.h"
#include "system_support.h"

namespace kernbench::testing {
namespace {

using host::Operation;
using ranks_toy::way_ns;

/// Works for `cycles` ns on every PE, times (r + 1) on rank r.
KernelSpec work_kernel() {
  KernelSpec s;
  s.name = "program_test_work";
  s.help = "of the tests of programs";
  s.params = {ParamSpec::size("cycles", 100, "of the first rank")};
  s.function = [](tl::Context& tl, const tl::Args& args) {
    tl.elapse(static_cast<double>(args.integer("cycles") * (tl.rank() + 1)));
  };
  s.reference = [](const Params&, const TensorMap&) { return std::map<std::string, Expected>{}; };
  return s;
}
const RegisterKernel work{work_kernel()};

void launch_work(host::Context& h, const host::On& on, int cycles, const std::string& pes = "all") {
  h.launch(on, "program_test_work", {{"cycles", std::to_string(cycles)}}, {}, pes);
}

/// Runs a program without tensors and returns its operations.
std::vector<Operation> operations(int ranks, std::function<void(host::Context&)> function,
                                  LaunchMode mode = LaunchMode::host) {
  static std::unique_ptr<Platform> platform;
  platform = platform_from_text(ranks_toy::system(ranks));
  ProgramSpec spec;
  spec.name = "test";
  spec.function = std::move(function);
  host::ContextOptions options;
  options.launch = mode;
  host::Program program(*platform, spec, {}, {}, options);
  program.start();
  sc_core::sc_start();
  program.check();
  const auto& ops = program.context().streams().operations();
  return {ops.begin(), ops.end()};
}

void expect_times(const Operation& op, double begin, double start, const std::vector<double>& ends) {
  EXPECT_NEAR(op.begin_ns, begin, 1e-9);
  EXPECT_NEAR(op.start_ns, start, 1e-9);
  ASSERT_EQ(op.end_ns.size(), ends.size());
  for (size_t i = 0; i < ends.size(); ++i) EXPECT_NEAR(op.end_ns[i], ends[i], 1e-9) << "rank " << i;
}

TEST(ProgramLaunch, has_one_stamp_and_ends_for_each_rank_with_its_own_completion) {
  const auto ops = operations(2, [](host::Context& h) { launch_work(h, h.ranks(), 100); });
  ASSERT_EQ(ops.size(), 1u);
  const double start = way_ns(1);
  expect_times(ops[0], 0, start, {start + 100 + way_ns(0), start + 200 + way_ns(1)});
}

TEST(ProgramLaunch, that_is_direct_starts_when_it_begins_and_ends_with_the_last_pe) {
  const auto ops = operations(
      2,
      [](host::Context& h) {
        h.delay(h.ranks(), 7.5);
        launch_work(h, h.ranks(), 100);
      },
      LaunchMode::direct);
  expect_times(ops.at(1), 7.5, 7.5, {107.5, 207.5});
}

TEST(ProgramStream, does_its_operations_in_order_and_ranks_drift_until_a_launch_of_all) {
  const auto ops = operations(2, [](host::Context& h) {
    launch_work(h, h.ranks(), 100);
    launch_work(h, h.rank(0), 10);
    launch_work(h, h.ranks(), 1);
  });
  const double first0 = way_ns(1) + 100 + way_ns(0), first1 = way_ns(1) + 200 + way_ns(1);
  // Alone, rank 0 waits only for its own path. tl.rank() counts the ranks of the launch.
  const double second = first0 + way_ns(0) + 10 + way_ns(0);
  expect_times(ops.at(1), first0, first0 + way_ns(0), {second});
  const double third = std::max(second, first1);
  expect_times(ops.at(2), third, third + way_ns(1),
               {third + way_ns(1) + 1 + way_ns(0), third + way_ns(1) + 2 + way_ns(1)});
}

TEST(ProgramStream, of_one_rank_is_another_for_each_that_is_made) {
  const auto ops = operations(1, [](host::Context& h) {
    const host::Stream other = h.stream(0);
    h.delay(h.rank(0), 50);
    h.delay(other, 20);
    h.delay(other, 5);
    h.delay(h.rank(0), 1);
  });
  expect_times(ops.at(0), 0, 0, {50});
  expect_times(ops.at(1), 0, 0, {20});
  expect_times(ops.at(2), 20, 20, {25});
  expect_times(ops.at(3), 50, 50, {51});
}

TEST(ProgramEvent, holds_up_the_streams_that_wait_for_it_and_no_others) {
  const auto ops = operations(3, [](host::Context& h) {
    const host::Event e = h.event("ready");
    h.wait(e, h.rank(1));
    h.delay(h.ranks(), 10);  // one operation: begins when it is first in all three streams
    h.delay(h.rank(2), 1);
    const host::Stream other = h.stream(0);
    h.delay(other, 30);
    h.record(e, other);
    h.delay(other, 2);
  });
  ASSERT_EQ(ops.size(), 6u);
  expect_times(ops[0], 30, 30, {30});  // the wait
  expect_times(ops[1], 30, 30, {40, 40, 40});
  expect_times(ops[2], 40, 40, {41});
  expect_times(ops[4], 30, 30, {30});  // the record
  expect_times(ops[5], 30, 30, {32});
}

TEST(ProgramEvent, that_is_done_already_holds_up_nobody) {
  const auto ops = operations(2, [](host::Context& h) {
    const host::Event e = h.event();
    h.record(e, h.rank(0).streams()[0]);
    h.synchronize(e);
    EXPECT_EQ(h.now_ns(), 0);
    h.delay(h.rank(1), 3);
    h.synchronize(host::Stream{1, 0});
    EXPECT_NEAR(h.now_ns(), 3, 1e-12);
    h.wait(e, h.rank(0));
    h.delay(h.rank(0), 1);
  });
  expect_times(ops.at(3), 3, 3, {4});
}

TEST(ProgramBlocking, sees_the_end_of_what_it_waits_for_and_goes_on_from_there) {
  double after_one = 0, after_all = 0;
  operations(2, [&](host::Context& h) {
    launch_work(h, h.rank(0), 100);
    h.delay(h.rank(1), 1000);
    h.synchronize(host::Stream{0, 0});
    after_one = h.now_ns();
    h.synchronize();
    after_all = h.now_ns();
  });
  EXPECT_NEAR(after_one, 2 * way_ns(0) + 100, 1e-9);
  EXPECT_NEAR(after_all, 1000, 1e-9);
}

TEST(ProgramDelay, moves_only_what_depends_on_it) {
  const auto body = [](double ns) {
    return [ns](host::Context& h) {
      h.delay(h.rank(1), ns);
      launch_work(h, h.rank(0), 10);  // does not depend on it
      launch_work(h, h.rank(1), 10);
      launch_work(h, h.rank(2), 10);  // it does not either
      launch_work(h, h.ranks(), 10);
    };
  };
  const std::string wrong = in_child([&] {
    const auto without = operations(3, body(0));
    return std::to_string(without.at(4).begin_ns);
  });
  const auto ops = operations(3, body(500));
  expect_times(ops.at(1), 0, way_ns(0), {10 + 2 * way_ns(0)});
  expect_times(ops.at(3), 0, way_ns(2), {10 + 2 * way_ns(2)});
  expect_times(ops.at(2), 500, 500 + way_ns(1), {510 + 2 * way_ns(1)});
  EXPECT_NEAR(ops.at(4).begin_ns, 510 + 2 * way_ns(1), 1e-9);
  EXPECT_NEAR(std::stod(wrong), 10 + 2 * way_ns(2), 1e-5) << "without the delay the farthest rank is the last";
}

TEST(ProgramLaunch, runs_beside_another_on_other_pes) {
  const auto ops = operations(1, [](host::Context& h) {
    launch_work(h, h.rank(0), 100, "sip0.cube0.pe0");
    launch_work(h, h.stream(0), 100, "sip0.cube0.pe1");
  });
  EXPECT_EQ(ops.at(0).begin_ns, 0);
  EXPECT_EQ(ops.at(1).begin_ns, 0);
  EXPECT_NEAR(ops.at(1).end_ns.at(0), 100 + 2 * way_ns(0), 1e-9);
  EXPECT_LT(ops.at(0).end_ns.at(0), ops.at(1).end_ns.at(0)) << "PE 0 is nearer";
}

/// Replaces the program's line, if there is one, by "LINE: ".
std::string without_line(const std::string& what) {
  const std::string file = "programs_begin_and_end_as_streams_say_test.cpp:";
  const size_t at = what.find(file), end = what.find(": ", at + file.size());
  return at != 0 || end == std::string::npos ? what : "LINE: " + what.substr(end + 2);
}

/// The program's error.
std::string fault_of(int ranks, const std::function<void(host::Context&)>& function) {
  try {
    operations(ranks, function);
  } catch (const RunError& e) {
    return "1: " + without_line(e.what());
  } catch (const std::invalid_argument& e) {
    return "2: " + without_line(e.what());
  } catch (const InputError& e) {
    return "2: " + without_line(e.what());
  }
  return {};
}

TEST(ProgramFault, pe_busy_names_both_launches) {
  EXPECT_EQ(
      fault_of(1,
               [](host::Context& h) {
                 launch_work(h, h.rank(0), 100);
                 launch_work(h, h.stream(0), 100);
               }),
      "1: LINE: pe_busy: sip0.cube0.pe0: launch 1 (program_test_work) found it running launch 0 (program_test_work)");
}

TEST(ProgramFault, an_event_that_is_never_recorded_is_named) {
  EXPECT_EQ(fault_of(2,
                     [](host::Context& h) {
                       h.wait(h.event("never"), h.rank(1));
                       h.delay(h.rank(1), 1);
                     }),
            "1: LINE: event never is waited for in stream 0 of rank 1 and never recorded");
}

TEST(ProgramFault, a_partial_tensor_cannot_be_read) {
  EXPECT_EQ(
      fault_of(
          2, [](host::Context& h) { h.read(h.tensor(DType::f32, {8}, host::rank_partial().pe(host::shard(0)), "p")); }),
      "1: LINE: tensor p is partial over ranks and cannot be read: an all_reduce sums it up");
}

/// In the first launch it is an input error, later a run error: the contents depend on earlier operations.
TEST(ProgramFault, rings_without_room_are_told) {
  for (const bool first : {true, false}) {
    const std::string told = in_child([&] {
      return fault_of(2, [&](host::Context& h) {
        const host::Tensor t = h.tensor(DType::f32, {8}, host::rank_replicate());
        if (!first) launch_work(h, h.ranks(), 100);
        h.launch(h.ranks(), "all_reduce", {{"over", "rank"}, {"slots", "65536"}}, {{"x", t}, {"y", t}});
      });
    });
    EXPECT_EQ(told.substr(0, 2), first ? "2:" : "1:") << told;
    for (const char* text : {"kernel all_reduce: queues[0]", "268435456 bytes", "sip0.cube0.pe0"})
      EXPECT_NE(told.find(text), std::string::npos) << told;
  }
}

TEST(ProgramFault, bad_ranks_tensors_and_names_are_told_in_one_line) {
  const auto is = [](const std::string& expected, const std::function<void(host::Context&)>& f) {
    EXPECT_EQ(in_child([&] { return fault_of(2, f); }), expected);
  };
  is("2: LINE: stream 0 of rank 2: the program has none", [](host::Context& h) { h.rank(2); });
  is("2: LINE: rank 7: the program has 2 ranks", [](host::Context& h) { h.stream(7); });
  is("2: LINE: launch of vector_add: tensor c is not given", [](host::Context& h) {
    const host::Tensor t = h.tensor(DType::f32, {8}, host::rank_replicate());
    h.launch(h.ranks(), "vector_add", {}, {{"a", t}, {"b", t}});
  });
  is("2: LINE: launch of vector_add: tensor b: found f32 [9] (tensor1), the kernel has f32 [8]", [](host::Context& h) {
    const host::Tensor t = h.tensor(DType::f32, {8}, host::rank_replicate());
    const host::Tensor u = h.tensor(DType::f32, {9}, host::rank_replicate());
    h.launch(h.ranks(), "vector_add", {}, {{"a", t}, {"b", u}, {"c", t}});
  });
  is("2: LINE: tensor t: shard(3) of a tensor with 1 axes",
     [](host::Context& h) { h.tensor(DType::f32, {8}, host::rank_shard(3), "t"); });
}

}  // namespace
}  // namespace kernbench::testing
