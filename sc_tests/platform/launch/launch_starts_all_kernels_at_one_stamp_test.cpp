// SPDX-License-Identifier: Apache-2.0
// Does a launch reach every PE by the rules of §7: segments by hand, one start time without spread, and the host's end
// when the last completion has returned?
#include <gtest/gtest.h>

#include "kernbench/phase2/op/errors.h"
#include "kernbench/platform/run/run.h"
#include "kernbench/platform/topology/route/path_router.h"
#include "kernbench/systemc_models/core/registry.h"
#include "launch_toy_system.h"
#include "system_support.h"

namespace kernbench::testing::launch_starts_all_kernels_at_one_stamp {
namespace {

KernelSpec test_kernel(const std::string& name, KernelFunction function) {
  KernelSpec s;
  s.name = name;
  s.help = "of the launch tests";
  s.function = std::move(function);
  s.reference = [](const Params&, const TensorMap&) { return std::map<std::string, Expected>(); };
  return s;
}

KernelSpec loading_kernel(const std::string& name, int64_t rank) {
  KernelSpec s = test_kernel(name, [rank](tl::Context& tl, const tl::Args& args) {
    if (tl.index() == rank) tl.load(args["a"].ptr, {16384});
  });
  TensorSpec a;
  a.name = "a";
  a.shape = [](const Params&) { return Dims{16384}; };
  a.dtype = [](const Params&) { return DType::f32; };
  a.placement = Placement::single;
  s.tensors = {a};
  return s;
}

const RegisterKernel noop{test_kernel("launch_test_noop", [](tl::Context&, const tl::Args&) {})};
const RegisterKernel rank0_loads{loading_kernel("launch_test_rank0_loads", 0)};
const RegisterKernel rank1_faults{test_kernel("launch_test_rank1_faults", [](tl::Context& tl, const tl::Args&) {
  if (tl.index() == 1) throw std::runtime_error("made to fail");
})};

RunReport run(Platform& platform, const std::string& kernel, LaunchMode launch, const std::string& device = "all") {
  RunOptions o;
  o.kernel = kernel;
  o.launch = launch;
  o.device = device;
  return run_kernel(platform, std::move(o));
}

TEST(HostLaunch, of_a_noop_on_256_pes_has_no_spread_and_takes_the_longest_leg_both_ways) {
  // topologies/default.yaml, to sip0.cube15.pe7, ns. A cube is 17 x 14 mm with 6 x 6 routers: 17/6 mm between columns,
  // 14/6 between rows; 0.01 ns per mm.
  const double column = 17.0 / 6, row = 14.0 / 6;
  // pcie_ep (5), noc (0); two wires of 2 mm.
  const double to_io_cpu = 5 + 0 + 0.01 * (2 + 2);
  // io_cpu (10), a UCIe port (8) of the IO chiplet, and cube12, cube13, cube14 by W and E, cube15 by W (8 each). Mm: to
  // the noc 2, to the port 30 + 1, to cube12 10; port, connection, router 3.083333 at each side of a cube, from column
  // 0 to 5 with one row around the HBM and back; 1 to the next cube; in cube15 by the connection at row 0: 6.333333 +
  // 1.416667, two columns, and 1.25 to m_cpu at (7.5, 2.0).
  const double across = 3.083333 + 5 * column + 2 * row + 3.083333;
  const double to_m_cpu =
      10 + 8 + 7 * 8 + 0.01 * (2 + 30 + 1 + 10 + 3 * (across + 1) + 6.333333 + 1.416667 + 2 * column + 1.25);
  // m_cpu (5); from (7.5, 2.0) to pe7's router r5c5 at (5.5 columns, 5.5 rows), and 1.4 mm on to its pe_cpu.
  const double to_pe = 5 + 0.01 * ((5.5 * column - 7.5) + (5.5 * row - 2.0) + 1.4);
  const double stamp = to_io_cpu + to_m_cpu + to_pe;
  EXPECT_NEAR(stamp, 85.6, 0.001);

  auto platform = platform_from_file(topology_path("default.yaml"));
  const RunReport r = run(*platform, "launch_test_noop", LaunchMode::automatic);
  EXPECT_EQ(r.launch, "host");
  EXPECT_EQ(r.launch_note, "");
  ASSERT_EQ(r.pes.size(), 256u);
  for (const auto& pe : r.pes) {
    EXPECT_EQ(pe.start_ns, r.start_ns) << pe.id;
    EXPECT_EQ(pe.end_ns, r.start_ns) << pe.id << ": a kernel without commands takes no time";
  }
  EXPECT_NEAR(r.start_ns, stamp, 1e-5);
  EXPECT_NEAR(r.end_ns, 2 * stamp, 2e-5);
}

TEST(HostLaunch, takes_the_shortest_way_and_each_nodes_overhead_but_the_last) {
  auto platform = platform_from_text(toy_system());
  const RunReport r = run(*platform, "launch_test_noop", LaunchMode::host);
  EXPECT_NEAR(r.start_ns, 39.7, 1e-9);
  EXPECT_NEAR(r.start_ns, toy::kFar, 1e-9);
  EXPECT_NEAR(r.end_ns, 2 * toy::kFar, 1e-9);
}

TEST(HostLaunch, ends_when_the_host_has_the_last_completion_and_not_with_the_farthest_pe) {
  auto platform = platform_from_text(toy_system());
  const RunReport r = run(*platform, "launch_test_rank0_loads", LaunchMode::host);
  ASSERT_EQ(r.pes.size(), 2u);
  // 64 KiB of the hbm at 128 GB/s, a command (2 + 1) before it.
  EXPECT_NEAR(r.pes[0].end_ns, toy::kFar + 2 + 1 + 65536 / 128.0, 1e-6);
  EXPECT_NEAR(r.pes[1].end_ns, toy::kFar, 1e-9);
  EXPECT_NEAR(r.end_ns, r.pes[0].end_ns + toy::kNear, 1e-6);
  for (const EngineReport& e : r.engines) {
    if (e.id != "sip0.cube0.pe0.pe_dma.rd") continue;
    EXPECT_NEAR(e.busy_ns, 512, 1e-6);
    EXPECT_NEAR(e.utilization, 512 / r.end_ns, 1e-9) << "of the whole time, launch and completion included";
  }
}

TEST(HostLaunch, moves_every_pe_by_the_stamp_and_changes_nothing_else) {
  const auto times = [](LaunchMode mode) {
    auto platform = platform_from_file(topology_path("small.yaml"));
    const RunReport r = run(*platform, "gemm", mode);
    std::string text = r.launch + "\n";
    for (const auto& pe : r.pes) {
      EXPECT_EQ(pe.start_ns, r.start_ns);
      text += pe.id + " " + std::to_string(pe.end_ns - r.start_ns) + "\n";
    }
    return text;
  };
  const std::string host = in_child([&] { return times(LaunchMode::host); });
  const std::string direct = in_child([&] { return times(LaunchMode::direct); });
  EXPECT_EQ(host.substr(0, 5), "host\n");
  EXPECT_EQ(direct.substr(0, 7), "direct\n");
  EXPECT_EQ(host.substr(5), direct.substr(7));
}

TEST(HostLaunch, on_one_device_reaches_only_its_pes_and_waits_for_its_farthest) {
  auto platform = platform_from_file(topology_path("default.yaml"));
  const RunReport r = run(*platform, "launch_test_noop", LaunchMode::automatic, "sip:1");
  ASSERT_EQ(r.pes.size(), 128u);
  for (const auto& pe : r.pes) {
    EXPECT_EQ(pe.id.substr(0, 5), "sip1.");
    EXPECT_EQ(pe.start_ns, r.start_ns);
  }
  EXPECT_NEAR(r.start_ns, 85.599833, 1e-5);
  EXPECT_NEAR(r.end_ns, 2 * r.start_ns, 1e-9);
}

TEST(Device, refuses_pes_of_another_sip) {
  auto platform = platform_from_file(topology_path("default.yaml"));
  RunOptions o;
  o.kernel = "launch_test_noop";
  o.device = "sip:1";
  o.pes = "sip1.cube0.pe0,sip0.cube3.pe1";
  try {
    choose_launch_way(*platform, o);
    FAIL() << "no error";
  } catch (const InputError& e) {
    EXPECT_STREQ(e.what(), "--pes: sip0.cube3.pe1 is not on the device of --device sip:1");
  }
}

TEST(HostLaunch, of_one_pe_starts_when_it_is_reached_itself) {
  auto platform = platform_from_text(toy_system());
  RunOptions o;
  o.kernel = "launch_test_noop";
  o.pes = "sip0.cube0.pe0";
  const RunReport r = run_kernel(*platform, std::move(o));
  EXPECT_NEAR(r.start_ns, toy::kNear, 1e-9);
  EXPECT_NEAR(r.end_ns, 2 * toy::kNear, 1e-9);
}

TEST(DirectLaunch, starts_at_zero_and_ends_with_the_last_pe) {
  auto platform = platform_from_text(toy_system());
  const RunReport r = run(*platform, "launch_test_rank0_loads", LaunchMode::direct);
  EXPECT_EQ(r.start_ns, 0);
  EXPECT_EQ(r.pes[0].start_ns, 0);
  EXPECT_EQ(r.pes[1].end_ns, 0);
  EXPECT_NEAR(r.end_ns, 2 + 1 + 65536 / 128.0, 1e-6);
  EXPECT_EQ(r.end_ns, r.pes[0].end_ns);
}

class MissingPart : public ::testing::TestWithParam<const char*> {};

TEST_P(MissingPart, makes_direct_the_default_and_is_named_where_host_is_asked_for) {
  const std::string id = GetParam(), name = id.substr(id.rfind('.') + 1);
  auto platform = platform_from_text(toy_system(id));
  RunOptions o;
  o.kernel = "launch_test_noop";
  const LaunchWay way = choose_launch_way(*platform, o);
  EXPECT_EQ(way.mode, LaunchMode::direct);
  EXPECT_NE(way.note.find("no " + name), std::string::npos) << way.note;
  o.launch = LaunchMode::host;
  try {
    choose_launch_way(*platform, o);
    FAIL() << "no error";
  } catch (const InputError& e) {
    EXPECT_NE(std::string(e.what()).find("--launch host: sip0.cube0.pe0: no " + name), std::string::npos) << e.what();
  }
}

INSTANTIATE_TEST_SUITE_P(All, MissingPart, ::testing::Values("sip0.io0.pcie_ep", "sip0.io0.io_cpu", "sip0.cube0.m_cpu"),
                         [](const auto& parameter) {
                           const std::string id = parameter.param;
                           return id.substr(id.rfind('.') + 1);
                         });

TEST(HostLaunch, without_a_way_to_a_pe_names_both_ends) {
  std::string yaml = toy_system();
  const std::string command = "- {from: sip0.cube0.m_cpu, to: sip0.cube0.pe1.pe_cpu";
  yaml.replace(yaml.find(command), command.size(),
               "- {bidirectional: false, from: sip0.cube0.pe1.pe_cpu, to: sip0.cube0.m_cpu");
  auto platform = platform_from_text(yaml);
  RunOptions o;
  o.kernel = "launch_test_noop";
  o.launch = LaunchMode::host;
  try {
    choose_launch_way(*platform, o);
    FAIL() << "no error";
  } catch (const InputError& e) {
    EXPECT_NE(std::string(e.what()).find("sip0.cube0.m_cpu"), std::string::npos) << e.what();
    EXPECT_NE(std::string(e.what()).find("sip0.cube0.pe1.pe_cpu"), std::string::npos) << e.what();
  }
}

TEST(KernelFault, comes_back_to_the_report) {
  auto platform = platform_from_text(toy_system());
  try {
    run(*platform, "launch_test_rank1_faults", LaunchMode::host);
    FAIL() << "no error";
  } catch (const RunError& e) {
    EXPECT_STREQ(e.what(), "sip0.cube0.pe1: made to fail");
  }
}

TEST(CommandEdges, carry_no_memory_traffic) {
  for (const char* file : {"one_cube.yaml", "small.yaml", "latency_model.yaml"}) {
    const topology::Graph graph = topology::compile_file(topology_path(file), component_catalog());
    topology::PathRouter all(graph), no_command(graph, topology::EdgeSet::no_command);
    size_t routes = 0;
    for (uint32_t n = 0; n < graph.nodes.size(); ++n) {
      const std::string& kind = graph.nodes[n].kind;
      if (kind != "pe_dma" && kind != "m_cpu" && kind != "pcie_ep") continue;
      for (const topology::Memory& m : graph.memories) {
        EXPECT_EQ(all.find_path(n, m.node), no_command.find_path(n, m.node)) << file << ": " << graph.nodes[n].id;
        ++routes;
      }
    }
    EXPECT_GT(routes, 0u) << file;
  }
}

}  // namespace
}  // namespace kernbench::testing::launch_starts_all_kernels_at_one_stamp
