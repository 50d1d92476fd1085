// SPDX-License-Identifier: Apache-2.0
// Do Accellera's example models work as a foreign node, and in place of an HBM, with only the settings that docs/tlm.md
// names? The sources are those of SystemC's distribution (SYSTEMC_EXAMPLES: its folder `examples`).
#include <gtest/gtest.h>

#include <memory>
#include <string>

#include "kernbench/platform/job.h"
#include "kernbench/platform/topology/build/compiler.h"
#include "kernbench/systemc_models/core/registry.h"
#include "kernbench/systemc_models/memory/tlm_memory.h"
#include "system_support.h"

#ifdef KERNBENCH_SYSTEMC_EXAMPLES
#include "at_target_1_phase.h"
#include "at_target_2_phase.h"
#include "at_target_4_phase.h"
#include "at_target_ooo_2_phase.h"
#include "models/SimpleBusAT.h"
#include "models/SimpleBusLT.h"
#define REPORT_DEFINE_GLOBALS  // as their programs do
#include "reporting.h"
#endif

namespace kernbench::testing {
namespace {

#ifdef KERNBENCH_SYSTEMC_EXAMPLES
/// One PE, a router and an HBM slice.
std::string machine(const std::string& links, const std::string& hbm, const std::string& tail) {
  return "timing: {links: " + links + ", response: routed, header_bytes: 16}\nmaterialize: stores\n" +
         R"(nodes:
- {id: r0, kind: router, attrs: {overhead_ns: 1}}
- {id: hbm, kind: hbm_ctrl, )" +
         hbm + R"(}
- {id: pe0.pe_cpu, kind: pe_cpu, attrs: {overhead_ns: 2}}
- {id: pe0.pe_scheduler, kind: pe_scheduler, attrs: {overhead_ns: 1}}
- {id: pe0.pe_dma, kind: pe_dma, attrs: {queue_depth: 2}}
- {id: pe0.pe_fetch_store, kind: pe_fetch_store}
- {id: pe0.pe_gemm, kind: pe_gemm, attrs: {macs_per_cycle: 4096, freq_ghz: 1, rates: {f32: 0.5}}}
- {id: pe0.pe_math, kind: pe_math, attrs: {lanes: 128, freq_ghz: 1, cycles: {exp: 4}}}
- {id: pe0.pe_tcm, kind: pe_tcm, attrs: {size_mb: 16, reserved_mb: 1, read_bw_gbs: 512, write_bw_gbs: 512}}
links:
- {from: pe0.pe_dma, to: r0, distance_mm: 0.5, bw_gbs: 256}
- {from: r0, to: hbm, distance_mm: 1, bw_gbs: 256}
memories:
- {node: hbm, space: hbm, base: 0, size: 16777216}
)" + tail;
}

std::string outcome(Platform& platform, const std::string& kernel) {
  try {
    JobOptions o;
    o.kernel = kernel;
    if (kernel == "gemm") o.params = {{"m", "40"}, {"n", "24"}, {"k", "48"}};
    if (kernel == "vector_add") o.params = {{"n", "3000"}};
    o.verify = true;
    Job job(platform, o);
    for (const TensorSpec& t : job.kernel().tensors) {
      if (t.is_input()) job.place_random(t.name, 7);
    }
    const LaunchResult& r = job.run();
    if (!r.response.ok()) return r.response.text;
    return job.verify().passed ? "right" : "wrong";
  } catch (const std::exception& e) {
    return e.what();
  }
}

template <class Bus>
std::string at_a_node(const std::string& links, const std::string& attrs, const std::string& kernel) {
  return in_child([&] {
    const std::string tail = "foreign:\n- {id: bus, between: [r0, hbm]" + attrs + "}\n";
    Platform platform(
        "system", topology::compile_text(machine(links, "attrs: {overhead_ns: 10}", tail), "m", component_catalog()));
    Bus bus("bus");
    platform.foreign("bus").bind(bus.target_socket[0], "r0");
    platform.foreign("bus").bind(bus.initiator_socket[0], "hbm");
    return outcome(platform, kernel);
  });
}

template <class Target>
std::string as_hbm(const std::string& links, const std::string& end_resp, const std::string& kernel) {
  return in_child([&] {
    sc_core::sc_report_handler::set_actions(sc_core::SC_INFO, sc_core::SC_DO_NOTHING);
    Platform platform("system",
                      topology::compile_text(machine(links,
                                                     "impl: builtin.hbm_tlm, attrs: {max_bytes: 64, storage: image, "
                                                     "end_resp: " +
                                                         end_resp + "}",
                                                     ""),
                                             "m", component_catalog()));
    const sc_core::sc_time ns(1, sc_core::SC_NS);
    Target target("target", 201, "memory_socket", (16 << 20) + 64, 4, 2 * ns, 20 * ns, 10 * ns);
    platform.tlm_memory("hbm").socket().bind(target.m_memory_socket);
    return outcome(platform, kernel);
  });
}
#endif

class PublicModels : public ::testing::TestWithParam<const char*> {
 protected:
  void SetUp() override {
#ifndef KERNBENCH_SYSTEMC_EXAMPLES
    GTEST_SKIP() << "SYSTEMC_EXAMPLES names no folder with SystemC's examples";
#endif
  }
};

TEST_P(PublicModels, simple_buses_stand_at_a_foreign_node) {
#ifdef KERNBENCH_SYSTEMC_EXAMPLES
  using At = SimpleBusAT<1, 1>;
  using Lt = SimpleBusLT<1, 1>;
  for (const char* kernel : {"vector_add", "gemm"}) {
    for (const char* end : {"completed", "phase"})
      EXPECT_EQ(at_a_node<At>(GetParam(), std::string(", attrs: {end_resp: ") + end + "}", kernel), "right")
          << end << " " << kernel;
    EXPECT_EQ(at_a_node<Lt>(GetParam(), "", kernel), "right") << kernel;
    EXPECT_EQ(at_a_node<Lt>(GetParam(), ", attrs: {clock_ghz: 0.5}", kernel), "right") << kernel;
  }
#endif
}

TEST_P(PublicModels, targets_stand_for_an_hbm) {
#ifdef KERNBENCH_SYSTEMC_EXAMPLES
  for (const char* kernel : {"vector_add", "gemm"}) {
    for (const char* end : {"updated", "completed", "phase"}) {
      EXPECT_EQ(as_hbm<at_target_1_phase>(GetParam(), end, kernel), "right") << "1 phase, " << end << " " << kernel;
      EXPECT_EQ(as_hbm<at_target_2_phase>(GetParam(), end, kernel), "right") << "2 phases, " << end << " " << kernel;
      EXPECT_EQ(as_hbm<at_target_4_phase>(GetParam(), end, kernel), "right") << "4 phases, " << end << " " << kernel;
      EXPECT_EQ(as_hbm<at_target_ooo_2_phase>(GetParam(), end, kernel), "right") << "ooo, " << end << " " << kernel;
    }
  }
#endif
}

INSTANTIATE_TEST_SUITE_P(of, PublicModels, ::testing::Values("ideal", "cut_through", "flit"),
                         [](const auto& p) { return std::string(p.param); });

}  // namespace
}  // namespace kernbench::testing
