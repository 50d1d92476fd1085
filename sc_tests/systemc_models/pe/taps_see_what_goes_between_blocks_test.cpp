// SPDX-License-Identifier: Apache-2.0
// Do all interactions of the blocks of PEs use their sockets? An observer at every socket sees them, in the numbers
// that follow from op log and graph. And does a TCM with contention delay its users?
#include <gtest/gtest.h>

#include <cmath>
#include <map>
#include <optional>
#include <sstream>

#include "foreign_engine_support.h"
#include "kernbench/examples/single_port_tcm/single_port_tcm.cpp"
#include "kernbench/kernel_api/tl.h"
#include "kernbench/phase2/op/errors.h"
#include "kernbench/platform/launch/host_mmu.h"
#include "kernbench/platform/launch/launch.h"
#include "kernbench/platform/launch/launch_host.h"
#include "kernbench/platform/run/run.h"
#include "kernbench/platform/work/pipeline.h"
#include "kernbench/systemc_models/pe/processing_element.h"
#include "tapped_system.h"

namespace kernbench::testing::taps_see_what_goes_between_blocks {
namespace {

constexpr double kExact = 1e-9;

struct OnePe {
  std::string gemm = "attrs: {overhead_ns: 7, macs_per_cycle: 1024, freq_ghz: 1";  ///< not closed
  std::string engines;                                                             ///< attributes of both
  std::string tcm;                                                                 ///< an impl
  bool links = true;                                                               ///< the PE's edges are given
};

/// A PE without MMU and queues whose TCM reads at 100 GB/s and writes at 50 GB/s.
std::string one_pe(const OnePe& pe = {}) {
  std::string y =
      "timing: {links: ideal}\nnodes:\n- {id: p.pe_cpu, kind: pe_cpu, attrs: {overhead_ns: 2}}\n"
      "- {id: p.pe_scheduler, kind: pe_scheduler}\n- {id: p.pe_dma, kind: pe_dma}\n"
      "- {id: p.pe_fetch_store, kind: pe_fetch_store, attrs: {overhead_ns: 3}}\n"
      "- {id: p.pe_gemm, kind: pe_gemm, " +
      pe.gemm + pe.engines + "}}\n- {id: p.pe_math, kind: pe_math, attrs: {overhead_ns: 5, lanes: 256, freq_ghz: 1" +
      pe.engines + "}}\n- {id: p.pe_tcm, kind: pe_tcm, " + pe.tcm +
      "attrs: {size_mb: 4, reserved_mb: 1, read_bw_gbs: 100, write_bw_gbs: 50}}\n"
      "- {id: mem, kind: hbm_ctrl}\nlinks:\n- {from: p.pe_dma, to: mem, distance_mm: 0, bw_gbs: 100}\n";
  for (const auto& [from, to] : component_catalog().kinds().pe_edges().standard) {
    const auto is_there = [&y](const std::string& kind) { return y.find("p." + kind + ",") != std::string::npos; };
    if (pe.links && is_there(from) && is_there(to))
      y += "- {from: p." + from + ", to: p." + to + ", distance_mm: 0, bidirectional: false}\n";
  }
  return y + "memories:\n- {node: mem, space: hbm, base: 0, size: 16777216}\n";
}

topology::Graph graph_of(const std::string& yaml) {
  return topology::compile_text(yaml, "test.yaml", component_catalog());
}

struct Result {
  RunReport report;
  std::vector<OpRecord> records;
};

RunOptions running(const std::string& kernel, const std::vector<std::pair<std::string, std::string>>& params = {}) {
  RunOptions o;
  o.kernel = kernel;
  o.params = params;
  return o;
}

Result run(Platform& platform, RunOptions o) {
  Result r;
  auto copy = std::make_unique<LogCopy>();
  copy->to = &r.records;
  o.log = std::move(copy);
  r.report = run_kernel(platform, std::move(o));
  return r;
}

KernelSpec spec(const char* name, KernelFunction function) {
  KernelSpec s;
  s.name = name;
  s.help = "for a test";
  s.tensors = {{"x", TensorSpec::Role::in,
                [](const Params&) {
                  return Dims{64, 32};
                },
                [](const Params&) { return DType::f32; }, Placement::single, Init::uniform()}};
  s.function = std::move(function);
  return s;
}

// ---- the TCM

const RegisterKernel uses_the_tcm{spec("uses_the_tcm", [](tl::Context& tl, const tl::Args& args) {
  const auto x = tl.load(args["x"]);
  const auto row = tl.load(args["x"].ptr, {32});
  tl.add(x, row);                  // a row that broadcasts
  tl.mul(x, x);                    // one operand twice
  tl.mul(x, 2.0);                  // and an immediate
  tl.zeros({50, 20}, DType::f32);  // no operand in TCM
  const auto h = tl.cast(x, DType::f16);
  tl.dot(h, h.transpose());
  tl.wait(tl.composite(tl::gemm(h, h.transpose()).tiles(32, 32, 32)));  // tiles do not stream
})};

uint64_t own_bytes(const TensorRef& t) {
  uint64_t n = size_of(t.dtype);
  for (int d = 0; d < t.shape.rank(); ++d) n *= t.strides[d] == 0 ? 1 : static_cast<uint64_t>(t.shape[d]);
  return n;
}

using Sums =
    std::map<std::pair<std::string, bool>, std::pair<size_t, uint64_t>>;  // by op, read or write: accesses, bytes

void add(Sums& sums, const std::string& op, bool write, uint64_t bytes) {
  if (bytes == 0) return;
  auto& [accesses, all] = sums[{op, write}];
  ++accesses;
  all += bytes;
}

Sums streamed(const std::vector<OpRecord>& records, OpKind kind) {
  Sums sums;
  for (const OpRecord& r : records) {
    if (r.is_token || r.desc->kind != kind || r.desc->name.rfind("composite_", 0) == 0) continue;
    uint64_t in = 0;
    for (const Operand& o : r.desc->operands) in += o.is_scalar ? 0 : own_bytes(o.ref);
    add(sums, r.desc->name, false, in);
    add(sums, r.desc->name, true, own_bytes(r.desc->output));
  }
  return sums;
}

Sums seen(const PeTap& tap) {
  Sums sums;
  for (const PeTap::Access& a : tap.accesses) add(sums, a.op->name, a.write, a.bytes);
  return sums;
}

std::string text(const Sums& sums) {
  std::ostringstream s;
  for (const auto& [what, count] : sums)
    s << what.first << (what.second ? " writes " : " reads ") << count.second << " in " << count.first << "\n";
  return s.str();
}

TEST(TcmAccesses, are_those_of_the_op_log) {
  const double untapped_ns = std::stod(in_child(
      [] { return std::to_string(run(*platform_from_text(one_pe()), running("uses_the_tcm")).report.end_ns); }));
  Tapped tapped("system", graph_of(one_pe()));
  const Result r = run(tapped.platform, running("uses_the_tcm"));
  EXPECT_NEAR(r.report.end_ns, untapped_ns, 1e-6);
  const PeTap &gemm = tapped.inside(0, "pe_gemm", "pe_tcm"), &math = tapped.inside(0, "pe_math", "pe_tcm");
  const PeTap& tiles = tapped.inside(0, "pe_fetch_store", "pe_tcm");
  EXPECT_EQ(text(seen(gemm)), text(streamed(r.records, OpKind::gemm)));
  EXPECT_EQ(text(seen(math)), text(streamed(r.records, OpKind::math)));
  EXPECT_EQ(seen(gemm).size(), 2u);
  EXPECT_EQ(seen(math).count({"full", false}), 0u);
  EXPECT_EQ(seen(math).at({"mul", false}).second, 3u * 64 * 32 * 4) << "x · x, and x · 2";
  uint64_t moved[2] = {}, expected[2] = {};
  for (const PeTap::Access& a : tiles.accesses) moved[a.write] += a.bytes;
  for (const OpRecord& t : r.records) {
    if (t.is_token && (t.token.stage == Stage::fetch || t.token.stage == Stage::store))
      expected[t.token.stage == Stage::store] += t.token.bytes;
  }
  EXPECT_GT(expected[0], 0u);
  EXPECT_EQ(moved[0], expected[0]);
  EXPECT_EQ(moved[1], expected[1]);
  // They begin after the engine's overhead and take the time that the port needs.
  size_t checked = 0;
  for (const OpRecord& s : r.records) {
    if (s.is_token || s.desc->kind != OpKind::math) continue;
    for (const PeTap::Access& a : math.accesses) {
      if (a.op != s.desc) continue;
      EXPECT_NEAR(a.from_ns, s.t_start + 5, kExact);
      EXPECT_NEAR(a.answer_ns, static_cast<double>(a.bytes) / (a.write ? 50 : 100), kExact);
      EXPECT_LE(a.from_ns + a.answer_ns, s.t_end + kExact);
      ++checked;
    }
  }
  EXPECT_EQ(checked, math.accesses.size());
}

TEST(TcmAccesses, are_none_where_engines_do_not_stream) {
  OnePe pe;
  pe.engines = ", stream_operands: false";
  Tapped tapped("system", graph_of(one_pe(pe)));
  run(tapped.platform, running("uses_the_tcm"));
  EXPECT_EQ(tapped.inside(0, "pe_gemm", "pe_tcm").asked, 0u);
  EXPECT_EQ(tapped.inside(0, "pe_math", "pe_tcm").asked, 0u);
  EXPECT_GT(tapped.inside(0, "pe_fetch_store", "pe_tcm").asked, 0u);
}

/// The PE's other edges are still the standard ones.
TEST(TcmAccesses, pass_a_foreign_node_where_the_file_gives_no_edges) {
  OnePe pe;
  pe.links = false;
  const std::string tap = "foreign: [{id: tap, between: [p.pe_math, p.pe_tcm]}]\n";
  const auto platform = platform_from_text(one_pe(pe) + tap);
  PeTap observer("observer");
  platform->foreign("tap").bind(observer.in, "p.pe_math");
  platform->foreign("tap").bind(observer.out, "p.pe_tcm");
  const Result r = run(*platform, running("uses_the_tcm"));
  EXPECT_EQ(text(seen(observer)), text(streamed(r.records, OpKind::math)));
}

/// A foreign engine streams like the built-in ones, and its own reads and writes are added.
TEST(TcmAccesses, of_a_foreign_engine_are_asked_for_one_by_one) {
  OnePe pe;
  pe.gemm = "impl: builtin.pe_gemm_tlm, attrs: {data: engine";
  Tapped tapped("system", graph_of(one_pe(pe)));
  LtEngine engine("engine");
  engine.timed_accesses = true;
  TlmEngine& place = tapped.platform.tlm_engine("p.pe_gemm");
  place.socket().bind(engine.socket);
  engine.tcm.bind(place.tcm_socket());
  const Result r = run(tapped.platform, running("uses_the_tcm"));
  EXPECT_EQ(engine.fault, "");
  std::vector<PeTap::Access> own, streams;
  for (const PeTap::Access& a : tapped.inside(0, "pe_gemm", "pe_tcm").accesses) {
    if (a.op->type == CommandType::gemm) (a.bytes <= 4 ? own : streams).push_back(a);
  }
  EXPECT_EQ(streams.size(), 2u);
  EXPECT_EQ(own.size(), 64u * 64 * 2 * 32 + 64 * 64) << "of a product of 64 × 64 × 32";
  for (const PeTap::Access& a : own)
    EXPECT_NEAR(a.answer_ns, static_cast<double>(a.bytes) / (a.write ? 50 : 100), kExact);
}

// ---- a TCM whose accesses contend

PipelineResult play(const std::string& yaml, const std::string& work_json) {
  const auto platform = platform_from_text(yaml);
  std::istringstream in(work_json);
  PipelineWork work = read_pipeline_work(in, "work.json", *platform);
  return run_pipeline(*platform, work);
}

std::string times(const std::string& tcm, const std::string& work) {
  return in_child([&] {
    OnePe pe;
    pe.tcm = tcm;
    std::ostringstream s;
    s.precision(17);
    for (const auto& p : play(one_pe(pe), R"({"pes": [{"pe": "p", )" + work + "}]}").pes) {
      for (const auto& c : p.commands) s << c.id << " " << c.stage.t_start << " " << c.stage.t_end << "\n";
      for (const auto& c : p.composites) s << c.id << " " << c.done_ns << "\n";
    }
    return s.str();
  });
}

constexpr const char* kSinglePort = "impl: custom.single_port_tcm, ";

TEST(ContendedTcm, takes_as_long_as_ours_where_nothing_contends) {
  const std::string work = R"("commands": [
      {"id": "g", "submit_ns": 0.3, "stage": "GEMM", "m": 16, "n": 16, "k": 16, "dtype": "f16", "in_bytes": 4001},
      {"id": "m", "submit_ns": 100.7, "stage": "MATH", "op": "add", "elements": 256, "out_bytes": 1003}],
    "composites": [{"id": "c", "kind": "math", "op": "relu", "submit_ns": 300.1, "m": 10, "n": 50, "tile": [10, 50],
      "dtype_bytes": 2, "inputs": [{"space": "tcm", "addr": 0}], "out": {"space": "tcm", "addr": 1024}}])";
  EXPECT_EQ(times(kSinglePort, work), times("", work));
}

/// FETCH, STORE and streaming commands wait for the port, each in its order.
TEST(ContendedTcm, has_who_uses_it_wait_for_its_port) {
  const std::string work = R"("commands": [
      {"id": "in_and_out", "submit_ns": 0, "stage": "MATH", "op": "add", "elements": 256,
       "in_bytes": 4000, "out_bytes": 1000},
      {"id": "beside_a_tile", "submit_ns": 200, "stage": "GEMM", "m": 16, "n": 16, "k": 16, "dtype": "f16",
       "in_bytes": 4000},
      {"id": "behind_store", "submit_ns": 271, "stage": "GEMM", "m": 16, "n": 16, "k": 16, "dtype": "f16",
       "in_bytes": 1000}],
    "composites": [{"id": "tile", "kind": "math", "op": "relu", "submit_ns": 210, "m": 10, "n": 50, "tile": [10, 50],
      "dtype_bytes": 2, "inputs": [{"space": "tcm", "addr": 0}], "out": {"space": "tcm", "addr": 1024}}])";
  // Built-in: 5 + 40; 7 + 40; FETCH 210 to 223, MATH waits for the slot to 247 and ends at 254, STORE to 277; 7 + 10.
  EXPECT_EQ(times("", work), "in_and_out 0 45\nbeside_a_tile 200 247\nbehind_store 271 288\ntile 277\n");
  // Here the write follows the read. The tile's FETCH, from 213, follows the read of 207 to 247: it ends at 257, MATH
  // at 264, STORE from 267 to 287. The last read, from 278, follows that.
  EXPECT_EQ(times(kSinglePort, work), "in_and_out 0 65\nbeside_a_tile 200 247\nbehind_store 271 297\ntile 287\n");
}

// ---- messages between PEs

std::string small_yaml(const std::string& ipcq) {
  std::string yaml = read_file(topology_path("small.yaml"));
  const std::string plain = "pe_ipcq: {attrs: {}}";
  return yaml.replace(yaml.find(plain), plain.size(), "pe_ipcq: {attrs: {" + ipcq + "}}");
}

class Credits : public ::testing::TestWithParam<const char*> {};

/// Each is a message from the receiver's pe_dma to the sender's, and an item inside both PEs; it has no response.
TEST_P(Credits, pass_every_socket_of_their_way) {
  const auto options = [](const char* kernel) {
    RunOptions o = running(kernel);
    if (o.kernel == "all_reduce")
      o.params = {{"n", "600"}, {"over", "cube+pe"}, {"algorithm", "ring"}, {"slot_bytes", "64"}};
    o.launch = LaunchMode::direct;
    return o;
  };
  for (const char* kernel : {"all_reduce", "barrier"}) {  // barrier: empty messages
    const double untapped_ns = std::stod(in_child([&] {
      return std::to_string(run(*platform_from_text(small_yaml(GetParam())), options(kernel)).report.end_ns);
    }));
    EXPECT_EQ(in_child([&]() -> std::string {
                const topology::Graph plain = graph_of(small_yaml(GetParam()));
                Tapped tapped("system", plain);
                const Result r = run(tapped.platform, options(kernel));
                std::ostringstream wrong;
                if (std::abs(r.report.end_ns - untapped_ns) > 1e-6) wrong << r.report.end_ns << " ns\n";
                std::vector<size_t> copies(plain.pes.size()), received(plain.pes.size());  // by sender, by receiver
                for (const OpRecord& o : r.records) {
                  if (o.desc && o.desc->name == "ipcq_copy") ++copies[o.desc->operands[0].ref.pe];
                  if (o.desc && o.desc->name == "ipcq_recv") ++received[o.desc->pe];
                }
                size_t all = 0;
                for (uint32_t p = 0; p < plain.pes.size(); ++p) {
                  all += received[p];
                  const uint32_t dma = plain.pes[p].blocks.at("pe_dma");
                  size_t left = 0, arrived = 0;
                  for (const auto& [ends, tap] : tapped.taps) {
                    left += ends.first == dma ? tap->credits : 0;
                    arrived += ends.second == dma ? tap->credits : 0;
                  }
                  const PeTap &to_dma = tapped.inside(p, "pe_ipcq", "pe_dma"),
                              &back = tapped.inside(p, "pe_dma", "pe_ipcq");
                  const auto expect = [&](const char* what, size_t found, size_t expected) {
                    if (found != expected)
                      wrong << plain.pes[p].id << ": " << what << " " << found << ", not " << expected << "\n";
                  };
                  expect("credits that leave", left, received[p]);
                  expect("credits that arrive", arrived, copies[p]);
                  expect("credits to pe_dma", to_dma.credits, received[p]);
                  expect("credits to pe_ipcq", back.credits, copies[p]);
                  expect("segments to pe_dma", to_dma.segments, copies[p]);
                  expect("segments to pe_ipcq", back.segments, received[p]);
                  expect("answers", to_dma.completions, copies[p]);
                }
                if (all == 0) wrong << "nothing was received\n";
                return wrong.str();
              }),
              "")
        << kernel;
  }
}

INSTANTIATE_TEST_SUITE_P(of, Credits, ::testing::Values("credit_blocks: false", "credit_blocks: true"),
                         [](const auto& p) { return std::string(p.index == 0 ? "receives" : "receives_that_wait"); });

// ---- what is set up at no time

TEST(Setups, of_queues_are_told_at_each_launch_and_each_end) {
  Tapped tapped("system", small(topology::Links::ideal, topology::Response::ideal));
  for (size_t launch = 1; launch <= 2; ++launch) {
    const Result r = run(tapped.platform, running(launch == 1 ? "sendrecv" : "gemm"));
    ASSERT_TRUE(r.report.passed);
    for (size_t pe = 0; pe < tapped.platform.pes().count(); ++pe) {
      const PeTap& tap = tapped.inside(pe, "pe_cpu", "pe_ipcq");
      ASSERT_EQ(tap.opened.size(), launch);
      EXPECT_EQ(tap.opened.back() > 0, launch == 1) << "a kernel without queues has no ports";
      EXPECT_EQ(tap.closed, launch);
    }
  }
}

TEST(Setups, that_do_not_come_through_end_the_run_in_one_line) {
  EXPECT_EQ(in_child([] {
              Tapped tapped("system", small(topology::Links::ideal, topology::Response::ideal));
              tapped.inside(3, "pe_cpu", "pe_ipcq").passes_debug_on = false;
              run(tapped.platform, running("gemm"));
              return std::string("nobody has opened the ports");
            }),
            "exception: sip0.cube0.pe3: what pe_cpu tells a block at no time does not come there: a block between them "
            "does not pass transport_dbg on");
}

const RegisterKernel three_accesses{spec("three_accesses", [](tl::Context& tl, const tl::Args& args) {
  const auto x = tl.load(args["x"]);
  tl.store(args["x"].ptr, tl.load(args["x"]));
})};

TEST(Setups, of_virtual_memory_are_told_by_the_hosts_messages) {
  Tapped tapped("system", small(topology::Links::ideal, topology::Response::ideal));
  RunOptions o = running("three_accesses");
  o.addresses = AddressMode::virtual_;
  o.timed_transfer = true;
  o.pes = "sip0.cube0.pe0";
  const Result r = run(tapped.platform, std::move(o));
  const PeTap& tap = tapped.inside(0, "pe_cpu", "pe_mmu");
  EXPECT_EQ(tap.mapped, 1u);
  EXPECT_EQ(tap.translated, 3u);
  EXPECT_EQ(tap.unmapped, 0u) << "at no time, by the host from outside";
  EXPECT_EQ(tapped.inside(1, "pe_cpu", "pe_mmu").translated, 0u);

  HostMmu mmu(tapped.platform.hosts().launch_host());
  auto mapping = std::make_shared<VirtualMapping>();
  mapping->tensor = "y";
  mapping->nbytes = 1024;
  mapping->range.virtual_addr = kVirtualBase;
  mapping->range.pieces = {{0, tapped.platform.graph().memories[0].base, 1024}};
  const LaunchWay way = host_launch_way(tapped.platform.hosts().launch_host(), {0, 5});
  std::string answers;
  const auto noted = [&](const HostResponse& response) { answers += response.text + ";"; };
  mmu.map({{{}, mapping}}, way, [&](const HostResponse& mapped) {
    noted(mapped);
    mmu.unmap({{{}, kVirtualBase, 1024}}, way, [&](const HostResponse& unmapped) {
      noted(unmapped);
      mmu.unmap({{{}, kVirtualBase, 1024}}, way, noted);
    });
  });
  sc_core::sc_start();
  EXPECT_EQ(
      answers,
      ";;sip0.cube0.pe0: unmap of [0x10000000000000, 0x10000000000400): no mapping is that range; nothing is mapped;");
  EXPECT_EQ(tap.mapped, 2u);
  EXPECT_EQ(tap.unmapped, 2u);
  EXPECT_EQ(tapped.inside(5, "pe_cpu", "pe_mmu").unmapped, 2u);
}

// ---- by hand

/// A user who assembles a PE omits the connections that pass an observer.
TEST(ByHand, an_observer_stands_between_an_engine_and_the_tcm) {
  FabricTiming timing;
  System system(timing);
  PeCpu cpu("cpu", system, {});
  PeScheduler scheduler("scheduler", system, {});
  PeDma dma("dma", system);
  PeFetchStore fetch_store("fetch_store", system, {});
  PeGemm::Parameters gemm_parameters;
  gemm_parameters.macs_per_cycle = gemm_parameters.freq_ghz = 1024;
  PeGemm gemm("gemm", system, gemm_parameters);
  PeMath::Parameters math_parameters;
  math_parameters.lanes = 64;
  math_parameters.freq_ghz = 1;
  PeMath math("math", system, math_parameters);
  PeTcm::Parameters tcm_parameters;
  tcm_parameters.size_mb = 2;
  tcm_parameters.reserved_mb = 1;
  tcm_parameters.read_bw_gbs = tcm_parameters.write_bw_gbs = 100;
  PeTcm tcm("tcm", system, tcm_parameters);
  Pe pe;
  pe.id = "pe";
  PeParts parts;
  parts.add("pe_cpu", cpu);
  parts.add("pe_scheduler", scheduler);
  parts.add("pe_dma", dma);
  parts.add("pe_fetch_store", fetch_store);
  parts.add("pe_gemm", gemm);
  parts.add("pe_math", math);
  parts.add("pe_tcm", tcm);
  assemble(pe, parts, parts.standard_edges(), system, {{&math, &tcm}});
  PeTap tap("tap");
  math.add_way(math.bind_target(tap.in.get_base_interface(), tap.in.get_base_port()), tcm);
  tcm.called_by(tcm.bind_initiator(tap.out.get_base_port(), tap.out.get_base_interface()), math);
  double end_ns = 0;
  pe.runner->launch(
      [](PeBackend& backend) {
        tl::Context tl(backend);
        const auto ones = tl.zeros({25, 10}, DType::f32);
        tl.add(ones, ones);
        tl.finish();
      },
      0, [&](const KernelRunner::Outcome& outcome) { end_ns = outcome.end_ns; });
  sc_core::sc_start();
  EXPECT_NEAR(end_ns, 10 + 20, kExact);
  ASSERT_EQ(tap.accesses.size(), 3u);
  EXPECT_EQ(tap.accesses[0].bytes, 1000u);
  EXPECT_TRUE(tap.accesses[0].write);
  EXPECT_EQ(tap.accesses[1].bytes, 2000u);
  EXPECT_FALSE(tap.accesses[1].write);
}

}  // namespace
}  // namespace kernbench::testing::taps_see_what_goes_between_blocks
