// SPDX-License-Identifier: Apache-2.0
// Foreign blocks, written only from IEEE 1666, between any two blocks: does every call pass them, in the base protocol,
// and does their delay count?
#include <gtest/gtest.h>

#include <map>
#include <set>
#include <sstream>

#include "kernbench/phase2/op/errors.h"
#include "kernbench/platform/run/run.h"
#include "kernbench/platform/topology/route/path_router.h"
#include "tapped_system.h"

namespace kernbench::testing::foreign_blocks_anywhere {
namespace {

/// The latency of an isolated transaction, ns.
double lone_ns(Platform& platform, uint32_t initiator, bool write, uint64_t address, uint64_t nbytes) {
  double latency = -1;
  MemoryRequest r;
  r.write = write;
  r.address = address;
  r.nbytes = nbytes;
  r.context = &latency;
  r.done = [](MemoryRequest& done, const FabricTransaction& x) {
    *static_cast<double*>(done.context) = x.done_ns - x.issue_ns;
  };
  r.issue_ns = platform.timeline().now_ns();
  platform.request_port(initiator)->request(r);
  sc_core::sc_start(sc_core::sc_time(20, sc_core::SC_US));
  return latency;
}

struct Mode {
  topology::Links links;
  topology::Response response;
};

class EveryLink : public ::testing::TestWithParam<Mode> {};

/// One PE's DMA of each cube, to its own slice, a slice of the other cube and a shared memory; reads and writes.
TEST_P(EveryLink, counts_the_delay_of_a_foreign_block) {
  const topology::Graph plain = small(GetParam().links, GetParam().response);
  Platform untapped("untapped", plain);
  Tapped tapped("tapped", plain);
  topology::PathRouter paths(plain);
  struct Way {
    uint32_t dma;
    uint64_t address;
    bool write;
    double ns;
    std::vector<uint32_t> path;
  };
  std::vector<Way> ways;
  sc_core::sc_start(sc_core::SC_ZERO_TIME);
  for (const size_t pe : {size_t{0}, plain.pes.size() - 1}) {
    const uint32_t dma = plain.pes[pe].blocks.at("pe_dma");
    for (const size_t m : {size_t{0}, plain.memories.size() / 2, plain.memories.size() - 1}) {
      for (const bool write : {false, true}) {
        const topology::Memory& memory = plain.memories[m];
        const double ns = lone_ns(untapped, dma, write, memory.base, 1024);
        ASSERT_GT(ns, 0);
        EXPECT_NEAR(lone_ns(tapped.platform, dma, write, memory.base, 1024), ns, 1e-6);
        ways.push_back({dma, memory.base, write, ns, paths.find_path(dma, memory.node)});
      }
    }
  }
  size_t passed = 0;
  for (auto& [ends, tap] : tapped.taps) {
    tap->delay = sc_core::sc_time(7, sc_core::SC_NS);
    for (const Way& w : ways) {
      const bool over = std::any_of(w.path.begin(), w.path.end(), [&, e = ends](uint32_t edge) {
        return plain.edges[edge].from == e.first && plain.edges[edge].to == e.second;
      });
      if (!over && (passed + ends.first) % 16 != 0) continue;  // only some of those that it cannot change
      const double ns = lone_ns(tapped.platform, w.dma, w.write, w.address, 1024);
      EXPECT_NEAR(ns - w.ns, over ? 14 : 0, 1e-6)
          << plain.nodes[ends.first].id << " -> " << plain.nodes[ends.second].id;
      passed += over;
    }
    tap->delay = sc_core::SC_ZERO_TIME;
  }
  EXPECT_GT(passed, 40u);
  EXPECT_EQ(tapped.violations, std::vector<std::string>{});
}

INSTANTIATE_TEST_SUITE_P(of, EveryLink,
                         ::testing::Values(Mode{topology::Links::ideal, topology::Response::ideal},
                                           Mode{topology::Links::cut_through, topology::Response::routed},
                                           Mode{topology::Links::flit, topology::Response::routed}),
                         [](const auto& p) { return std::string(topology::name_of(p.param.links)); });

class Gemm : public ::testing::TestWithParam<Mode> {};

/// The traffic over each edge, from the op log and the paths of the graph alone.
TEST_P(Gemm, makes_every_call_over_sockets) {
  const topology::Graph plain = small(GetParam().links, GetParam().response);
  const auto options = [] {
    RunOptions o;
    o.kernel = "gemm";
    o.params = {{"m", "64"}, {"n", "64"}, {"k", "128"}};
    o.verify = true;
    return o;
  };
  const double untapped_ns = std::stod(in_child([&] {
    Platform untapped("system", plain);
    return std::to_string(run_kernel(untapped, options()).end_ns);
  }));

  Tapped tapped("system", plain);
  RunOptions o = options();
  std::vector<OpRecord> records;
  auto copy = std::make_unique<LogCopy>();
  copy->to = &records;
  o.log = std::move(copy);
  const RunReport report = run_kernel(tapped.platform, std::move(o));
  EXPECT_NEAR(report.end_ns, untapped_ns, 1e-6);
  EXPECT_EQ(tapped.violations, std::vector<std::string>{});

  // Memory traffic of the DMAs passes every edge of its path, in both directions of the sockets.
  topology::PathRouter paths(plain);
  std::map<Tapped::Ends, size_t> expected;
  size_t transactions = 0;
  for (const topology::Pe& pe : plain.pes) {
    const uint32_t dma = pe.blocks.at("pe_dma");
    for (const auto& [ends, tap] : tapped.taps) {
      if (ends.first != dma) continue;
      for (const auto& [what, count] : tap->requests) {
        transactions += count;
        for (const uint32_t e : paths.find_path(dma, plain.memory_at(what.first)->node))
          expected[{plain.edges[e].from, plain.edges[e].to}] += count;
      }
    }
  }
  EXPECT_GT(transactions, 0u);
  for (const auto& [ends, tap] : tapped.taps) {
    EXPECT_EQ(tap->calls - tap->messages, expected[ends])
        << plain.nodes[ends.first].id << " -> " << plain.nodes[ends.second].id;
    EXPECT_EQ(tap->responses, tap->calls);
  }

  // Items: each service of an engine, and each command, arrived by one call; each access of the TCM was queried.
  std::map<std::string, size_t> services, calls, asked;
  size_t commands = 0;
  for (const OpRecord& r : records) {
    const std::string& kind = plain.nodes[r.component].kind;
    ++services[kind];
    commands += !r.is_token;
  }
  for (const auto& [ends, tap] : tapped.pe_taps) {
    calls[plain.nodes[ends.second].kind] += tap->items;
    asked[plain.nodes[ends.second].kind] += tap->asked;
  }
  for (const char* engine : {"pe_dma", "pe_fetch_store", "pe_gemm", "pe_math"})
    EXPECT_EQ(calls[engine], services[engine]) << engine;
  EXPECT_GT(services["pe_fetch_store"], 0u);
  EXPECT_EQ(asked["pe_tcm"], services["pe_fetch_store"]);
  EXPECT_EQ(calls["pe_scheduler"], commands);

  // The launch: over every edge of pcie_ep -> io_cpu -> m_cpus -> pe_cpus, once for each message.
  std::map<std::string, size_t> ends_of_messages;
  for (const auto& [ends, tap] : tapped.taps) ends_of_messages[plain.nodes[ends.second].kind] += tap->messages;
  EXPECT_EQ(ends_of_messages["pe_cpu"], plain.pes.size());
  EXPECT_EQ(ends_of_messages["m_cpu"], 2u);
  EXPECT_EQ(ends_of_messages["io_cpu"], 1u);
}

class Messages : public ::testing::TestWithParam<Mode> {};

RunOptions sending(const std::string& kernel, const std::vector<std::pair<std::string, std::string>>& params) {
  RunOptions o;
  o.kernel = kernel;
  o.params = params;
  o.launch = LaunchMode::direct;  // so that all calls are memory traffic, messages and credits
  o.verify = true;
  return o;
}

/// Calls over each edge by op log and paths, and the calls of empty segments among them.
std::map<Tapped::Ends, std::pair<size_t, size_t>> calls_of(const std::vector<OpRecord>& records,
                                                           const topology::Graph& plain) {
  topology::PathRouter paths(plain);
  std::map<Tapped::Ends, std::pair<size_t, size_t>> calls;
  const auto pass = [&](const std::vector<uint32_t>& path, bool empty) {
    for (const uint32_t e : path) {
      auto& [all, of_empty] = calls[{plain.edges[e].from, plain.edges[e].to}];
      ++all;
      of_empty += empty;
    }
  };
  const auto dma = [&](uint32_t pe) { return plain.pes[pe].blocks.at("pe_dma"); };
  for (const OpRecord& r : records) {
    if (!r.desc || r.desc->kind != OpKind::memory || r.desc->name == "ipcq_recv") continue;
    const OpDesc& d = *r.desc;
    if (d.name == "ipcq_copy") {
      const uint32_t from = dma(d.operands[0].ref.pe), to = dma(d.output.pe);
      pass(paths.find_path(from, to), d.output.nbytes() == 0);
      pass(paths.reversed(paths.find_path(from, to)), false);  // its credit
    } else {
      const uint64_t address = d.name == "dma_read" ? d.operands[0].ref.addr : d.output.addr;
      pass(paths.find_path(dma(d.pe), plain.memory_at(address)->node), false);
    }
  }
  return calls;
}

std::string taps_against_log(Mode mode, const RunOptions& what, double untapped_ns) {
  const topology::Graph plain = small(mode.links, mode.response);
  Tapped tapped("system", plain);
  RunOptions o = sending(what.kernel, what.params);
  std::vector<OpRecord> records;
  auto copy = std::make_unique<LogCopy>();
  copy->to = &records;
  o.log = std::move(copy);
  const RunReport report = run_kernel(tapped.platform, std::move(o));
  std::ostringstream wrong;
  if (std::abs(report.end_ns - untapped_ns) > 1e-6) wrong << report.end_ns << " ns, not " << untapped_ns << "\n";
  for (const std::string& v : tapped.violations) wrong << v << "\n";
  auto expected = calls_of(records, plain);
  size_t calls = 0;
  for (const auto& [ends, tap] : tapped.taps) {
    const auto [all, empty] = expected[ends];
    calls += all;
    if (tap->calls == all && tap->messages == empty && tap->responses == all) continue;
    wrong << plain.nodes[ends.first].id << " -> " << plain.nodes[ends.second].id << ": " << tap->calls << " calls, "
          << tap->messages << " without data, " << tap->responses << " answered; expected " << all << " and " << empty
          << "\n";
  }
  if (calls == 0) wrong << "nothing passed\n";
  // Items: a send or receive comes from pe_cpu in one call; a segment and a credit go to pe_dma and come from there.
  std::map<std::pair<std::string, std::string>, size_t> items;
  for (const auto& [ends, tap] : tapped.pe_taps)
    items[{plain.nodes[ends.first].kind, plain.nodes[ends.second].kind}] += tap->items;
  std::map<std::string, size_t> segments, whole;
  for (const OpRecord& r : records) {
    if (!r.desc || !r.desc->queue) continue;
    ++segments[r.desc->name];
    whole[r.desc->name] += r.desc->queue->segment == 0;
  }
  const size_t segments_and_credits = segments["ipcq_copy"] + segments["ipcq_recv"];
  for (const auto& [edge, count] : {std::pair(std::pair("pe_cpu", "pe_ipcq"), whole["ipcq_copy"] + whole["ipcq_recv"]),
                                    std::pair(std::pair("pe_ipcq", "pe_dma"), segments_and_credits),
                                    std::pair(std::pair("pe_dma", "pe_ipcq"), segments_and_credits)}) {
    if (items[edge] != count || count == 0)
      wrong << edge.first << " -> " << edge.second << ": " << items[edge] << " items, expected " << count << "\n";
  }
  return wrong.str();
}

/// Segments, including empty ones, and credits are legal calls at every tap on their path, and are not delayed.
TEST_P(Messages, and_credits_pass_every_edge_of_their_way) {
  const std::vector<std::pair<std::string, std::string>> ring = {
      {"n", "600"}, {"over", "cube+pe"}, {"algorithm", "ring"}, {"slot_bytes", "64"}};
  for (const RunOptions& what : {sending("all_reduce", ring), sending("barrier", {{"scope", "sip"}})}) {
    const double untapped_ns = std::stod(in_child([&] {
      Platform untapped("system", small(GetParam().links, GetParam().response));
      return std::to_string(run_kernel(untapped, sending(what.kernel, what.params)).end_ns);
    }));
    EXPECT_EQ(in_child([&] { return taps_against_log(GetParam(), what, untapped_ns); }), "") << what.kernel;
  }
}

/// A monitor on a link sees a segment's bytes: here, the bytes that its receiver stores.
TEST_P(Messages, show_their_data) {
  const topology::Graph plain = small(GetParam().links, GetParam().response);
  EXPECT_EQ(in_child([&] {
              Tapped tapped("system", plain);
              run_kernel(tapped.platform, sending("sendrecv", {{"n", "16"}}));
              std::set<std::vector<uint8_t>> shown;
              for (const auto& [ends, tap] : tapped.taps) {
                for (const auto& bytes : tap->written) {
                  if (bytes.size() == 64 && bytes != std::vector<uint8_t>(64)) shown.insert(bytes);
                }
              }
              return std::to_string(shown.size());
            }),
            std::to_string(plain.pes.size()));
}

INSTANTIATE_TEST_SUITE_P(of, Messages,
                         ::testing::Values(Mode{topology::Links::ideal, topology::Response::ideal},
                                           Mode{topology::Links::cut_through, topology::Response::routed},
                                           Mode{topology::Links::flit, topology::Response::routed}),
                         [](const auto& p) { return std::string(topology::name_of(p.param.links)); });

INSTANTIATE_TEST_SUITE_P(of, Gemm,
                         ::testing::Values(Mode{topology::Links::ideal, topology::Response::ideal},
                                           Mode{topology::Links::cut_through, topology::Response::routed},
                                           Mode{topology::Links::flit, topology::Response::routed}),
                         [](const auto& p) { return std::string(topology::name_of(p.param.links)); });

}  // namespace
}  // namespace kernbench::testing::foreign_blocks_anywhere
