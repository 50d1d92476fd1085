// SPDX-License-Identifier: Apache-2.0
// Do kernels that send and receive have correct data in both passes, is each fault reported with its line, and does the
// race check use the order that a message gives? (collectives rules §11)
#include <gtest/gtest.h>

#include <cstdlib>
#include <fstream>
#include <nlohmann/json.hpp>
#include <sstream>

#include "kernbench/phase2/graph/executor.h"
#include "kernbench/phase2/io/memory_file.h"
#include "kernbench/phase2/log/oplog_file.h"
#include "kernbench/phase2/op/errors.h"
#include "kernbench/platform/run/run.h"
#include "system_support.h"

namespace kernbench::testing::messages_carry_values_between_kernels {
namespace {

constexpr int64_t kRow = 3000;  // f32: three segments of 4,096 bytes

/// A ring over the PEs of the launch: port E of each to port W of the next.
std::vector<QueueConnection> ring(const Params&, const LaunchShape& launch) {
  std::vector<QueueConnection> connections;
  const auto n = static_cast<int64_t>(launch.pes.size());
  for (int64_t i = 0; i < n && n > 1; ++i) connections.push_back({i, "E", (i + 1) % n, "W", {}, {}, {}});
  return connections;
}

/// y of each PE is twice the x of the previous PE, sent as a pending value, plus that x, sent as real data.
void pass_on(tl::Context& tl, const tl::Args& args) {
  const auto x = tl.load(args["x"]);
  const auto twice = tl.add(x, x);
  tl.send_async("E", twice);
  const auto got = tl.recv("W", {1, kRow}, DType::f32);
  tl.send_async("E", x);
  const auto real = tl.recv("W", {1, kRow}, DType::f32);
  if (real(0, 0) > 100) throw std::runtime_error("what was sent real is read as something else");
  tl.store(args["y"], tl.add(got, real));
}

/// The same with copy_to_dst, and with empty messages before.
void copy_on(tl::Context& tl, const tl::Args& args) {
  tl.send_async("E");
  tl.recv("W");
  const auto x = tl.load(args["x"]);
  tl.send_async("E", tl.mul(x, 3.0));
  tl.wait(tl.copy_to_dst_async("W", args["y"].block()));
}

void wrong_shape(tl::Context& tl, const tl::Args& args) {
  tl.send_async("E", tl.load(args["x"]));
  tl.recv("W", {kRow}, DType::f32);
}

void wrong_dtype(tl::Context& tl, const tl::Args& args) {
  tl.send_async("E", tl.load(args["x"]));
  tl.recv("W", {1, kRow}, DType::i32);
}

void wrong_bytes(tl::Context& tl, const tl::Args& args) {
  tl.send_async("E", tl.load(args["x"]));
  tl.recv("W", {1, kRow - 1}, DType::f32);
}

void no_tensor(tl::Context& tl, const tl::Args&) {
  tl.send("E", tl::Tensor());
}

void wrong_port(tl::Context& tl, const tl::Args& args) {
  tl.send("N", tl.load(args["x"]));
}

void not_contiguous(tl::Context& tl, const tl::Args& args) {
  tl.send("E", tl.load(args["x"]).reshape({2, kRow / 2}).transpose());
}

void left_over(tl::Context& tl, const tl::Args& args) {
  tl.send("E", tl.load(args["x"]));
}

void late(tl::Context& tl, const tl::Args& args) {
  if (tl.index() > 0) return;
  tl.elapse(1e5);
  tl.send("E", tl.load(args["x"]));
}

void all_receive(tl::Context& tl, const tl::Args&) {
  tl.recv("W", {1, kRow}, DType::f32);
  tl.send("E");
}

void reads_pending(tl::Context& tl, const tl::Args& args) {
  tl.send_async("E", tl.exp(tl.load(args["x"])));
  const auto got = tl.recv("W", {1, kRow}, DType::f32);
  if (got(0, 0) > 0) tl.store(args["y"], got);
}

void any_of_outstanding(tl::Context& tl, const tl::Args& args) {
  tl.send_async("E", tl.load(args["x"]));
  tl.send_async("W", tl.load(args["x"]));
  const auto first = tl.recv_async("W", {1, kRow}, DType::f32);
  tl.recv_any({"W", "E"}, {1, kRow}, DType::f32);
  tl.wait(first);
}

/// A recv_any of a single port advances the round robin too: the next one begins after that port.
void any_in_turn(tl::Context& tl, const tl::Args& args) {
  const auto x = tl.load(args["x"]);
  for (const char* port : {"E", "E", "W", "W"}) tl.send_async(port, x);
  tl.elapse(1e5);  // until all have arrived
  tl.recv_any({"W"}, {1, kRow}, DType::f32);
  if (tl.recv_any({"W", "E"}, {1, kRow}, DType::f32).port != "E") throw std::runtime_error("it was E's turn");
  tl.recv("E", {1, kRow}, DType::f32);
  tl.store(args["y"], tl.recv("W", {1, kRow}, DType::f32));
}

/// PE 0 writes y of PE 1 and sends a message (or sends it before the write is done); PE 1 reads it.
void message_orders(tl::Context& tl, const tl::Args& args) {
  if (tl.index() == 0) {
    const auto e = tl.store_async(args.shard("y", 1), tl.load(args["x"]));
    if (!args.flag("early")) tl.wait(e);
    tl.send("E");
    tl.recv("W");
  } else {
    tl.recv("W");
    tl.load(args["y"]);
    tl.send("E");
  }
}

KernelSpec spec_of(const std::string& name, KernelFunction body, double scale_before, double scale_real) {
  KernelSpec s;
  s.name = "messages_" + name;
  s.help = "sends and receives";
  const auto rows = [](const Params& p) { return Dims{p.integer("members"), kRow}; };
  const auto f32 = [](const Params&) { return DType::f32; };
  s.params = {ParamSpec::size("members", 2, "PEs"), ParamSpec::flag("early", false, "too early")};
  s.tensors = {{"x", TensorSpec::Role::in, rows, f32, Placement::rows, Init::uniform()},
               {"y", TensorSpec::Role::out, rows, f32, Placement::rows, {}}};
  s.function = std::move(body);
  s.queues = ring;
  s.reference = [=](const Params& p, const TensorMap& in) {
    const int64_t n = p.integer("members");
    const std::vector<float> x = in.at("x").floats();
    std::vector<float> y(x.size());
    for (int64_t i = 0; i < n * kRow; ++i) {
      const float before = x[static_cast<size_t>((i + (n - 1) * kRow) % (n * kRow))];
      y[static_cast<size_t>(i)] = static_cast<float>(scale_before) * before + static_cast<float>(scale_real) * before;
    }
    return std::map<std::string, Expected>{{"y", {HostTensor::from(DType::f32, Dims{n, kRow}, y), {}}}};
  };
  return s;
}

KernelSpec without_queues(KernelSpec s) {
  s.queues = nullptr;
  return s;
}

const RegisterKernel registered[] = {RegisterKernel{spec_of("pass_on", pass_on, 2, 1)},
                                     RegisterKernel{spec_of("copy_on", copy_on, 3, 0)},
                                     RegisterKernel{spec_of("wrong_shape", wrong_shape, 0, 0)},
                                     RegisterKernel{spec_of("wrong_dtype", wrong_dtype, 0, 0)},
                                     RegisterKernel{spec_of("wrong_bytes", wrong_bytes, 0, 0)},
                                     RegisterKernel{spec_of("no_tensor", no_tensor, 0, 0)},
                                     RegisterKernel{spec_of("wrong_port", wrong_port, 0, 0)},
                                     RegisterKernel{spec_of("not_contiguous", not_contiguous, 0, 0)},
                                     RegisterKernel{spec_of("left_over", left_over, 0, 0)},
                                     RegisterKernel{without_queues(spec_of("no_queues", wrong_port, 0, 0))},
                                     RegisterKernel{spec_of("late", late, 0, 0)},
                                     RegisterKernel{spec_of("all_receive", all_receive, 0, 0)},
                                     RegisterKernel{spec_of("reads_pending", reads_pending, 0, 0)},
                                     RegisterKernel{spec_of("any_of_outstanding", any_of_outstanding, 0, 0)},
                                     RegisterKernel{spec_of("any_in_turn", any_in_turn, 0, 1)},
                                     RegisterKernel{spec_of("message_orders", message_orders, 0, 0)}};

RunOptions options_for(const Platform& platform, const std::string& kernel, size_t members) {
  RunOptions o;
  o.kernel = "messages_" + kernel;
  o.params = {{"members", std::to_string(members)}};
  o.pes.clear();
  for (size_t p = 0; p < members; ++p) o.pes += (p > 0 ? "," : "") + platform.graph().pes[p].id;
  return o;
}

/// The run's fault, or "passed", "failed".
std::string outcome(const std::string& kernel, size_t members, int threads, const topology::Overrides& overrides = {}) {
  return in_child([&]() -> std::string {
    const auto platform = platform_from_file(topology_path("small.yaml"), overrides);
    RunOptions o = options_for(*platform, kernel, members);
    o.verify = true;
    o.debug_verify = threads == 1;
    o.threads = threads;
    try {
      return run_kernel(*platform, std::move(o)).passed ? "passed" : "failed";
    } catch (const std::exception& e) {
      return e.what();
    }
  });
}

TEST(Messages, carry_real_and_pending_values) {
  for (const char* kernel : {"pass_on", "copy_on"}) {
    for (const size_t members : {2, 3, 8}) {
      for (const int threads : {1, 4})
        EXPECT_EQ(outcome(kernel, members, threads), "passed") << kernel << " " << members;
    }
  }
}

TEST(Messages, are_taken_from_any_port_in_turn) {
  EXPECT_EQ(outcome("any_in_turn", 2, 1), "passed");
}

TEST(Messages, do_so_in_every_link_mode) {
  for (const auto links : {topology::Links::cut_through, topology::Links::flit}) {
    topology::Overrides o;
    o.links = links;
    EXPECT_EQ(outcome("pass_on", 4, 1, o), "passed");
  }
}

struct Fault {
  const char* kernel;
  std::vector<const char*> says;
};

TEST(Messages, faults_name_line_pe_and_port) {
  const Fault faults[] = {
      {"wrong_shape", {"messages_carry_values", ".cpp:", "pe", "recv on W", "[3000]", "[1, 3000]"}},
      {"wrong_dtype", {"messages_carry_values", "pe", "recv on W", "i32", "f32"}},
      {"wrong_bytes", {"messages_carry_values", "pe", "recv on W", "11996 bytes", "12000 bytes"}},
      {"no_tensor", {"messages_carry_values", "pe", "send on E", "empty tensor"}},
      {"wrong_port", {"messages_carry_values", "send on N", "no such port", "E, W"}},
      {"no_queues", {"messages_carry_values", "send on N", "no such port", "declares no connection"}},
      {"not_contiguous", {"messages_carry_values", "send", "on E", "not contiguous"}},
      {"left_over", {"left over", "message 0", "port W", "sent by sip0.cube0.pe", "(messages_carry_values"}},
      {"late",
       {"sip0.cube0.pe1: has ended, and message 0 arrives on port W, sent by sip0.cube0.pe0 (messages_carry_values"}},
      {"all_receive",
       {"nothing can move", "circle of waiting", "sip0.cube0.pe0 (messages_carry_values", "sip0.cube0.pe1 (",
        "sip0.cube0.pe2 (", "recv on W: nothing sent by", "kernel waits for recv (messages_carry_values"}},
      {"reads_pending", {"pending", "exp", "messages_carry_values"}},
      {"any_of_outstanding", {"recv_any on W", "outstanding", "messages_carry_values"}},
  };
  for (const Fault& f : faults) {
    const std::string found = outcome(f.kernel, 3, 1);
    for (const char* text : f.says) EXPECT_NE(found.find(text), std::string::npos) << f.kernel << ": " << found;
  }
}

/// Declarations of a kernel are checked before the run.
TEST(Connections, of_a_kernel_that_are_not_legal_are_told) {
  using Some = std::vector<QueueConnection>;
  const std::pair<Some, std::vector<const char*>> cases[] = {
      {{{0, "E", 0, "W", {}, {}, {}}}, {"queues[0]", "pe0", "itself"}},
      {{{0, "E", 1, "W", {}, {}, {}}, {1, "E", 3, "W", {}, {}, {}}}, {"queues[1]", "PE 3", "0 to 2"}},
      {{{0, "E", 1, "W", {}, {}, {}}, {0, "E", 2, "W", {}, {}, {}}}, {"queues[1]", "port E of", "already"}},
      {{{0, "", 1, "W", {}, {}, {}}}, {"queues[0]", "no name"}},
      {{{0, "E", 1, "W", 0, {}, {}}}, {"queues[0]", "slots"}},
      {{{0, "E", 1, "W", {}, 100, {}}}, {"queues[0]", "slot_bytes", "multiple of 64"}},
      {{{0, "E", 1, "W", {}, {}, "disk"}}, {"queues[0]", "tier", "disk"}},
      {{{0, "E", 1, "W", 65536, 4096, {}}}, {"queues[0]", "268435456 bytes", "pe"}}};
  for (const auto& [connections, says] : cases) {
    const std::string found = in_child([&, &connections = connections]() -> std::string {
      KernelSpec spec = spec_of("bad", left_over, 0, 0);
      spec.queues = [&](const Params&, const LaunchShape&) { return connections; };
      const RegisterKernel bad{std::move(spec)};
      const auto platform = platform_from_file(topology_path("small.yaml"));
      try {
        run_kernel(*platform, options_for(*platform, "bad", 3));
      } catch (const InputError& e) {
        return e.what();
      }
      return "no InputError";
    });
    for (const char* text : says) EXPECT_NE(found.find(text), std::string::npos) << text << ": " << found;
  }
}

TEST(Messages, order_what_was_waited_for_before) {
  for (const bool early : {false, true}) {
    const std::string races = in_child([&] {
      const auto platform = platform_from_file(topology_path("small.yaml"));
      RunOptions o = options_for(*platform, "message_orders", 2);
      if (early) o.params.emplace_back("early", "true");
      o.check_races = true;
      return std::to_string(run_kernel(*platform, std::move(o)).races.size());
    });
    EXPECT_EQ(races, early ? "1" : "0");
  }
}

/// Records of messages have the fields of collectives rules §11.2, in both forms of the log, and replay from files.
TEST(Messages, are_in_the_log_and_replay_from_it) {
  for (const char* ending : {".jsonl", ".sqlite"}) {
    const std::string base = ::testing::TempDir() + "messages" + ending + std::to_string(::getpid());
    const std::string log = base + ending, memory = base + ".kbmem";
    const std::string said = in_child([&]() -> std::string {
      const auto platform = platform_from_file(topology_path("small.yaml"));
      RunOptions o = options_for(*platform, "pass_on", 3);
      o.verify = true;
      o.header.isa = std::string(name_of(o.isa));
      for (const auto& n : platform->graph().nodes) o.header.components.push_back(n.id);
      for (const auto& pe : platform->graph().pes) o.header.pes.push_back(pe.id);
      o.log = make_op_log(log);
      o.memory_file = std::make_unique<WrittenFile>(memory);
      return run_kernel(*platform, std::move(o)).passed ? "" : "failed";
    });
    ASSERT_EQ(said, "");
    OpLogContents file = read_op_log(log);
    const MemoryFileContents start = read_memory_file(memory);
    attach_data(file.records, start);
    size_t copies = 0, receives = 0;
    for (const OpRecord& r : file.records) {
      if (!r.desc || !r.desc->queue) continue;
      const QueueRecord& q = *r.desc->queue;
      EXPECT_EQ(q.segments, 3u);
      EXPECT_EQ(q.port, "W");
      if (r.desc->name == "ipcq_copy") {
        ++copies;
        EXPECT_EQ(q.peer_port, "E");
        EXPECT_LE(r.desc->submit_ns, q.slot_ns);
        EXPECT_LE(q.slot_ns, q.grant_ns);
        EXPECT_LT(q.grant_ns, q.arrival_ns);
        EXPECT_LE(q.arrival_ns, r.t_start);
        EXPECT_LT(r.t_start, r.t_end);
      } else {
        ++receives;
        ASSERT_EQ(r.dependency_ids.size(), 1u);
      }
    }
    EXPECT_EQ(copies, 3u * 2 * 3);
    EXPECT_EQ(receives, copies);
    for (const int threads : {1, 3}) {
      ReplayOptions options;
      options.threads = threads;
      const ReplayResult again = replay(file.records, start.image, options);
      EXPECT_GT(again.computed, 0u);
    }
  }
}

}  // namespace
}  // namespace kernbench::testing::messages_carry_values_between_kernels
